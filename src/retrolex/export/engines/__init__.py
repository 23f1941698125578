"""Search engines and databases, one file each: documents in their bulk form, queries in their words, loading and searching one that runs."""
