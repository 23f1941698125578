"""Cross-encoders, which read query and document together: loaded in the precision that the machine multiplies fastest in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from retrolex.backbones.precision import bf16_pays
from retrolex.errors import UserError


def load_cross_encoder(model: str | Path) -> Any:
    """A sentence-transformers ``CrossEncoder`` with one output.

    On a CPU its layers compute in bfloat16 where the hardware does, which is faster, else in float32; never in the float16 that some
    are stored in, which crawls there. The last product is always float32: in bfloat16 the best documents of a query would tie.

    Args:
        model: folder or hub name.

    Raises:
        UserError: nothing loadable there, or a model of several outputs.
    """
    from sentence_transformers import CrossEncoder

    gpu = torch.cuda.is_available()
    precision = {} if gpu else {"dtype": torch.bfloat16 if bf16_pays() else torch.float32}
    try:
        loaded = CrossEncoder(str(model), model_kwargs=precision)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"cannot load a cross-encoder: {reason}", where=model, mend="name a folder or hub model with one output") from None
    if loaded.num_labels != 1:
        raise UserError(f"a cross-encoder of {loaded.num_labels} outputs", where=model, mend="name one that gives a single score")
    if not gpu:
        last = [module for module in loaded.modules() if isinstance(module, nn.Linear)][-1].float()
        last.register_forward_pre_hook(lambda _, inputs: tuple(value.float() for value in inputs))
    return loaded
