"""The loop that pre-training and fine-tuning share: the Hugging Face Trainer, fed batch by number.

What a batch holds follows from its number alone, so that a killed run continues from its last checkpoint with the very
batches it had not seen, and ends in the same bytes as a run that was never killed. DDP, mixed precision and trackers
are the Trainer's.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset, SequentialSampler
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from retrolex.artifacts import LOGS
from retrolex.backbones.checkpoint import quiet
from retrolex.backbones.precision import bf16_pays
from retrolex.training_callbacks import WHOLE, Bar, LogFile, Mark, Reporter, Save
from retrolex.training_state import load_optimizer, load_random, save_optimizer, save_random
from retrolex.training_trackers import trackers

CHECKPOINTS, WEIGHTS = "checkpoints", "model.safetensors"
Batch = dict[str, Any]


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train.

    Attributes:
        steps: optimizer steps.
        learning_rate: its peak; it rises linearly over the first `warmup` share of the steps and falls linearly to 0.
        weight_decay: AdamW's, on matrices only.
        clip: largest gradient norm, 0 for none.
        accumulate: batches an optimizer step, one after the other.
        seed: of dropout (the batches are the caller's).
        log_every: steps between two lines of the log; a hundredth of all.
        save_every: steps between two checkpoints; None: one a minute, so that a killed run loses no more.
        bf16: compute in bfloat16; None: where the machine multiplies it in hardware.
        workers: processes that prepare batches ahead.
        report_to: ``tensorboard``, ``wandb``, or both.
    """

    steps: int
    learning_rate: float
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    seed: int = 42
    log_every: int | None = None
    save_every: int | None = None
    bf16: bool | None = None
    workers: int = 0
    report_to: tuple[str, ...] = ()


def fit(
    model: nn.Module,
    batches: Callable[[int], Batch],
    schedule: Schedule,
    folder: Path,
    label: str,
    callbacks: Iterable[TrainerCallback] = (),
    view: TrainerCallback | None = None,
) -> dict[str, float]:
    """Train `model` in place, continuing from the last whole checkpoint in `folder` when there is one.

    Args:
        model: ``model(**batch)`` returns a dict of scalar tensors: ``loss``, and parts of it worth logging.
        batches: the batch of a number, counted from 0; called with each number once, pickled when `schedule.workers`.
        folder: gets ``logs/train.jsonl`` and ``checkpoints/``; call `clear_checkpoints` once the model is saved.
        label: what the progress bar says.
        callbacks: what else watches; a `Reporter`'s figures reach the trackers and the view.
        view: what the person watching sees; a progress bar when not given.

    Returns:
        Steps taken, and the last logged loss with its parts.

    Raises:
        UserError: the loss stopped being a number, or a tracker is not there.
    """
    start = latest_checkpoint(folder)
    log = LogFile(folder / LOGS / "train.jsonl", label)
    tracked = trackers(schedule.report_to, folder, step_of(start) if start else 0)
    watchers = [log, *tracked, view or Bar(label), Save(schedule.save_every), Mark(), *callbacks]
    trainer = NumberedTrainer(model=model, args=_arguments(schedule, folder), callbacks=watchers)
    trainer.remove_callback(PrinterCallback)
    for reporter in (watcher for watcher in callbacks if isinstance(watcher, Reporter)):
        reporter.report = trainer.report
    trainer.train_dataset = Numbered(batches, schedule.steps * schedule.accumulate * trainer.args.world_size)
    with quiet():
        trainer.train(resume_from_checkpoint=str(start) if start else None)
    model.eval()
    return {"steps": schedule.steps, **log.last}


