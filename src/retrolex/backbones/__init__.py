"""Masked language models of every supported family, behind one small interface."""

from retrolex.backbones.base import Backbone
from retrolex.backbones.checkpoint import load_backbone, resolve_start, save_backbone, wrap
from retrolex.backbones.spec import Spec, read_spec, write_spec

__all__ = ["Backbone", "Spec", "load_backbone", "read_spec", "resolve_start", "save_backbone", "wrap", "write_spec"]
