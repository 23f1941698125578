"""Low-rank adapters in place of the weights (Hu et al. 2022, arXiv:2106.09685), through the peft library."""

from __future__ import annotations

from typing import Any

import torch

from retrolex.backbones import Backbone
from retrolex.errors import UserError


def add_adapters(backbone: Backbone, rank: int, seed: int) -> Any:
    """Freeze `backbone` and put trainable adapters of a rank beside each of its linear layers but the vocabulary.

    Returns:
        What `merge_adapters` wants.

    Raises:
        UserError: peft is not installed.
    """
    try:
        from peft import LoraConfig
        from peft.tuners.lora import LoraModel
    except ImportError:
        raise UserError("low-rank adapters need the library peft", mend="pip install 'retrolex[lora]', or leave lora out") from None
    torch.manual_seed(seed)  # the adapters start from random weights
    backbone.requires_grad_(False)
    return LoraModel(backbone.model, LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear"), "default")


def merge_adapters(backbone: Backbone, adapters: Any) -> None:
    """Add the adapters to the weights and take them away, so that the model is again what it was, but trained."""
    adapters.merge_and_unload()
    backbone.requires_grad_(True)
