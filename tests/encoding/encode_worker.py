"""`retrolex encode` in a process of its own, on one thread, so that two of them can be compared byte by byte.

Usage: python -m tests.encoding.encode_worker [--die N FOLDER] ARGUMENTS OF THE VERB. With --die, a fork does the work first and kills itself
(SIGKILL) while it writes its N-th file, when half of it is written; what it left in FOLDER is printed as JSON, and the work done again.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import torch

from retrolex.cli import main as cli
from retrolex.encoding import shards
from retrolex.pipeline import encoding  # noqa: F401 (imported once, before the fork)


def die_while_writing(number: int) -> None:
    """As kill -9 would."""
    save, left = shards.save, [number]

    def save_or_die(path: Path, array: np.ndarray) -> None:
        left[0] -= 1
        if left[0] == 0:
            path.with_suffix(f".dead{shards.WRITING}").write_bytes(array.tobytes()[: array.nbytes // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        save(path, array)

    shards.save = save_or_die


def main() -> None:
    torch.set_num_threads(1)
    if sys.argv[1] == "--die":
        number, folder = int(sys.argv[2]), Path(sys.argv[3])
        sys.argv[1:] = ["encode", *sys.argv[4:]]
        child = os.fork()
        if child == 0:
            die_while_writing(number)
            cli()
            os._exit(1)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.exit("nobody was killed")
        print(json.dumps({path.name: path.stat().st_mtime_ns for path in folder.iterdir()}), flush=True)
    else:
        sys.argv.insert(1, "encode")
    cli()


if __name__ == "__main__":
    main()
