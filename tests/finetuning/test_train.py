"""Fine-tuning: the loss against its slow twin, learning, and a killed run that ends in the same bytes."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from retrolex.backbones import Spec, load_backbone, read_spec
from retrolex.errors import UserError
from retrolex.finetuning.losses import flops, group_scores, info_nce, margin_mse
from retrolex.finetuning.negatives import Negative
from retrolex.finetuning.pairs import Pair
from retrolex.finetuning.retriever import alike
from retrolex.finetuning.train import FinetuneOptions, Retriever, finetune
from retrolex.pretraining.watch import ALIKE

TOPICS = ["wing", "vitamin", "file", "round", "climate", "table", "bread", "river"]
TEXTS = {topic: f"the {topic} is what this text is about and nothing else" for topic in TOPICS}
PAIRS = [Pair(f"about the {topic}", TEXTS[topic], topic, topic, "title") for topic in TOPICS]
NEGATIVES = [[Negative(TOPICS[(i + j) % 8], TOPICS[(i + j) % 8], "bm25", j, 1.0) for j in (1, 2)] for i in range(8)]
SPECS = {"dense": Spec("dense", "mean", True, 32, 16), "cls": Spec("dense", "cls", False, 32, 16), "lexicon": Spec("lexicon", "cls", False, 32, 16)}
OPTIONS = FinetuneOptions(steps=6, queries=4, hard=2, learning_rate=1e-3, save_every=2, token_budget=64, bf16=False)
AS_USED = replace(OPTIONS, bf16=None)  # in the precision that suits the machine


def run(folder: Path, start: Path, spec: Spec, options: FinetuneOptions = OPTIONS) -> dict[str, float]:
    backbone, tokenizer = load_backbone(start)
    return finetune(backbone, tokenizer, spec, PAIRS, NEGATIVES, TEXTS.__getitem__, folder, options)


@pytest.mark.parametrize("name", SPECS)
def test_length_sorted_parts_equal_one_padded_pass(tiny_model_folder: Path, name: str) -> None:
    from retrolex.finetuning.batches import Batches

    backbone, tokenizer = load_backbone(tiny_model_folder)
    special = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    batch = {}
    for budget in (20, 10_000):
        made = Batches(PAIRS, NEGATIVES, TEXTS.__getitem__, tokenizer, SPECS[name], queries=4, hard=2, token_budget=budget, seed=0)
        batch[budget] = made(0)
    options = FinetuneOptions(scale=3.0, flops=0.1, query_flops=0.5)
    model = Retriever(backbone, SPECS[name], special, options).eval()
    small, whole = (model([batch[budget]], torch.tensor(0.5)) for budget in (20, 10_000))
    assert len(batch[20]["documents"]["parts"]) > len(batch[10_000]["documents"]["parts"])
    for part, value in whole.items():
        torch.testing.assert_close(small[part], value, atol=1e-5, rtol=1e-4)


def test_lexicon_loss_is_the_full_computation(tiny_model_folder: Path) -> None:
    from retrolex.finetuning.batches import Batches

    backbone, tokenizer = load_backbone(tiny_model_folder)
    special = set(tokenizer.all_special_ids) - {tokenizer.mask_token_id}
    batches = Batches(PAIRS, NEGATIVES, TEXTS.__getitem__, tokenizer, SPECS["lexicon"], queries=4, hard=2, token_budget=64, seed=0)
    batch = batches(0)
    options = FinetuneOptions(scale=1.0, flops=0.1, query_flops=0.5)
    losses = Retriever(backbone, SPECS["lexicon"], special, options).eval()([batch], torch.tensor(0.25))

    def slowly(encoded: dict) -> torch.Tensor:
        rows = []
        for part in encoded["parts"]:
            for ids, mask in zip(part["input_ids"], part["attention_mask"], strict=True):
                inside = [i for i in range(len(ids)) if mask[i] and ids[i].item() not in special]
                logits = backbone.model(input_ids=ids[None], attention_mask=mask[None]).logits[0]
                rows.append(torch.log1p(torch.relu(logits[inside].max(0).values)))
        return torch.stack(rows)[encoded["rows"]]

    query, document = slowly(batch["queries"]), slowly(batch["documents"])
    expected = info_nce(query, document, excluded=batch["excluded"]) + 0.25 * (0.1 * flops(document) + 0.1 * 0.5 * flops(query))
    torch.testing.assert_close(losses["loss"], expected, atol=1e-5, rtol=1e-4)


def test_a_margin_loss_is_the_teachers_and_a_share_of_the_contrastive_one(tiny_model_folder: Path) -> None:
    model = Retriever(load_backbone(tiny_model_folder)[0], SPECS["dense"], [0], FinetuneOptions(loss="margin_mse", contrastive=0.5))
    generator = torch.Generator().manual_seed(0)
    queries, documents, teacher = (torch.randn(*size, generator=generator) for size in ((3, 5), (9, 5), (3, 3)))
    rows = {"queries": {"rows": torch.arange(3)}, "documents": {"rows": torch.arange(9)}}
    batch = {**rows, "own": torch.tensor([0, 3, 6]), "excluded": None, "teacher": teacher}
    losses = model.losses([(queries, documents)], [batch], torch.tensor(1.0))
    scores = 20.0 * group_scores(queries, documents)  # vectors of length 1 are scaled so
    expected = margin_mse(scores, teacher) + 0.5 * info_nce(queries, documents, scale=20.0)
    torch.testing.assert_close(losses["loss"], expected)


@pytest.mark.parametrize("name", ["dense", "lexicon"])
def test_it_learns(tiny_model_folder: Path, tmp_path: Path, name: str) -> None:
    options = FinetuneOptions(steps=40, queries=8, hard=1, learning_rate=3e-3, flops=1e-4, bf16=False, log_every=1)
    counts = run(tmp_path, tiny_model_folder, SPECS[name], options)
    rows = [json.loads(line) for line in (tmp_path / "logs/train.jsonl").read_text().splitlines()]
    assert rows[-1]["contrastive"] < 0.7 * rows[0]["contrastive"] and counts["steps"] == 40
    assert counts.get("document_cosine", 0.0) < ALIKE < rows[0].get("document_cosine", 1.0)
    assert read_spec(tmp_path).representation == SPECS[name].representation and read_spec(tmp_path).objective == "contrastive"
    load_backbone(tmp_path)
    assert not (tmp_path / "checkpoints").exists()
    assert "attn" not in (tmp_path / "config.json").read_text()


def test_a_dead_or_dense_lexicon_is_said(tiny_model_folder: Path, tmp_path: Path, capsys) -> None:
    options = FinetuneOptions(steps=2, queries=4, hard=1, flops=0.0, bf16=False)
    run(tmp_path, tiny_model_folder, SPECS["lexicon"], options)  # random weights: half of all logits are positive
    assert "raise flops" in capsys.readouterr().err


def test_vectors_that_end_all_alike_are_said(tiny_model_folder: Path, tmp_path: Path, capsys) -> None:
    run(tmp_path, tiny_model_folder, SPECS["dense"], FinetuneOptions(steps=2, queries=4, hard=1, learning_rate=1e-9, bf16=False))
    assert "nearly the same" in capsys.readouterr().err  # random weights make all texts alike, and so small a step leaves them so


def test_the_mean_cosine_is_a_loop_over_pairs() -> None:
    vectors = torch.randn(5, 7, generator=torch.Generator().manual_seed(0))
    pairs = [torch.cosine_similarity(vectors[i], vectors[j], dim=0) for i in range(5) for j in range(5) if i != j]
    torch.testing.assert_close(alike(vectors), torch.stack(pairs).mean())
    assert alike(vectors[:1]) == 0


KILLED = """
    import os, signal, sys
    from pathlib import Path
    import torch
    torch.set_num_threads(1)
    sys.path.insert(0, {tests!r})
    import retrolex.training as training
    from retrolex.training_callbacks import Mark
    from test_train import AS_USED, SPECS, run

    class Kill(Mark):
        def on_step_end(self, args, state, control, **rest):
            if state.global_step == 3:
                os.kill(os.getpid(), signal.SIGKILL)

    training.Mark = Kill
    run(Path({folder!r}), Path({start!r}), SPECS[{name!r}], AS_USED)
