"""Runs a recipe again and again, killing it (SIGKILL) as soon as each stage has begun, and then lets it finish.

Usage: python kill_driver.py RECIPE.json. Imports are done once; each attempt is a fork.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch

from retrolex.pipeline.recipe import make_recipe
from retrolex.pipeline.run import run


def attempt(recipe) -> int:
    """Fork a child that runs the recipe; returns its process id."""
    child = os.fork()
    if child == 0:
        torch.set_num_threads(1)
        try:
            run(recipe)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return child


def kill_when(recipe, sign) -> bool:
    """Start an attempt and kill it when `sign()` holds; False when it ended before."""
    child = attempt(recipe)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if status:
                sys.exit(f"the run failed with status {status}")
            return False
        if sign():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True
        time.sleep(0.0005)


def main() -> None:
    recipe = make_recipe(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    folder = recipe.folder
    stages = ["collection", "bm25", "pairs", "tokens-*", "start-*"]
    # The guard may keep the dense start, which then has no vectors of an adapted model.
    stages += [f"dense/{part}" for part in ("pretrain", "finetune", "model", "start-vectors", "start-index")]
    stages += [f"lexicon/{part}" for part in ("pretrain", "finetune", "start-vectors", "start-index", "vectors", "index")]
    stages += ["search", "hybrid", "evaluate", "report"]
    killed = [stage for stage in stages if kill_when(recipe, lambda stage=stage: any(folder.glob(f"{stage}.partial/*")))]
    print(json.dumps(killed))
    if kill_when(recipe, lambda: False):
        sys.exit("unreachable")


if __name__ == "__main__":
    main()
