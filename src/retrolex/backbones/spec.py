"""What a model folder says about how its vectors are made: ``retrolex.json``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Literal

from retrolex.artifacts import write_json
from retrolex.errors import UserError

FILE = "retrolex.json"


@dataclass(frozen=True)
class Spec:
    """How text becomes a vector.

    Attributes:
        representation: ``dense`` (one vector), ``lexicon`` (weighted vocabulary terms) or ``dupmae`` (both, summed).
        pooling: which hidden state is the dense vector: that of ``cls``, or the ``mean`` over all tokens.
        normalize: whether dense vectors have length 1.
        document_length, query_length: longest input in tokens, specials included; what is longer is cut.
        document_prefix, query_prefix: text put in front, for models that were trained with one.
        separator: what stands between a document's title and its text: a space, or special tokens by name (see `joining`).
        objective: what the model was last trained with, for the reader.
    """

    representation: Literal["dense", "lexicon", "dupmae"] = "dense"
    pooling: Literal["cls", "mean"] = "cls"
    normalize: bool = False
    document_length: int = 256
    query_length: int = 64
    document_prefix: str = ""
    query_prefix: str = ""
    separator: str = " "
    objective: str = "none"


def write_spec(folder: Path, spec: Spec) -> None:
    """Write ``retrolex.json`` into a model folder."""
    write_json(folder / FILE, asdict(spec))


def read_spec(folder: Path) -> Spec:
    """The folder's own ``retrolex.json``; else what a sentence-transformers folder states; else the defaults.

    Lengths never exceed what the model has positions for.

    Raises:
        UserError: the file is not JSON, or names a field that this version does not know.
    """
    spec = own_spec(folder) if (folder / FILE).exists() else from_sentence_transformers(folder)
    longest = positions(folder)
    return replace(spec, document_length=min(spec.document_length, longest), query_length=min(spec.query_length, longest))


def positions(folder: Path) -> int:
    """Longest input of a checkpoint in tokens, specials included; without a ``config.json`` here, no bound."""
    path = folder / "config.json"
    if not path.exists():
        return sys.maxsize
    config = json.loads(path.read_text(encoding="utf-8"))
    count = config.get("max_position_embeddings", sys.maxsize)
    numbered_from_padding = config.get("model_type") in ("roberta", "xlm-roberta")
    return count - (config.get("pad_token_id", 1) + 1 if numbered_from_padding else 0)


def own_spec(folder: Path) -> Spec:
    """``retrolex.json``."""
    path = folder / FILE
    try:
        stated = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"not JSON: {error}", where=path, mend="save the model again, or delete the file to use the defaults") from None
    unknown = set(stated) - {item.name for item in fields(Spec)}
    if unknown:
        raise UserError(f"unknown fields {sorted(unknown)}", where=path, mend="use the version of retrolex that wrote this model")
    return Spec(**stated)


def from_sentence_transformers(folder: Path) -> Spec:
    """Pooling, normalisation, length and prefixes of a sentence-transformers folder; any other folder gets the defaults.

    Raises:
        UserError: the folder pools in a way that retrolex does not compute.
    """
    modules = folder / "modules.json"
    if not modules.exists():
        return Spec()
    stated = json.loads(modules.read_text(encoding="utf-8"))
    types = [module["type"].rsplit(".", 1)[-1] for module in stated]
    length = 256
    if (folder / "sentence_bert_config.json").exists():
        length = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8")).get("max_seq_length") or length
    if "SpladePooling" in types:
        return Spec(representation="lexicon", document_length=length, objective="splade", **prompts(folder))
    if "Pooling" not in types:
        return Spec(document_length=length, **prompts(folder))
    where = folder / stated[types.index("Pooling")]["path"] / "config.json"
    pooling = json.loads(where.read_text(encoding="utf-8"))
    chosen = pooling.get("pooling_mode") or [
        name.removeprefix("pooling_mode_") for name, on in pooling.items() if name.startswith("pooling_mode_") and on
    ]
    chosen = [chosen] if isinstance(chosen, str) else list(chosen)
    known = {"cls": "cls", "cls_token": "cls", "mean": "mean", "mean_tokens": "mean"}
    if len(chosen) != 1 or chosen[0] not in known:
        raise UserError(f"pooling {chosen} is not supported (expected cls or mean)", where=where, mend="start from another checkpoint")
    normalize = "Normalize" in types
    return Spec(pooling=known[chosen[0]], normalize=normalize, document_length=length, objective="sentence-transformers", **prompts(folder))


def prompts(folder: Path) -> dict[str, str]:
    """The prefixes that a sentence-transformers folder states, by the names that it knows for queries and for documents."""
    path = folder / "config_sentence_transformers.json"
    stated = (json.loads(path.read_text(encoding="utf-8")).get("prompts") if path.exists() else None) or {}
    names = {"query_prefix": ("query",), "document_prefix": ("document", "passage", "corpus")}
    return {prefix: next((stated[name] for name in spelled if stated.get(name)), "") for prefix, spelled in names.items()}
