"""The registry of objectives: a name, the module, and what its paper masks."""

from __future__ import annotations

import inspect
from typing import Any, Literal, NamedTuple

from torch import nn

from retrolex.backbones import Backbone, Spec
from retrolex.errors import UserError
from retrolex.pretraining.dupmae import DupMAE
from retrolex.pretraining.lexmae import LexMAE
from retrolex.pretraining.mlm import MLM
from retrolex.pretraining.retromae import RetroMAE


class Objective(NamedTuple):
    """How one objective is built and masked, by its paper."""

    module: type[nn.Module]
    representation: Literal["dense", "lexicon", "dupmae"]
    encoder_rate: float
    decoder_rate: float
    replacement: Literal["mask", "80-10-10"]


OBJECTIVES = {
    "retromae": Objective(RetroMAE, "dense", 0.3, 0.5, "mask"),
    "dupmae": Objective(DupMAE, "dupmae", 0.3, 0.5, "mask"),
    "lexmae": Objective(LexMAE, "lexicon", 0.3, 0.5, "80-10-10"),
    "mlm": Objective(MLM, "dense", 0.15, 0.0, "80-10-10"),
}


def build(name: str, backbone: Backbone, spec: Spec, options: dict[str, Any]) -> nn.Module:
    """The module of an objective over a backbone.

    Args:
        name: a key of OBJECTIVES.
        spec: pooling and longest input.
        options: keyword arguments of the objective's class.

    Raises:
        UserError: no such objective, or it has no such option.
    """
    if name not in OBJECTIVES:
        raise UserError(f"no objective {name!r}", mend=f"choose one of {', '.join(OBJECTIVES)}")
    module = OBJECTIVES[name].module
    known = [parameter for kind in module.__mro__[:2] for parameter in inspect.signature(kind).parameters.values()]
    names = {parameter.name for parameter in known if parameter.kind is parameter.KEYWORD_ONLY}
    if unknown := sorted(set(options) - names):
        raise UserError(f"{name} has no option {', '.join(unknown)}", mend=f"its options are: {', '.join(sorted(names)) or 'none'}")
    given = {"pooling": spec.pooling, "max_length": spec.document_length}
    return module(backbone, **{key: value for key, value in given.items() if key in names} | options)