def latest_checkpoint(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; those that were not are removed."""
    found = sorted((folder / CHECKPOINTS).glob("checkpoint-*"), key=step_of)
    for path in found:
        if not (path / WHOLE).exists():
            shutil.rmtree(path)
    return next((path for path in reversed(found) if path.exists()), None)


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def clear_checkpoints(folder: Path) -> None:
    """Remove what only a killed run needs."""
    shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)


def set_dropout(module: nn.Module, rate: float) -> None:
    """Set every dropout rate of a model, those that attention layers keep as plain numbers included."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = rate
        for name in ("attention_dropout", "dropout_prob"):
            if isinstance(getattr(part, name, None), float):
                setattr(part, name, rate)


def _arguments(schedule: Schedule, folder: Path) -> TrainingArguments:
    return TrainingArguments(
        output_dir=str(folder / CHECKPOINTS),
        max_steps=schedule.steps,
        per_device_train_batch_size=1,  # one numbered batch
        gradient_accumulation_steps=schedule.accumulate,
        learning_rate=schedule.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=math.ceil(schedule.steps * schedule.warmup),
        weight_decay=schedule.weight_decay,
        max_grad_norm=schedule.clip,
        seed=schedule.seed,
        bf16=bf16_pays() if schedule.bf16 is None else schedule.bf16,
        use_cpu=not torch.cuda.is_available(),
        logging_steps=schedule.log_every or max(1, schedule.steps // 100),
        logging_first_step=True,
        logging_nan_inf_filter=False,  # LogFile wants to see them
        save_strategy="no",  # `Save` decides
        save_total_limit=2,  # the newer one may be half-written when the run is killed
        dataloader_num_workers=schedule.workers,
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to=[],  # `trackers` makes them
    )


class Numbered(Dataset):
    """Batches by number, as the Trainer wants them."""

    def __init__(self, batches: Callable[[int], Batch], count: int):
        self.batches, self.count = batches, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> Batch:
        return self.batches(number)


def _only(rows: list[Batch]) -> Batch:
    return rows[0]


class NumberedTrainer(Trainer):
    """The Trainer for models that return a dict of losses, over batches in the order of their numbers."""

    def __init__(self, **options: Any):
        super().__init__(data_collator=_only, **options)
        self.model_accepts_loss_kwargs = False  # losses are averages: divide by the number of accumulated batches
        self.sums: dict[str, Tensor] = {}
        self.counted = 0

    def _get_train_sampler(self, train_dataset: Dataset | None = None) -> SequentialSampler:
        return SequentialSampler(train_dataset if train_dataset is not None else self.train_dataset)

    def compute_loss(self, model: nn.Module, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None) -> Tensor:
        losses = model(**inputs)
        for name, value in losses.items():
            self.sums[name] = self.sums.get(name, 0.0) + value.detach().float()
        self.counted += 1
        return losses["loss"]

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        if "loss" in logs and self.counted:
            logs = logs | {name: value.item() / self.counted for name, value in self.sums.items()}
            self.sums, self.counted = {}, 0
        super().log(logs, start_time)

    def report(self, figures: dict[str, float]) -> None:
        """Hand figures to every callback that logs, without taking the place of a line of the log that is due."""
        due = self.control.should_log
        super().log(dict(figures))
        self.control.should_log = due

    # Checkpoints hold tied weights once, and nothing pickled.

    def _save(self, output_dir: str | None = None, state_dict: dict | None = None) -> None:
        Path(output_dir or self.args.output_dir).mkdir(parents=True, exist_ok=True)
        safetensors.torch.save_model(self.accelerator.unwrap_model(self.model), str(Path(output_dir or self.args.output_dir) / WEIGHTS))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: nn.Module | None = None) -> None:
        safetensors.torch.load_model(model if model is not None else self.model, str(Path(resume_from_checkpoint) / WEIGHTS))

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        if self.args.should_save:
            save_optimizer(self.optimizer, self.lr_scheduler, Path(output_dir))

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            load_optimizer(self.optimizer, self.lr_scheduler, Path(checkpoint))

    def _save_rng_state(self, output_dir: str) -> None:
        Path(output_dir).mkdir(parents=True, exist_ok=True)  # the first process may not have come so far
        save_random(Path(output_dir), self.args.process_index)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        if checkpoint is not None:
            load_random(Path(checkpoint), self.args.process_index)
