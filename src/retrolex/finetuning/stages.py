"""The papers' stages: what each does where the recipe says nothing (LexMAE, appendix A; RetroMAE's three settings are the same ladder).

1. Contrastive, with negatives from BM25's first 1000.
2. Contrastive, with negatives from the first 200 of the model that stage 1 made.
3. Distillation from a cross-encoder over each query's own group, with negatives from the first 200 of the model that stage 2 made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from retrolex.errors import UserError
from retrolex.finetuning.options import StageOptions
from retrolex.finetuning.retriever import TEACHERS

MOST = 3
LENGTHS = {"document_length": 144, "query_length": 32}
ALWAYS = {"epochs": 3.0, "learning_rate": 2e-5, "warmup": 0.05, "weight_decay": 0.01, "clip": 1.0, "ramp": 0.0, "dropout": 0.1}


def spelled_out(section: Mapping[str, Any], retriever: str, seed: int) -> dict[str, Any]:
    """A ``finetune`` section whose stages say everything: what a stage leaves out is as the section says, else as the papers do.

    Args:
        section: as stated, with ``stages``.
        retriever: the representation that is trained.
        seed: the recipe's.
    """
    shared = {name: value for name, value in section.items() if name != "stages"}
    stages = []
    for number, stated in enumerate(section["stages"]):
        stated = stated if isinstance(stated, dict) else {"negatives": stated}
        said = shared | stated
        stages.append({**papers(number, said, retriever), "seed": seed, **said})
    return {"seed": seed, **shared, "stages": stages}


def papers(number: int, said: Mapping[str, Any], retriever: str) -> dict[str, Any]:
    """What the papers do in a stage.

    Args:
        number: from 0.
        said: what was stated for it: a teacher makes it a distillation, unless a loss is stated too.
    """
    negatives = said.get("negatives", retriever if number else "bm25")
    loss = said.get("loss") or ("contrastive" if said.get("teacher") is None else "distill")
    taught = loss in TEACHERS
    return {
        **ALWAYS,
        "negatives": negatives,
        "depth": 1000 if negatives in ("bm25", ["bm25"], ("bm25",)) else 200,
        "loss": loss,
        "queries": 16 if taught else 24,
        "hard": 23 if taught else 15,
        "flops": 0.008 if number else 0.002,
    }


def kept(options: StageOptions) -> int:
    """How many negatives to mine for a pair."""
    if options.per_query is not None:
        return options.per_query
    return options.hard if options.loss in TEACHERS else min(4 * options.hard, options.depth)


def check_stages(stages: tuple[StageOptions, ...], where: str) -> None:
    """Refuse stages that cannot be carried out.

    Raises:
        UserError: too many, a loss without its teacher or the other way round, fewer negatives than a batch takes.
    """
    if len(stages) > MOST:
        raise UserError(f"{len(stages)} stages, expected up to {MOST}", where=where, mend="leave some out")
    for number, options in enumerate(stages):
        place = f"{where}.{number}"
        if (options.loss in TEACHERS or options.teacher_margin is not None) != (options.teacher is not None):
            what = f"the loss {options.loss!r} with the teacher {options.teacher!r} and the teacher_margin {options.teacher_margin}"
            mend = f"name a teacher (a cross-encoder) with a teacher_margin or one of the losses {', '.join(TEACHERS)}, or leave out all of them"
            raise UserError(what, where=place, mend=mend)
        if not options.miners or len(set(options.miners)) < len(options.miners):
            raise UserError(f"negatives from {list(options.miners)}", where=place, mend="name one miner or more, each once")
        if not 1 <= options.first <= options.depth:
            raise UserError(f"ranks {options.first} to {options.depth}", where=place, mend="give a first rank of 1 or more and a depth not above it")
        if any(margin is not None and margin < 0 for margin in (options.absolute_margin, options.relative_margin, options.teacher_margin)):
            raise UserError("a margin below 0 takes the best negatives for positives", where=place, mend="give a margin of 0 or more")
        if kept(options) < options.hard:
            raise UserError(
                f"{kept(options)} negatives a query are mined, {options.hard} are used", where=place, mend="raise per_query or lower hard"
            )
