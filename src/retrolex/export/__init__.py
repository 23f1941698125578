"""Handing over: a model or an index in the form that another library or engine reads; one target a line."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from retrolex.artifacts import Stage, read_manifest, sha256
from retrolex.errors import UserError

TARGETS = {  # name -> where the function is that writes it, imported when it is wanted
    "sentence-transformers": "retrolex.export.sentence_transformers:export_sentence_transformers",
    "huggingface": "retrolex.export.huggingface:export_huggingface",
    "onnx": "retrolex.export.onnx:export_onnx",
    "openvino": "retrolex.export.onnx:export_openvino",
    "anserini": "retrolex.export.json_vectors:export_anserini",
    "seismic": "retrolex.export.json_vectors:export_seismic",
    "ciff": "retrolex.export.ciff:export_ciff",
    "pisa": "retrolex.export.ciff:export_pisa",
    "opensearch": "retrolex.export.engines.opensearch:export",
    "elasticsearch": "retrolex.export.engines.elasticsearch:export",
    "vespa": "retrolex.export.engines.vespa:export",
    "milvus": "retrolex.export.engines.milvus:export",
    "qdrant": "retrolex.export.engines.qdrant:export",
    "pgvector": "retrolex.export.engines.pgvector:export",
}
MODELS = ("sentence-transformers", "huggingface", "onnx", "openvino")  # targets that take the model; the others take a run's documents and vectors
BITS = ("anserini", "seismic", "ciff", "pisa")  # targets whose weights can be made smaller
STAGE = "export"


def export(target: str, folder: Path, output: Path, system: str | None = None, bits: int | None = None) -> dict[str, Any]:
    """Write a model or an index for another library or engine. The output folder appears whole or not at all.

    Args:
        target: one of `TARGETS`.
        folder: a model folder, or one that `retrolex run` wrote.
        output: where to write; an earlier export there is replaced.
        system: which retriever of a run.
        bits: of a term's weight at most; for targets of `BITS`.

    Returns:
        Counts, as the manifest has them.

    Raises:
        UserError: no such target or model, a package that the target needs is missing, or the output folder is not an export.
    """
    if target not in TARGETS:
        raise UserError(f"nothing to export to is called {target!r}", mend=f"choose one of: {', '.join(TARGETS)}")
    if bits is not None and target not in BITS:
        raise UserError(f"weights for {target} have no choice of bits", mend=f"leave --bits out, or choose one of: {', '.join(BITS)}")
    if output.exists() and (read_manifest(output) or {}).get("stage") != STAGE:
        raise UserError("there is something else here already", where=output, mend="choose a new folder with --output")
    from retrolex.export.source import open_source

    source = open_source(folder, system)
    config = {"target": target, "model": sha256(source.model / "model.safetensors"), "system": source.spec.representation}
    inputs = {"index": source.index} if source.index and target not in MODELS else {}
    options = {} if bits is None else {"bits": bits}
    stage = Stage(STAGE, output, inputs, config | options)
    stage.run(lambda partial: writer(target)(source, partial, **options))
    return (read_manifest(output) or {})["counts"]


def writer(target: str) -> Callable[..., dict[str, Any]]:
    """The function that writes a target."""
    module, name = TARGETS[target].split(":")
    return getattr(import_module(module), name)
