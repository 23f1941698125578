"""A pre-training run: from a backbone and tokens to a model folder."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import safetensors.torch
import torch
from torch import Tensor, nn

from retrolex.artifacts import LOGS
from retrolex.backbones import Backbone, Spec, save_backbone, write_spec
from retrolex.backbones.precision import bf16_pays
from retrolex.errors import UserError
from retrolex.pretraining.batches import BatchMaker, Masking, Plan
from retrolex.pretraining.fast import make_fast
from retrolex.pretraining.keeping import NAME, Keeper, weight_of
from retrolex.pretraining.live import Live
from retrolex.pretraining.losses import wholes
from retrolex.pretraining.objectives import OBJECTIVES, build
from retrolex.pretraining.probe import KnownItems, Probe, bm25_figures
from retrolex.pretraining.watch import Watch
from retrolex.tokens import Tokens, Vocabulary, chunk
from retrolex.training import Schedule, clear_checkpoints, fit, set_dropout

DECODER = "decoder.safetensors"
HELD_OUT_BATCHES = 4  # of held-out text whose losses are measured: enough for a curve, a small part of a probe's time
HELD_OUT_STEP = 2**40  # the step whose masks held-out text gets: none that training reaches


@dataclass(frozen=True)
class PretrainConfig:
    """What to train for how long.

    Attributes:
        objective: a key of `OBJECTIVES`.
        options: keyword arguments of the objective's class, such as ``{"decoding": "basic"}``; and ``keep_start``, the weight of staying
            with the start's in-batch similarities (`keeping`), for a start that was tuned for retrieval; 0 when not given.
        encoder_rate, decoder_rate, replacement: masking; None: as in the objective's paper.
        tokens_per_batch: padding included, of each process.
        accumulate: batches a step, one after the other. Losses are averages over all of them, as if they were one.
        epochs: passes over the text; ignored where `steps` is given.
        steps: optimizer steps.
        learning_rate, warmup, weight_decay, clip: see `retrolex.training.Schedule`.
        dropout: of encoder and decoder. With few passes over the text there is nothing to overfit, and on a CPU dropout is
            slow; the papers' 0.1 is for many passes.
        seed: of everything random.
        bf16: compute in bfloat16; None: where the machine does so in hardware.
        probe_every: steps between two probes; None: ten in the whole run.
        patience: probes without a gain before the run stops; None: never.
        log_every, save_every, workers, report_to: see `retrolex.training.Schedule`.
    """

    objective: Literal["retromae", "dupmae", "lexmae", "mlm"] = "retromae"
    options: dict[str, Any] = field(default_factory=dict)
    encoder_rate: float | None = None
    decoder_rate: float | None = None
    replacement: Literal["mask", "80-10-10"] | None = None
    tokens_per_batch: int = 8192
    accumulate: int = 1
    epochs: float = 1.0
    steps: int | None = None
    learning_rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    dropout: float = 0.0
    seed: int = 42
    bf16: bool | None = None
    probe_every: int | None = None
    patience: int | None = None
    log_every: int | None = None
    save_every: int | None = None
    workers: int = 0
    report_to: tuple[str, ...] = ()


def pretrain(
    backbone: Backbone,
    tokenizer: Any,
    tokens: Tokens,
    folder: Path,
    config: PretrainConfig,
    *,
    spec: Spec | None = None,
    held_out: KnownItems | None = None,
    decoder: Path | None = None,
) -> dict[str, Any]:
    """Train `backbone` in place and write a model folder; a killed run continues where its last checkpoint was.

    Args:
        backbone, tokenizer: the start; the tokenizer is the one that made `tokens`.
        tokens: one row a document of the collection.
        folder: gets the masked LM, ``decoder.safetensors``, ``retrolex.json``, and ``logs/`` with train.jsonl and probe.jsonl.
        config: what to do.
        spec: of the start: pooling, normalisation and lengths are kept.
        held_out: documents to leave out and to probe with.
        decoder: ``decoder.safetensors`` of an earlier run with the same objective, to go on with.

    Returns:
        Counts and figures for a manifest: steps, chunks, the last losses, the last probe.

    Raises:
        UserError: the tokens come from another tokenizer, there is no text, or the loss stopped being a number.
    """
    torch.manual_seed(config.seed)  # the decoder starts from random weights
    spec = spec or Spec()
    weight = weight_of(config.options)
    objective = build(config.objective, backbone, spec, {name: value for name, value in config.options.items() if name != NAME})
    if decoder is not None:
        load_decoder(objective, decoder)
    set_dropout(objective, config.dropout)
    make_fast(backbone)
    keeper = Keeper(backbone, spec, weight) if weight else None

    vocabulary = Vocabulary.of(tokenizer)
    if tokens.description["vocabulary"] != vocabulary.size:
        raise UserError("the tokens were made by another tokenizer", where=tokens.folder, mend="tokenise the collection again")
    if vocabulary.size > backbone.vocabulary_size:
        found = f"the tokenizer has {vocabulary.size} entries, the model only {backbone.vocabulary_size}"
        raise UserError(found, mend="use the tokenizer that belongs to the model, or resize the model's embeddings")
    chunks = chunk(tokens, spec.document_length - 2, vocabulary.sentence_ends)
    maker = BatchMaker(tokens, chunks, vocabulary, masking_of(config, objective), config.seed)
    unseen = np.isin(chunks.document, np.asarray(held_out.rows if held_out else (), dtype=np.int64))
    training, testing = np.flatnonzero(~unseen), np.flatnonzero(unseen)
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    parts = config.accumulate * processes
    plan = Plan(chunks.lengths[training] + 2, config.tokens_per_batch * parts, parts, config.seed)

    def part(number: int) -> dict[str, Tensor]:
        rows, step = plan.share(number)
        return maker(training[rows], step)

    @lru_cache(maxsize=1)
    def parts_of(first: int) -> list[dict[str, Tensor]]:
        made = [part(number) for number in range(first, first + parts, processes)]
        return [batch | wholes(made) for batch in made]

    def batch(number: int) -> dict[str, Tensor]:
        if config.accumulate == 1:
            return part(number)
        step, place = divmod(number, parts)
        return parts_of(step * parts + place % processes)[place // processes]

    schedule = schedule_of(config, plan)
    watch = None
    if held_out is not None:
        measure = Measure(objective, maker, testing, Probe(held_out, tokenizer, spec), bm25_figures(held_out), config)
        every = config.probe_every or max(1, schedule.steps // 10)
        watched = "lexicon" if OBJECTIVES[config.objective].representation == "lexicon" else "dense"
        watch = Watch(folder / LOGS / "probe.jsonl", measure, every, watched, config.patience)
    label = f"pre-training ({config.objective})"
    view = Live(label, lambda step: int(plan.lengths[plan.batch(step)].sum()))
    try:
        counts = fit(Step(objective, keeper), batch, schedule, folder, label, [watch] if watch else [], view)
    finally:
        view.close()
    result = {**counts, "chunks": len(chunks.start), "chunks_held_out": len(testing), "tokens": int(chunks.lengths[training].sum())}
    if watch:
        result |= {"steps": watch.rows[-1]["step"], "stopped_early": watch.stopped, "probe": watch.rows[-1]}
    if int(os.environ.get("RANK", "0")) == 0:
        save(objective, tokenizer, folder, config.objective, spec)
        clear_checkpoints(folder)
    return result


class Step(nn.Module):
    """An objective as the training loop calls it: a batch's fields by name in, scalar losses out, averaged over processes."""

    def __init__(self, objective: nn.Module, keeper: Keeper | None = None):
        super().__init__()
        self.objective, self.keeper = objective, keeper

    def forward(self, **batch: Tensor) -> dict[str, Tensor]:
        losses = {name: value for name, value in self.objective(batch).items() if value.ndim == 0}
        if self.keeper is not None:
            losses["keep"] = self.keeper(self.objective.backbone, batch)
            losses["loss"] = losses["loss"] + self.keeper.weight * losses["keep"]
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            means = torch.stack([value.detach().float() for value in losses.values()])
            torch.distributed.all_reduce(means)
            means = dict(zip(losses, means / torch.distributed.get_world_size(), strict=True))
            # The gradient stays this process's own; the value is everybody's.
            losses = {**means, "loss": losses["loss"] + (means["loss"] - losses["loss"]).detach()}
        return losses


