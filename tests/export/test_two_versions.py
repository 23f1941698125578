"""One exported folder, loaded by sentence-transformers 5.0 and by the version here, gives identical numbers.

Version 5.0 wants an interpreter of its own, since it does not go together with transformers 5:

    python3 -m venv st50
    st50/bin/python -m pip install torch==2.13.0 numpy transformers==4.57.6 sentence-transformers==5.0.0
    RETROLEX_ST50=st50/bin/python pytest tests/export/test_two_versions.py
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export import st_vectors

from retrolex.export.sentence_transformers import export_sentence_transformers
from retrolex.export.source import Source

OTHER = os.environ.get("RETROLEX_ST50", "")


TITLE = "[TITLE]"


@pytest.fixture
def odd(source: Source, tmp_path: Path) -> Source:
    """A model with prefixes, and with a special token beyond the usual ones: where two versions differ most easily."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(source.model), AutoModelForMaskedLM.from_pretrained(source.model)
    tokenizer.add_special_tokens({"additional_special_tokens": [TITLE]})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    for part in (tokenizer, model):
        part.save_pretrained(tmp_path / "odd")
    return Source(tmp_path / "odd", replace(source.spec, query_prefix="query: ", document_prefix="text: "))


@pytest.fixture
def folder(odd: Source, tmp_path: Path) -> Path:
    """The export."""
    place = tmp_path / "model"
    place.mkdir()
    export_sentence_transformers(odd, place)
    return place


def stated(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_the_files_and_keys_that_version_5_0_needs(folder: Path, odd: Source) -> None:
    """Learnt from loading the folder there: each of these is something that it fails without, or reads in another way."""
    dense = odd.spec.representation == "dense"
    parts = {"1_Pooling"} if dense else {"1_SpladePooling"}
    settings = {"config.json", "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"}
    assert {path.name for path in folder.iterdir()} >= parts | settings | {"model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    here = "sentence_transformers.models" if dense else "sentence_transformers.sparse_encoder.models"
    names = (
        {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
        if dense
        else {"": "MLMTransformer", "1_SpladePooling": "SpladePooling"}
    )
    wanted = [{"idx": at, "name": str(at), "path": path, "type": f"{here}.{name}"} for at, (path, name) in enumerate(names.items())]
    assert stated(folder, "modules.json") == wanted  # version 6 would write class paths that 5.0 does not have
    assert stated(folder, "config.json")["architectures"] == ["BertModel" if dense else "BertForMaskedLM"]
    assert stated(folder, "sentence_bert_config.json") == {"max_seq_length": 48, "do_lower_case": False}
    assert (
        stated(folder, "config_sentence_transformers.json").items()
        >= {
            "model_type": "SentenceTransformer" if dense else "SparseEncoder",
            "prompts": {"query": "query: ", "document": "text: "},
            "default_prompt_name": None,
            "similarity_fn_name": "cosine" if dense else "dot",
        }.items()
    )
    pooling = stated(folder, f"{parts.pop()}/config.json")
    if dense:
        modes = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
        assert {name for name in modes if pooling[f"pooling_mode_{name}"]} == {"mean_tokens"}
        assert (pooling["word_embedding_dimension"], pooling["include_prompt"]) == (32, True)
    else:
        assert (pooling["pooling_strategy"], pooling["activation_function"]) == ("max", "relu")
    tokenizer = stated(folder, "tokenizer_config.json")
    assert tokenizer["tokenizer_class"] == "PreTrainedTokenizerFast"  # transformers 5 would write TokenizersBackend
    assert tokenizer["additional_special_tokens"] == [TITLE] and "extra_special_tokens" not in tokenizer  # and a list that 4.57 wants as a mapping


@pytest.mark.skipif(not OTHER, reason="needs RETROLEX_ST50=PYTHON, an interpreter with sentence-transformers 5.0 (the file says how)")
@pytest.mark.slow
def test_identical_numbers(folder: Path, texts: list[str], tmp_path: Path) -> None:
    file, output, texts = tmp_path / "texts.json", tmp_path / "vectors.npz", [*texts, f"The wing {TITLE} of an aircraft"]
    file.write_text(json.dumps(texts), encoding="utf-8")
    subprocess.run([OTHER, str(Path(st_vectors.__file__)), str(folder), str(file), str(output)], check=True, env={**os.environ, "PYTHONPATH": ""})
    with np.load(output) as found:
        assert str(found["version"]).startswith("5.0.")
        for name, wanted in st_vectors.encode(str(folder), texts).items():
            np.testing.assert_allclose(found[name], wanted, rtol=0, atol=1e-6, err_msg=name)