"""


def test_kill_9_and_the_same_bytes(tiny_model_folder: Path, tmp_path: Path) -> None:
    name = "lexicon"
    run(tmp_path / "whole", tiny_model_folder, SPECS[name], AS_USED)
    script = KILLED.format(tests=str(Path(__file__).parent), folder=str(tmp_path / "killed"), start=str(tiny_model_folder), name=name)
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert killed.returncode == -9, killed.stderr
    assert [path.name for path in (tmp_path / "killed/checkpoints").iterdir()] == ["checkpoint-2"]
    run(tmp_path / "killed", tiny_model_folder, SPECS[name], AS_USED)
    files = sorted(path.name for path in (tmp_path / "whole").iterdir() if path.is_file())
    assert "model.safetensors" in files and "retrolex.json" in files
    for file in files:
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "killed" / file).read_bytes(), file


def test_dense_training_leaves_the_language_model_head_alone(tiny_model_folder: Path, tmp_path: Path) -> None:
    before, _ = load_backbone(tiny_model_folder)
    run(tmp_path, tiny_model_folder, SPECS["dense"])
    after, _ = load_backbone(tmp_path)
    assert torch.equal(before.head[0].weight, after.head[0].weight)
    assert not torch.equal(before.word_embeddings.weight, after.word_embeddings.weight)


def test_what_cannot_be_trained_says_so(tiny_model_folder: Path, tmp_path: Path) -> None:
    backbone, tokenizer = load_backbone(tiny_model_folder)
    with pytest.raises(UserError, match="at least two"):
        finetune(backbone, tokenizer, SPECS["dense"], PAIRS[:1], NEGATIVES[:1], TEXTS.__getitem__, tmp_path, OPTIONS)
    for options, reason in (
        (FinetuneOptions(hard=3), "3 hard negatives a query are asked for, 2 were mined"),
        (FinetuneOptions(queries=1), "1 queries"),
        (FinetuneOptions(hard=2, loss="distill"), "a teacher's scores"),
        (FinetuneOptions(hard=0, loss="margin_mse"), "a teacher's scores"),
    ):
        with pytest.raises(UserError, match=reason):
            run(tmp_path, tiny_model_folder, SPECS["dense"], options)