class Measure:
    """Held-out losses and probe figures of an objective as it is now."""

    def __init__(self, objective: nn.Module, maker: BatchMaker, rows: np.ndarray, probe: Probe, bm25: dict[str, float], config: PretrainConfig):
        self.objective, self.probe, self.bm25 = objective, probe, bm25
        self.maker = maker
        self.bf16 = bf16_pays() if config.bf16 is None else config.bf16
        plan = Plan(maker.chunks.lengths[rows] + 2, config.tokens_per_batch, 1, config.seed)
        self.batches = [rows[batch] for batch in plan.epochs[0][:HELD_OUT_BATCHES]]

    @torch.no_grad()
    def __call__(self) -> dict[str, Any]:
        device = next(self.objective.parameters()).device
        training = self.objective.training
        self.objective.eval()
        sums: dict[str, float] = {}
        with torch.autocast(device.type, torch.bfloat16, enabled=self.bf16):
            for rows in self.batches:
                batch = {name: value.to(device) for name, value in self.maker(rows, HELD_OUT_STEP).items()}
                for name, value in self.objective(batch).items():
                    if value.ndim == 0:
                        sums[name] = sums.get(name, 0.0) + value.item() * len(rows)
            figures = self.probe.measure(self.objective.backbone)
        self.objective.train(training)
        count = sum(len(rows) for rows in self.batches)
        return {"held_out": {name: round(value / count, 4) for name, value in sums.items()}, **figures, "bm25": self.bm25}


