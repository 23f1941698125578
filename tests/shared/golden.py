"""Compare our objectives with golden values of the published implementations: ``python tests/shared/golden.py FOLDER [DEVICE]``.

Reads every .safetensors file of the folder: weights and inputs go into our objective, its losses, tensors and gradients
are held against the stored ones. Sizes, heads, layers and lengths come from the files. Exit code 1 where a loss is off by
more than 1e-5, or a tensor or gradient by more than 1e-4 relatively.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor
from transformers import BertConfig, BertForMaskedLM

from retrolex.backbones import Backbone, wrap
from retrolex.backbones.representations import lexicon, text_mask
from retrolex.finetuning.losses import distillation, flops, group_scores, info_nce
from retrolex.pretraining.dupmae import DupMAE
from retrolex.pretraining.lexmae import LexMAE
from retrolex.pretraining.retromae import RetroMAE

LAYER = {
    "attention.self.": "",
    "attention.output.dense": "output",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "expand",
    "output.dense": "contract",
    "output.LayerNorm": "norm",
}
BOTTLENECKS = {  # by the start of a file's name
    "lexmae_logits_sat": "saturated",
    "lexmae_logits": "softmax",
    "lexmae_cls": "cls",
    "lexmae_none": "none",
}
LOSS_TOLERANCE, TENSOR_TOLERANCE = 1e-5, 1e-4


class Golden:
    """One file, by section: weight, input, output, grad."""

    def __init__(self, path: Path, device: str):
        with safe_open(path, "pt", device) as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - safe_open is no mapping
            self.metadata, self.device = file.metadata(), device
        sections = ("weight", "input", "output", "grad")
        self.weight, self.input, self.output, self.grad = (
            {k.split("/", 1)[1]: v for k, v in tensors.items() if k.startswith(s + "/")} for s in sections
        )

    def backbone(self) -> Backbone:
        """A masked LM of the file's sizes; its weights are loaded later, under the names of `ours`."""
        stated = json.loads(self.metadata["config"])
        config = BertConfig(**{key: value for key, value in stated.items() if key not in ("model_type", "transformers_version", "use_cache")})
        config._attn_implementation = "eager"
        return wrap(BertForMaskedLM(config)).eval()

    def text_mask(self) -> Tensor:
        """Ordinary positions of the unmasked text."""
        special = torch.tensor(list(json.loads(self.metadata["special_ids"]).values()), device=self.device)
        return text_mask(self.input["input_ids"], self.input["attention_mask"], special)


def layer_name(name: str) -> str:
    """A BERT layer's parameter name as `DecoderLayer` has it."""
    for theirs, ours in LAYER.items():
        if name.startswith(theirs):
            return ours + name.removeprefix(theirs)
    raise KeyError(name)


def our_name(name: str) -> str:
    """A parameter's name in the golden file, in our objectives."""
    name = name.removeprefix("lm.")
    if name.startswith("c_head."):
        return "decoder." + layer_name(name.removeprefix("c_head."))
    if name.startswith("decoder_heads."):
        _, number, rest = name.split(".", 2)
        return f"decoder.{number}.{layer_name(rest)}"
    if name.startswith("decoder_cls.predictions."):
        rest = name.removeprefix("decoder_cls.predictions.").removeprefix("transform.")
        return "decoder_head." + rest.replace("LayerNorm", "norm").replace("bias", "vocabulary_bias", rest == "bias")
    return "backbone.model." + name


def load(objective: torch.nn.Module, golden: Golden) -> dict[str, torch.nn.Parameter]:
    """Copy the golden weights in; returns our parameters by their golden names."""
    parameters = dict(objective.named_parameters())
    matched = {name: parameters[our_name(name)] for name in golden.weight}
    left = set(parameters) - {our_name(name) for name in matched}
    if left:
        raise SystemExit(f"the golden file has no weights for {sorted(left)}")
    with torch.no_grad():
        for name, parameter in matched.items():
            parameter.copy_(golden.weight[name])
    return matched


def relative(ours: Tensor, theirs: Tensor) -> float:
    """Largest difference, relative to the largest entry."""
    return ((ours - theirs).abs().max() / theirs.abs().max().clamp(min=1e-12)).item()


def gradient_error(matched: dict[str, torch.nn.Parameter], golden: Golden) -> tuple[float, str]:
    """The largest relative gradient error and the parameter that has it.

    Gradients that are zero in exact arithmetic (attention is blind to a key bias) are noise in both computations,
    so every difference counts relative to its tensor's largest entry, or 1e-3 of the largest gradient of all where that is more.
    """
    floor = 1e-3 * max(gradient.abs().max().item() for gradient in golden.grad.values())
    errors = {}
    for name, theirs in golden.grad.items():
        ours = matched[name].grad
        difference = theirs if ours is None else ours - theirs
        errors[name] = difference.abs().max().item() / max(theirs.abs().max().item(), floor)
    worst = max(errors, key=errors.get)
    return errors[worst], worst


