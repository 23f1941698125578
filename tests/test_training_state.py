"""What a checkpoint holds comes back as it was."""

from __future__ import annotations

import random

import numpy as np
import torch

from retrolex.training_state import load_optimizer, load_random, save_optimizer, save_random


def pieces(seed: int):
    """A layer, its optimizer with two groups, and a schedule."""
    torch.manual_seed(seed)
    layer = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW([{"params": [layer.weight], "weight_decay": 0.1}, {"params": [layer.bias]}], lr=0.1, fused=True)
    return layer, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))


def train(layer, optimizer, schedule, steps: int) -> None:
    for _ in range(steps):
        layer(torch.ones(4, 3)).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()


def test_optimizer_and_schedule(tmp_path):
    layer, optimizer, schedule = pieces(0)
    train(layer, optimizer, schedule, 3)
    save_optimizer(optimizer, schedule, tmp_path)
    other, fresh, planned = pieces(1)
    other.load_state_dict(layer.state_dict())
    load_optimizer(fresh, planned, tmp_path)
    assert planned.get_last_lr() == schedule.get_last_lr()
    train(layer, optimizer, schedule, 3)
    train(other, fresh, planned, 3)
    assert torch.equal(layer.weight, other.weight) and torch.equal(layer.bias, other.bias)


def test_random_generators(tmp_path):
    def draw():
        return random.random(), random.gauss(0, 1), np.random.rand(), np.random.randn(), torch.rand(1).item()

    random.gauss(0, 1), np.random.randn()  # each keeps a second value back
    save_random(tmp_path, 0)
    first = draw()
    load_random(tmp_path, 0)
    assert draw() == first
    load_random(tmp_path, 1)  # of a process that was not there: nothing to take up
    assert draw() != first