def masking_of(config: PretrainConfig, objective: nn.Module) -> Masking:
    """The configuration's masking, the paper's where it says nothing."""
    paper = OBJECTIVES[config.objective]
    return Masking(
        encoder_rate=paper.encoder_rate if config.encoder_rate is None else config.encoder_rate,
        decoder_rate=paper.decoder_rate if config.decoder_rate is None else config.decoder_rate,
        replacement=config.replacement or paper.replacement,
        decoder_view=objective.decoder_view,
    )


def schedule_of(config: PretrainConfig, plan: Plan) -> Schedule:
    """The training loop's part of the configuration."""
    return Schedule(
        steps=config.steps or plan.steps(config.epochs),
        learning_rate=config.learning_rate,
        warmup=config.warmup,
        weight_decay=config.weight_decay,
        clip=config.clip,
        accumulate=config.accumulate,
        seed=config.seed,
        log_every=config.log_every,
        save_every=config.save_every,
        bf16=config.bf16,
        workers=config.workers,
        report_to=config.report_to,
    )


def save(objective: nn.Module, tokenizer: Any, folder: Path, name: str, spec: Spec) -> None:
    """Write the model folder: masked LM, tokenizer, decoder, retrolex.json."""
    save_backbone(objective.backbone, tokenizer, folder)
    state = {key: value.contiguous() for key, value in objective.state_dict().items() if not key.startswith("backbone.")}
    if state:
        safetensors.torch.save_file(state, folder / DECODER, metadata={"objective": name})
    write_spec(folder, replace(spec, representation=OBJECTIVES[name].representation, objective=name))


def load_decoder(objective: nn.Module, path: Path) -> None:
    """Continue with the decoder of an earlier run.

    Raises:
        UserError: it belongs to an objective of another shape.
    """
    state = safetensors.torch.load_file(path)
    own = {key: value for key, value in objective.state_dict().items() if not key.startswith("backbone.")}
    if {key: value.shape for key, value in state.items()} != {key: value.shape for key, value in own.items()}:
        raise UserError("this decoder belongs to another objective or another size", where=path, mend="pre-train without it")
    objective.load_state_dict(state, strict=False)