def objective_of(name: str, golden: Golden) -> tuple[torch.nn.Module, dict[str, str]]:
    """Our objective for a file, and which of its results answers to which golden output."""
    backbone, losses = golden.backbone(), {"loss": "loss", "loss_encoder": "encoder", "loss_decoder": "decoder"}
    if name.startswith("retromae"):
        return RetroMAE(backbone, query_stream="raw"), {**losses, "sentence_embedding": "sentence"}
    if name.startswith("dupmae"):
        objective = DupMAE(backbone, query_stream="embedded", bow_form="published", bow_weight=golden.output["bow_loss_weight"].item())
        return objective, {**losses, "loss_bow": "bow", "sentence_embedding": "sentence", "ordinary_token_embedding": "terms"}
    layers = len({key.split(".")[1] for key in golden.weight if key.startswith("decoder_heads.")})
    bottleneck = next(kind for start, kind in BOTTLENECKS.items() if name.startswith(start))
    return LexMAE(backbone, bottleneck=bottleneck, decoder_layers=layers), {**losses, "bottleneck": "sentence"}


def check_objective(name: str, golden: Golden) -> dict[str, float]:
    """Errors of one pre-training file."""
    objective, answers = objective_of(name, golden)
    matched = load(objective.eval().to(golden.device), golden)
    batch = {**golden.input, "text_mask": golden.text_mask()}
    batch["decoder_labels"] = batch.get("decoder_labels_all", batch.get("decoder_masked_labels"))
    batch["decoder_input_ids"] = batch.get("decoder_masked_input_ids", batch["input_ids"])
    results = objective(batch)
    results["loss"].backward()
    errors = {}
    for theirs, ours in ((theirs, ours) for theirs, ours in answers.items() if theirs in golden.output):
        value, wanted = results[ours].detach(), golden.output[theirs]
        errors[f"loss {theirs}" if wanted.ndim == 0 else f"tensor {theirs}"] = (
            (value - wanted).abs().item() if wanted.ndim == 0 else relative(value, wanted)
        )
    error, worst = gradient_error(matched, golden)
    return {**errors, f"gradient {worst}": error}


def check_lexicon(golden: Golden) -> dict[str, float]:
    """Error of the lexicon representation."""
    backbone = golden.backbone().to(golden.device)
    load(torch.nn.ModuleDict({"backbone": backbone}), golden)
    with torch.no_grad():
        hidden = backbone.hidden(golden.input["input_ids"], golden.input["attention_mask"])
        vectors = lexicon(backbone, hidden, golden.text_mask())
    return {"tensor representation": relative(vectors, golden.output["representation"])}


def check_finetuning(golden: Golden) -> dict[str, float]:
    """Errors of LexMAE's stage-3 loss: distillation, contrastive, and FLOPS of both sides."""
    weights = json.loads(golden.metadata["weights"])
    query, document = (golden.input[name].requires_grad_() for name in ("query", "document"))
    ours = {
        "distillation": distillation(group_scores(query, document), golden.input["teacher_scores"]),
        "contrastive": info_nce(query, document),
        "flops_document": flops(document),
        "flops_query": flops(query),
    }
    ours["loss"] = (
        weights["distill_reranker2sparse_loss_weight"] * ours["distillation"]
        + weights["xentropy_sparse_loss_weight"] * ours["contrastive"]
        + weights["flops_doc_loss_weight"] * ours["flops_document"]
        + weights["flops_query_loss_weight"] * ours["flops_query"]
    )
    ours["loss"].backward()
    errors = {f"loss {name}": (ours[name].detach() - golden.output[name]).abs().item() for name in ours}
    error, worst = gradient_error({"query": query, "document": document}, golden)
    return {**errors, f"gradient {worst}": error}


def check(path: Path, device: str = "cpu") -> dict[str, float] | None:
    """Errors of one file by what they are errors of; None where no computation of ours answers to it."""
    name, golden = path.stem, Golden(path, device)
    if name.startswith("lexicon_representation"):
        return check_lexicon(golden)
    if name.startswith("lexmae_finetune_losses"):
        return check_finetuning(golden)
    if name.startswith(("retromae", "dupmae", *BOTTLENECKS)):
        return check_objective(name, golden)
    return None


def main(folder: Path, device: str = "cpu") -> int:
    """Print a line a file; returns the exit code."""
    paths = sorted(folder.glob("*.safetensors"))
    if not paths:
        print(f"no .safetensors files in {folder}")
        return 1
    failed = False
    print(f"{'file':28s} {'loss (abs)':>12s} {'tensor (rel)':>13s} {'gradient (rel)':>15s}")
    for path in paths:
        errors = check(path, device)
        if errors is None:
            print(f"{path.stem:28s} nothing of ours to compare")
            failed = True
            continue
        kinds = {kind: max((e for what, e in errors.items() if what.startswith(kind)), default=None) for kind in ("loss", "tensor", "gradient")}
        bad = {what: e for what, e in errors.items() if not e <= (LOSS_TOLERANCE if what.startswith("loss") else TENSOR_TOLERANCE)}
        failed |= bool(bad)
        figures = " ".join(
            "-".rjust(width) if kinds[kind] is None else f"{kinds[kind]:{width}.1e}" for kind, width in zip(kinds, (12, 13, 15), strict=True)
        )
        print(f"{path.stem:28s} {figures}  {'FAIL ' + str(bad) if bad else 'ok'}")
    return int(failed)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python tests/shared/golden.py FOLDER [DEVICE]")
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
