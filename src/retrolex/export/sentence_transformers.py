"""A folder that sentence-transformers 5 and 6 load alike.

Its ``modules.json`` states the class paths of version 5.0, which version 6 still understands; folders that version 6 saves
itself do not load in 5.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from retrolex.artifacts import versions, write_json
from retrolex.backbones import Spec
from retrolex.export.card import model_card
from retrolex.export.model_files import write_encoder, write_masked_lm
from retrolex.export.source import Source

DENSE, SPARSE = "sentence_transformers.models", "sentence_transformers.sparse_encoder.models"
POOLINGS = {"cls": "cls_token", "mean": "mean_tokens"}
OTHERS = ("max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
USAGE = """
from sentence_transformers import {name}

model = {name}("FOLDER")
queries, documents = model.encode_query(["a question"]), model.encode_document(["a text"])
print(model.similarity(queries, documents))
"""


def export_sentence_transformers(source: Source, folder: Path) -> dict[str, Any]:
    """Write a ``SentenceTransformer`` folder (dense) or a ``SparseEncoder`` one (lexicon); returns counts for the manifest."""
    spec = source.spec
    lexicon = spec.representation == "lexicon"
    width = write_masked_lm(source, folder) if lexicon else write_encoder(source, folder)
    modules = sparse_modules(folder, width) if lexicon else dense_modules(folder, spec, width)
    described = [{"idx": i, "name": str(i), "path": path, "type": type_} for i, (path, type_) in enumerate(modules)]
    write_json(folder / "modules.json", described)
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": spec.document_length, "do_lower_case": False})
    name = "SparseEncoder" if lexicon else "SentenceTransformer"
    write_json(
        folder / "config_sentence_transformers.json",
        {
            "model_type": name,
            "__version__": {"sentence_transformers": "5.0.0", **versions(("transformers", "torch"))},
            "prompts": {"query": spec.query_prefix, "document": spec.document_prefix},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine" if spec.normalize and not lexicon else "dot",
        },
    )
    (folder / "README.md").write_text(model_card(source, USAGE.format(name=name)), encoding="utf-8")
    return {"width": width, "class": name}


def dense_modules(folder: Path, spec: Spec, width: int) -> list[tuple[str, str]]:
    """Transformer, pooling, and the normalisation where there is one."""
    modes = {f"pooling_mode_{name}": name == POOLINGS[spec.pooling] for name in (*POOLINGS.values(), *OTHERS)}
    (folder / "1_Pooling").mkdir(exist_ok=True)
    write_json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": width, **modes, "include_prompt": True})
    modules = [("", f"{DENSE}.Transformer"), ("1_Pooling", f"{DENSE}.Pooling")]
    if spec.normalize:
        modules.append(("2_Normalize", f"{DENSE}.Normalize"))
    return modules


def sparse_modules(folder: Path, vocabulary: int) -> list[tuple[str, str]]:
    """Masked LM and max pooling. It pools over [CLS] and [SEP] too, which retrolex leaves out: see `retrolex export --help`."""
    (folder / "1_SpladePooling").mkdir(exist_ok=True)
    config = {"pooling_strategy": "max", "activation_function": "relu", "word_embedding_dimension": vocabulary}
    write_json(folder / "1_SpladePooling" / "config.json", config)
    return [("", f"{SPARSE}.MLMTransformer"), ("1_SpladePooling", f"{SPARSE}.SpladePooling")]
