"""Pre-training on the user's own text: RetroMAE, DupMAE, LexMAE, and plain MLM as the control."""

from retrolex.pretraining.objectives import OBJECTIVES
from retrolex.pretraining.probe import KnownItems, known_items
from retrolex.pretraining.train import PretrainConfig, pretrain

__all__ = ["OBJECTIVES", "KnownItems", "PretrainConfig", "known_items", "pretrain"]
