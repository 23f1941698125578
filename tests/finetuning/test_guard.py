"""The way back: averaged weights, ranks against a loop, and the rules on curves where the right answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from transformers import BertModel

from retrolex.backbones import Spec, load_backbone, save_backbone, write_spec
from retrolex.errors import UserError
from retrolex.finetuning.guard import ALPHAS, Candidate, choose, decide, hard_pool, known_item
from retrolex.finetuning.interpolate import interpolate
from retrolex.finetuning.pairs import Pair, originals
from retrolex.index.bm25 import BM25Index


@pytest.fixture
def adapted(tiny_model_folder: Path, tmp_path: Path) -> Path:
    backbone, tokenizer = load_backbone(tiny_model_folder)
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in backbone.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    save_backbone(backbone, tokenizer, tmp_path / "adapted")
    write_spec(tmp_path / "adapted", Spec("lexicon", "cls", False, 32, 16))
    return tmp_path / "adapted"


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_backbone(folder)[0].model.state_dict()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_weights_are_averaged(tiny_model_folder: Path, adapted: Path, tmp_path: Path, alpha: float) -> None:
    interpolate(tiny_model_folder, adapted, alpha, tmp_path / "between")
    old, new, between = weights(tiny_model_folder), weights(adapted), weights(tmp_path / "between")
    for name in new:
        torch.testing.assert_close(between[name], (1 - alpha) * old[name] + alpha * new[name], atol=1e-6, rtol=1e-5)
        if alpha in (0, 1):
            assert torch.equal(between[name], (old, new)[int(alpha)][name])
    assert (tmp_path / "between/retrolex.json").read_bytes() == (adapted / "retrolex.json").read_bytes()


def test_a_head_that_the_start_lacks_is_the_adapted_ones(tiny_model_folder: Path, adapted: Path, tmp_path: Path) -> None:
    BertModel.from_pretrained(tiny_model_folder).save_pretrained(tmp_path / "headless")
    load_backbone(tiny_model_folder)[1].save_pretrained(tmp_path / "headless")
    interpolate(tmp_path / "headless", adapted, 0.5, tmp_path / "between")
    old, new, between = weights(tiny_model_folder), weights(adapted), weights(tmp_path / "between")
    head, body = "cls.predictions.transform.dense.weight", "bert.encoder.layer.0.attention.self.query.weight"
    assert torch.equal(between[head], new[head]) and torch.equal(between["cls.predictions.bias"], new["cls.predictions.bias"])
    torch.testing.assert_close(between[body], (old[body] + new[body]) / 2)


def test_other_architectures_are_refused(tiny_model_folder: Path, tmp_path: Path) -> None:
    backbone, tokenizer = load_backbone(tiny_model_folder)
    backbone.model.resize_token_embeddings(backbone.vocabulary_size + 8)
    save_backbone(backbone, tokenizer, tmp_path / "wider")
    with pytest.raises(UserError, match="do not match"):
        interpolate(tiny_model_folder, tmp_path / "wider", 0.5, tmp_path / "between")


def pair(query: str, document: str, text: str, kind: str = "cloze") -> Pair:
    return Pair(query, text, document, document, kind)


HELD_OUT = [pair("a", "d0", "a b"), pair("b", "d1", "b b c"), pair("c", "d2", "x"), pair("a", "d3", "a")]
POOL = [Candidate("d4", "a a a"), Candidate("d1", "c c c"), Candidate("d5", "c x")]


def letters(texts: list[str], kind: str) -> np.ndarray:
    return np.array([[text.count(letter) for letter in "abcx"] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_known_item_ranks_against_a_loop(form) -> None:
    found = known_item(lambda texts, kind: form(letters(texts, kind)), HELD_OUT, POOL)
    known = {"a": {"d0", "d3"}, "b": {"d1"}, "c": {"d2"}}
    documents = [(one.original, one.positive) for one in HELD_OUT] + list(POOL)
    for i, one in enumerate(HELD_OUT):
        own = one.positive.count(one.query)
        rank = 1 + sum(text.count(one.query) >= own for original, text in documents if original not in known[one.query])
        assert found[:, i].tolist() == pytest.approx([1 / np.log2(1 + rank), 1 / rank])


def test_a_model_that_tells_nothing_apart_finds_nothing() -> None:
    crowd = [Candidate(f"x{i}", "text") for i in range(20)]
    for value in (1.0, np.nan):
        assert (known_item(lambda texts, kind, value=value: np.full((len(texts), 2), value, np.float32), HELD_OUT, crowd) == 0).all()


def curve(means: list[float], pairs: int = 400, spread: float = 0.2, labelled: bool = False):
    rng = np.random.default_rng(0)
    noise = rng.normal(0, spread, pairs)  # shared by all models, as hard and easy queries are
    values = np.stack([np.clip(mean + noise + rng.normal(0, 0.05, pairs), 0, 1) for mean in means])
    return decide(np.stack([values, values], axis=1), labelled, pool=1000)


def test_a_plain_start_moves_all_the_way() -> None:
    assert curve([0.05, 0.1, 0.2, 0.4, 0.6], spread=0.02).alpha == 1.0


def test_a_working_start_moves_a_quarter_of_the_way_at_most() -> None:
    assert curve([0.5, 0.55, 0.6, 0.63, 0.66]).alpha == 0.25
    assert curve([0.5, 0.55, 0.6, 0.63, 0.66], labelled=True).alpha == 1.0


def test_differences_that_mean_nothing_stay_with_the_start() -> None:
    choice = curve([0.6, 0.601, 0.6, 0.602, 0.6])
    assert choice.alpha == 0.0 and len(choice.curve) == len(ALPHAS)
    assert curve([0.6, 0.6, 0.5, 0.4, 0.3]).alpha == 0.0
    assert curve([0.4, 0.6, 0.9, 0.9, 0.9], pairs=1).alpha == 0.0


def test_the_nearest_of_equals_wins() -> None:
    assert curve([0.1, 0.5, 0.5, 0.5, 0.5], spread=0.02).alpha == 0.25


def test_the_winner_is_written(tiny_model_folder: Path, adapted: Path, tmp_path: Path) -> None:
    def encoder(folder: Path):
        """The adapted weights count for more the nearer a model is to them: a stand-in for an encoder."""
        moved = (weights(folder)["cls.predictions.bias"] - weights(tiny_model_folder)["cls.predictions.bias"]).abs().mean()
        full = (weights(adapted)["cls.predictions.bias"] - weights(tiny_model_folder)["cls.predictions.bias"]).abs().mean()
        share = float(moved / full)
        return lambda texts, kind: np.concatenate([letters(texts, kind) * share, np.ones((len(texts), 1), np.float32) * (1 - share) * 10], axis=1)

    held_out = [pair("abcx"[i % 4], f"d{i}", "abcx"[i % 4] * 9) for i in range(4)]
    (tmp_path / "chosen").mkdir()
    pool = [Candidate(f"x{i}", "text") for i in range(20)]
    choice = choose(tiny_model_folder, adapted, held_out, pool, encoder, tmp_path / "chosen")
    assert json.loads((tmp_path / "chosen/guard.json").read_text())["alpha"] == choice.alpha
    assert not (tmp_path / "chosen/candidates").exists()
    interpolate(tiny_model_folder, adapted, choice.alpha, tmp_path / "again")
    assert (tmp_path / "chosen/model.safetensors").read_bytes() == (tmp_path / "again/model.safetensors").read_bytes()
    with pytest.raises(UserError, match="no held-out pairs"):
        choose(tiny_model_folder, adapted, [], pool, encoder, tmp_path / "chosen")


def test_the_pool_is_what_bm25_confuses(collection, tmp_path: Path) -> None:
    index = BM25Index.build(tmp_path / "bm25", collection.ids, (document.full for document in collection))
    held_out = [pair("carbon dioxide heat", "d-climate", "..."), pair("snow and wing", "d-river", "...")]
    texts = {document.id: document.full for document in collection}
    pool = hard_pool(held_out, index.search, 3, collection.ids, originals(collection), texts.__getitem__)
    assert pool[0].original == "d-bread" and len(pool) == 2 and "d-copy" not in {candidate.original for candidate in pool}
    assert not {"d-climate", "d-river"} & {candidate.original for candidate in pool}
