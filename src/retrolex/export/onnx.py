"""ONNX and OpenVINO with the pooling inside the graph: token ids in, vectors out."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from retrolex.backbones import Backbone, Spec, load_backbone, write_spec
from retrolex.backbones.representations import pool, text_mask
from retrolex.backbones.tokenizer_files import save_tokenizer
from retrolex.errors import UserError
from retrolex.export.card import model_card
from retrolex.export.source import Source

FILE = "model.onnx"
SAMPLE = 2, 16  # texts and tokens that the graph is traced with; neither is fixed in it
USAGE = """
import onnxruntime
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("FOLDER")
session = onnxruntime.InferenceSession("FOLDER/model.onnx")
inputs = tokenizer(["a text"], padding=True, truncation=True, max_length={length}, return_tensors="np")
vectors, = session.run(["vectors"], {{name: inputs[name].astype("int64") for name in ("input_ids", "attention_mask")}})
"""
OPENVINO = """
import openvino
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("FOLDER")
model = openvino.compile_model("FOLDER/model.xml")
inputs = tokenizer(["a text"], padding=True, truncation=True, max_length={length}, return_tensors="np")
vectors = model({{name: inputs[name].astype("int64") for name in ("input_ids", "attention_mask")}})["vectors"]
"""


class Graph(nn.Module):
    """From token ids [B, L] and attention mask [B, L] to vectors: [B, H] dense, or [B, V] lexicon weights.

    The lexicon graph holds logits [B, L, V] while it runs: the runtimes have no fused maximum.
    """

    def __init__(self, backbone: Backbone, spec: Spec, special_ids: list[int]):
        super().__init__()
        self.backbone, self.spec = backbone, spec
        self.register_buffer("special_ids", torch.tensor(special_ids), persistent=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """See the class."""
        hidden = self.backbone.hidden(input_ids, attention_mask)
        if self.spec.representation == "dense":
            vectors = pool(hidden, attention_mask, self.spec.pooling)
            return nn.functional.normalize(vectors, dim=-1) if self.spec.normalize else vectors
        mask = text_mask(input_ids, attention_mask, self.special_ids)
        logits = self.backbone.transform(hidden) @ self.backbone.vocabulary_weight.T + self.backbone.vocabulary_bias
        return torch.log1p((torch.relu(logits) * mask.unsqueeze(-1)).amax(1))


def export_onnx(source: Source, folder: Path) -> dict[str, Any]:
    """Write ``model.onnx`` and the tokenizer; returns counts for the manifest.

    Raises:
        UserError: the packages that write ONNX are not installed.
    """
    write_graph(source, folder)
    (folder / "README.md").write_text(model_card(source, USAGE.format(length=source.spec.document_length)), encoding="utf-8")
    return {"representation": source.spec.representation}


def export_openvino(source: Source, folder: Path) -> dict[str, Any]:
    """Write ``model.xml`` and ``model.bin`` (16-bit weights) and the tokenizer; returns counts for the manifest.

    Raises:
        UserError: OpenVINO is not installed.
    """
    try:
        import openvino
    except ImportError:
        raise UserError("OpenVINO is not installed", mend="pip install 'retrolex[onnx]'") from None
    write_graph(source, folder)
    openvino.save_model(openvino.convert_model(folder / FILE), folder / "model.xml", compress_to_fp16=True)
    (folder / FILE).unlink()
    (folder / "README.md").write_text(model_card(source, OPENVINO.format(length=source.spec.document_length)), encoding="utf-8")
    return {"representation": source.spec.representation}


@contextmanager
def quiet() -> Iterator[None]:
    """Without the exporter's remarks on its own insides."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def write_graph(source: Source, folder: Path) -> None:
    """``model.onnx``, the tokenizer and the spec."""
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError:
        raise UserError("ONNX is not installed", mend="pip install 'retrolex[onnx]'") from None
    backbone, tokenizer = load_backbone(source.model)
    special_ids = sorted(set(tokenizer.all_special_ids) - {tokenizer.mask_token_id})
    backbone.model.config._attn_implementation = "eager"  # its masks trace without branching on the data
    graph = Graph(backbone.float(), source.spec, special_ids).eval()
    ids = torch.full(SAMPLE, tokenizer.mask_token_id)
    axes = {0: torch.export.Dim("texts"), 1: torch.export.Dim("tokens")}
    names = {"input_names": ["input_ids", "attention_mask"], "output_names": ["vectors"]}
    with quiet():
        torch.onnx.export(graph, (ids, torch.ones_like(ids)), folder / FILE, **names, dynamic_shapes=(axes, axes), external_data=False, verbose=False)
    save_tokenizer(tokenizer, folder)
    write_spec(folder, source.spec)
