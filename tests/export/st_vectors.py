"""Encodes texts with whatever sentence-transformers the interpreter has, for a comparison between versions.

    python st_vectors.py FOLDER TEXTS.json VECTORS.npz

It imports nothing of retrolex: that interpreter need not have it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import sentence_transformers


def encode(folder: str, texts: list[str]) -> dict[str, np.ndarray]:
    """Vectors of the texts as queries and as documents, and their similarities."""
    sparse = "SpladePooling" in Path(folder, "modules.json").read_text(encoding="utf-8")
    model = (sentence_transformers.SparseEncoder if sparse else sentence_transformers.SentenceTransformer)(folder, device="cpu")
    found = {"queries": model.encode_query(texts), "documents": model.encode_document(texts)}
    found["similarities"] = model.similarity(found["queries"], found["documents"])
    return {name: np.asarray(value.to_dense() if sparse and value.is_sparse else value, np.float32) for name, value in found.items()}


if __name__ == "__main__":
    model_folder, texts_file, output = sys.argv[1:]
    np.savez(output, version=sentence_transformers.__version__, **encode(model_folder, json.loads(Path(texts_file).read_text(encoding="utf-8"))))
