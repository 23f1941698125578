"""The engines, one a file: a new one is a new file and one name here. One whose package is not installed is named as not run."""

PEERS = ("own", "own_approximate", "scipy_product", "vsag", "seismic", "bmp", "qdrant", "lucene")
