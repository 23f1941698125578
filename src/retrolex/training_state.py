"""What a checkpoint holds beside the weights, as safetensors and JSON: nothing that is read back can run code.

optimizer.safetensors   the optimizer's tensors, named NUMBER.NAME by the parameter's number
optimizer.json          its parameter groups, and the learning-rate schedule
random-RANK.safetensors each process's random generators: torch's as tensors, Python's and numpy's in the metadata
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from safetensors import safe_open

from retrolex.artifacts import write_json

TENSORS, GROUPS = "optimizer.safetensors", "optimizer.json"


def save_optimizer(optimizer: Any, schedule: Any, folder: Path) -> None:
    """Write the state of an optimizer and of its learning-rate schedule."""
    state = optimizer.state_dict()
    tensors = {f"{number}.{name}": value.contiguous() for number, values in state["state"].items() for name, value in values.items()}
    safetensors.torch.save_file(tensors, folder / TENSORS)
    write_json(folder / GROUPS, {"groups": state["param_groups"], "schedule": schedule.state_dict()})


def load_optimizer(optimizer: Any, schedule: Any, folder: Path) -> None:
    """Take up the state that `save_optimizer` wrote."""
    stated = json.loads((folder / GROUPS).read_text(encoding="utf-8"))
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in safetensors.torch.load_file(folder / TENSORS).items():
        number, name = key.split(".", 1)
        state.setdefault(int(number), {})[name] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": stated["groups"]})
    schedule.load_state_dict(stated["schedule"])


def save_random(folder: Path, rank: int) -> None:
    """Write the state of every random generator of this process."""
    kind, keys, *rest = np.random.get_state()
    metadata = {"python": json.dumps(random.getstate()), "numpy": json.dumps([kind, keys.tolist(), *rest])}
    states = {"cpu": torch.random.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.random.get_rng_state()
    safetensors.torch.save_file(states, folder / f"random-{rank}.safetensors", metadata=metadata)


def load_random(folder: Path, rank: int) -> None:
    """Take up the state that `save_random` wrote; a process that has none of its own (there were fewer) keeps its seed."""
    path = folder / f"random-{rank}.safetensors"
    if not path.exists():
        return
    with safe_open(path, "pt") as file:
        metadata, states = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - safe_open is no mapping
    version, words, gauss = json.loads(metadata["python"])
    random.setstate((version, tuple(words), gauss))
    kind, keys, *rest = json.loads(metadata["numpy"])
    np.random.set_state((kind, np.array(keys, dtype=np.uint32), *rest))
    torch.random.set_rng_state(states["cpu"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.random.set_rng_state(states["cuda"])
