"""Our losses against LexMAE's published fine-tuning code, values and gradients."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from retrolex.finetuning.losses import distillation, flops, group_scores, info_nce

SHARED = os.environ.get("RETROLEX_SHARED")
pytestmark = pytest.mark.skipif(not SHARED, reason="RETROLEX_SHARED is not set: no golden values here")


def test_stage_three_loss_and_its_gradients() -> None:
    with safe_open(Path(SHARED) / "golden/lexmae_finetune_losses.safetensors", "pt") as file:
        golden = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        weight = json.loads(file.metadata()["weights"])
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
