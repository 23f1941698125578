"""Training rows in the formats of the field, one small file a format: a new one is a new file and a line in `registry`."""

from __future__ import annotations

from retrolex.finetuning.formats.disk import read_rows, write_rows
from retrolex.finetuning.formats.mining import mined_rows
from retrolex.finetuning.formats.registry import FORMATS, format_of
from retrolex.finetuning.formats.resolving import resolve
from retrolex.finetuning.formats.rows import Format, Passage, Row
from retrolex.finetuning.formats.training import TrainingSet, training_set

__all__ = ["FORMATS", "Format", "Passage", "Row", "TrainingSet", "format_of", "mined_rows", "read_rows", "resolve", "training_set", "write_rows"]
