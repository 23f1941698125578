"""Our losses against LexMAE's published fine-tuning code, values and gradients."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from retrolex.backbones import Spec, load_backbone
from retrolex.finetuning.losses import distillation, flops, group_scores, info_nce
from retrolex.finetuning.options import FinetuneOptions
from retrolex.finetuning.retriever import Retriever
from retrolex.finetuning.stages import papers

SHARED = os.environ.get("RETROLEX_SHARED")
pytestmark = pytest.mark.skipif(not SHARED, reason="RETROLEX_SHARED is not set: no golden values here")


def read_golden() -> tuple[dict[str, torch.Tensor], dict[str, float]]:
    with safe_open(Path(SHARED) / "golden/lexmae_finetune_losses.safetensors", "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["weights"])  # noqa: SIM118 (not a dict)


def test_the_retriever_puts_stage_three_together_as_published(tiny_model_folder: Path) -> None:
    golden, weight = read_golden()
    queries, documents = (golden[f"input/{name}"].requires_grad_() for name in ("query", "document"))
    share = weight["flops_query_loss_weight"] / weight["flops_doc_loss_weight"]
    assert share == pytest.approx(0.75)
    stage = papers(2, {"teacher": "any"}, "lexicon")
    options = FinetuneOptions(loss=stage["loss"], flops=stage["flops"])
    model = Retriever(load_backbone(tiny_model_folder)[0], Spec("lexicon"), [0], options)
    rows = [{"rows": torch.arange(len(part))} for part in (queries, documents)]
    own = torch.arange(len(queries)) * (len(documents) // len(queries))
    batch = {"queries": rows[0], "documents": rows[1], "own": own, "excluded": None, "teacher": golden["input/teacher_scores"]}
    losses = model.losses([(queries, documents)], [batch], torch.tensor(1.0))
    torch.testing.assert_close(losses["loss"], golden["output/loss"], atol=1e-5, rtol=1e-6)
    losses["loss"].backward()
    torch.testing.assert_close(queries.grad, golden["grad/query"], atol=1e-7, rtol=1e-4)
    torch.testing.assert_close(documents.grad, golden["grad/document"], atol=1e-7, rtol=1e-4)


def test_stage_three_loss_and_its_gradients() -> None:
    golden, weight = read_golden()
    queries, documents = (golden[f"input/{name}"].requires_grad_() for name in ("query", "document"))
    parts = {
        "contrastive": info_nce(queries, documents),
        "distillation": distillation(group_scores(queries, documents), golden["input/teacher_scores"]),
        "flops_document": flops(documents),
        "flops_query": flops(queries),
    }
    for name, value in parts.items():
        torch.testing.assert_close(value, golden[f"output/{name}"], atol=1e-5, rtol=1e-6)
    loss = (
        weight["xentropy_sparse_loss_weight"] * parts["contrastive"]
        + weight["distill_reranker2sparse_loss_weight"] * parts["distillation"]
        + weight["flops_doc_loss_weight"] * parts["flops_document"]
        + weight["flops_query_loss_weight"] * parts["flops_query"]
    )
    torch.testing.assert_close(loss, golden["output/loss"], atol=1e-5, rtol=1e-6)
    loss.backward()
    torch.testing.assert_close(queries.grad, golden["grad/query"], atol=1e-7, rtol=1e-4)
    torch.testing.assert_close(documents.grad, golden["grad/document"], atol=1e-7, rtol=1e-4)
