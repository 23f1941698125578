"""Runs a recipe again and again, each time killed (SIGKILL) in another stage, and then lets it finish.

Usage: python kill_driver.py RECIPE.json run|finetune. Imports are done once; each attempt is a fork that kills itself: in training right after
its first checkpoint, and in every stage when its work is done but not yet published.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import torch

from retrolex.artifacts import Stage
from retrolex.pipeline.finetune_only import finetune_only
from retrolex.pipeline.recipe import make_recipe
from retrolex.pipeline.run import run
from retrolex.training_callbacks import Mark

DENSE = ["pretrain", "finetune", "model", "start-vectors", "start-index"]  # the guard may keep the start: no vectors of an adapted model
LEXICON = ["pretrain", "finetune", "start-vectors", "start-index", "vectors", "index"]
STAGES = ["collection", "bm25", "pairs", "tokens-", "start-", *(f"dense/{part}" for part in DENSE), *(f"lexicon/{part}" for part in LEXICON)]
STAGES += ["search", "hybrid", "evaluate", "report"]
THREE = ["negatives-1", "finetune-1", "negatives-2", "finetune-2", "negatives-3", "teacher-3", "finetune-3"]
WORK = {"run": (run, STAGES), "finetune": (finetune_only, [f"dense/{part}" for part in THREE])}  # verb -> what it does, in which stages it is killed
TRAINED = ("pretrain", "finetune", "finetune-1", "finetune-2", "finetune-3")


def die() -> None:
    """As kill -9 would."""
    os.kill(os.getpid(), signal.SIGKILL)


def arm(stage: str, at_checkpoint: bool) -> None:
    """Let this process die in a stage."""
    original, saved = Stage.run, Mark.on_save
    here = []

    def work_and_die(self: Stage, work) -> bool:
        if not self.name.startswith(stage):
            return original(self, work)
        here.append(self.name)
        return original(self, lambda folder: (work(folder), die()))

    def save_and_die(self: Mark, *arguments, **options) -> None:
        saved(self, *arguments, **options)
        if here:
            die()

    Stage.run = work_and_die
    if at_checkpoint:
        Mark.on_save = save_and_die


def attempt(recipe, verb: str, stage: str | None, at_checkpoint: bool = False) -> bool:
    """Fork a child that does the verb's work and dies in `stage`; True when it was killed, False when it came to its end."""
    child = os.fork()
    if child == 0:
        torch.set_num_threads(1)
        if stage:
            arm(stage, at_checkpoint)
        try:
            WORK[verb][0](recipe)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(f"the run failed while it was to be killed in {stage}")
    return os.WIFSIGNALED(status)


def main() -> None:
    recipe = make_recipe(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    verb = sys.argv[2]
    stages = WORK[verb][1]
    kills = [(stage, True) for stage in stages if stage.endswith(TRAINED)] + [(stage, False) for stage in stages]
    kills.sort(key=lambda kill: stages.index(kill[0]))  # stable: at the checkpoint first
    missed = [kill for kill in kills if not attempt(recipe, verb, *kill)]
    if missed:
        sys.exit(f"never killed in {missed}")
    attempt(recipe, verb, None)


if __name__ == "__main__":
    main()
