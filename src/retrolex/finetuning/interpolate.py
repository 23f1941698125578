"""A model between two models: the weights of a start and of what became of it, averaged (WiSE-FT, LM-Cocktail)."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch

from retrolex.backbones import Backbone, load_backbone, read_spec, save_backbone, write_spec
from retrolex.backbones.two_part import FILE as TWO_PART
from retrolex.errors import UserError


@torch.no_grad()
def interpolate(start: str | Path, adapted: str | Path, alpha: float, target: Path) -> None:
    """Write (1 - alpha) * start + alpha * adapted into `target`, computed in float32.

    Tokenizer and ``retrolex.json`` are the adapted model's; so are what no start has, the projection of two-part vectors, and the LM head where
    the start came without one.

    Args:
        start: what `load_backbone` takes.
        adapted: a model folder that training made of it.
        alpha: 0 gives the start, 1 the adapted model, both exactly.
        target: a folder.

    Raises:
        UserError: the two are not of one architecture.
    """
    (first, _), (last, tokenizer) = load_backbone(start), load_backbone(adapted)
    old, new = first.model.state_dict(), last.model.state_dict()
    if {name: value.shape for name, value in old.items()} != {name: value.shape for name, value in new.items()}:
        raise UserError(f"its weights do not match those of {adapted}", where=start, mend="average a start only with what was trained from it")
    heads = _head(last) if first.head_is_new else set()
    averaged = {
        name: value if name in heads or not value.is_floating_point() else torch.lerp(old[name].float(), value.float(), alpha)
        for name, value in new.items()
    }
    last.model.load_state_dict(averaged)
    target.mkdir(parents=True, exist_ok=True)
    save_backbone(last, tokenizer, target)
    write_spec(target, read_spec(Path(adapted)))
    if (Path(adapted) / TWO_PART).exists():
        shutil.copyfile(Path(adapted) / TWO_PART, target / TWO_PART)


def _head(backbone: Backbone) -> set[str]:
    """Names of the LM head's own parameters: transform, LayerNorm and vocabulary bias."""
    dense, _, norm = backbone.head
    own = {id(parameter) for parameter in (*dense.parameters(), *norm.parameters(), backbone.vocabulary_bias)}
    return {name for name, parameter in backbone.model.named_parameters(remove_duplicate=False) if id(parameter) in own}
