"""What the ladder compares, from which starts, for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SEEDS = (42, 43, 44)
LENGTH, QUERY_LENGTH = 128, 32
DEPTH = 200  # documents of a run: as many as fusion reads, and more than R@100 asks for
TUNED, SPLADE, TEACHER = "minilm", "splade-tiny-mlm", "ms-marco-MiniLM-L-12-v2"
PLAIN = {"layers": 4, "hidden_size": 256, "vocabulary": 16_000}
# Two runs, the second from where the first ended: after the first, which is an hour of one core, the loss still fell as fast as in its middle.
PLAIN_TRAINING = (
    {"objective": "mlm", "steps": 2500, "tokens_per_batch": 8192, "learning_rate": 5e-4, "probe_every": 500, "save_every": 100},
    {"objective": "mlm", "steps": 4400, "tokens_per_batch": 4096, "learning_rate": 7e-4, "probe_every": 1100, "save_every": 100, "warmup": 0.05},
)


@dataclass(frozen=True)
class Row:
    """One system of a table.

    Attributes:
        name: as the table prints it.
        representation: of its vectors: ``dense``, ``lexicon`` or ``dupmae``.
        objective: that it is pre-trained further with; None: not at all.
        finetuned: whether fine-tuning follows.
        against: the row that shows what the pre-training is worth.
        mlm: the row that shows what its objective is worth: the same budget spent on masked language modelling.
    """

    name: str
    representation: str
    objective: str | None
    finetuned: bool = True
    against: str | None = None
    mlm: str | None = None


START, LEXICON_START = "start + fine-tune", "start + fine-tune, lexicon"
MLM, LEXICON_MLM, TWO_PART_MLM = "MLM + fine-tune", "MLM + fine-tune, lexicon", "MLM + fine-tune, two-part"
ROWS = (
    Row("start", "dense", None, finetuned=False),
    Row(START, "dense", None),
    Row(MLM, "dense", "mlm", against=START),
    Row("RetroMAE + fine-tune", "dense", "retromae", against=START, mlm=MLM),
    Row("DupMAE + fine-tune", "dupmae", "dupmae", against=START, mlm=TWO_PART_MLM),
    Row("start, lexicon", "lexicon", None, finetuned=False),
    Row(LEXICON_START, "lexicon", None),
    Row(LEXICON_MLM, "lexicon", "mlm", against=LEXICON_START),
    Row("LexMAE without fine-tuning", "lexicon", "lexmae", finetuned=False, against=LEXICON_START, mlm=LEXICON_MLM),
    Row("LexMAE + fine-tune", "lexicon", "lexmae", against=LEXICON_START, mlm=LEXICON_MLM),
)


@dataclass(frozen=True)
class Table:
    """One start for each representation, and the budget of everything that is trained from it.

    Attributes:
        name: of its folder.
        together: one model for all collections, trained on the documents of all; else a model for each, trained on its own.
        pretrain, finetune: fields of `PretrainConfig` and `FinetuneOptions`.
        lexicon: what fine-tuning of lexicon vectors changes in that.
        pairs: pseudo-queries at most.
        controls: rows that tell what another row owes to its objective and what to its vectors; no part of a hybrid.
    """

    name: str
    together: bool
    pretrain: dict[str, Any]
    finetune: dict[str, Any]
    lexicon: dict[str, Any]
    pairs: int
    controls: tuple[Row, ...] = ()


CONTROL = Row(TWO_PART_MLM, "dupmae", "mlm", against=START)
TABLES = (
    Table(
        "plain",
        together=True,
        pretrain={"steps": 200, "tokens_per_batch": 2048, "learning_rate": 5e-4, "probe_every": 200},
        finetune={"steps": 200, "queries": 32, "hard": 0, "learning_rate": 3e-4},
        lexicon={"scale": 0.05, "flops": 0.001},
        pairs=20_000,
        controls=(CONTROL,),
    ),
    Table(
        "tuned",
        together=False,
        pretrain={"steps": 16, "tokens_per_batch": 2048, "learning_rate": 2e-5, "probe_every": 16},
        finetune={"steps": 16, "queries": 32, "hard": 0, "learning_rate": 2e-5},
        lexicon={"scale": 0.05, "flops": 0.001},
        pairs=20_000,
    ),
)
