"""What decides a fine-tuning run: one stage, and one stage of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Miners = Literal["bm25", "dense", "lexicon", "dupmae"]


@dataclass(frozen=True)
class FinetuneOptions:
    """One stage.

    Attributes:
        steps: optimizer steps; None: `epochs` passes over the pairs.
        epochs: see `steps`.
        queries, hard: queries a batch and process, hard negatives a query.
        learning_rate, warmup, weight_decay, clip: see `training.Schedule`.
        accumulate: batches a step; the in-batch negatives do not grow with it. FLOPS is that of the whole step's texts, for which the encoder
            runs twice, as with `chunk`.
        loss: ``contrastive`` (InfoNCE); ``distill`` (KL divergence from a teacher over the query's own group, plus `contrastive` times
            InfoNCE); ``margin_mse`` (of the teacher's margins, plus the same).
        contrastive: weight of InfoNCE beside a teacher's loss.
        scale: what inner products are multiplied by; None: 20 for vectors of length 1 (temperature 0.05), else 1.
        flops: weight of the FLOPS loss of documents, lexicon only; it rises with the square of the step over `ramp` of the run.
        query_flops: weight of the queries' FLOPS loss, as a share of `flops`.
        ramp: share of the run over which the FLOPS weights rise; 0: they do not.
        token_budget: tokens that go through the encoder at once.
        chunk: tokens whose activations are kept at a time, for batches that memory would not hold (gradient caching: the encoder
            runs twice); None: those of the whole batch.
        lora: rank of low-rank adapters that are trained in place of the weights and merged into them at the end; None: the weights.
        dropout: of the encoder; with one pass over the pairs there is nothing to overfit, and on a CPU dropout is slow.
        seed: of batches and dropout.
        save_every, log_every, bf16, report_to: see `training.Schedule`.
    """

    steps: int | None = None
    epochs: float = 1.0
    queries: int = 24
    hard: int = 3
    learning_rate: float = 2e-5
    warmup: float = 0.05
    weight_decay: float = 0.01
    clip: float = 1.0
    accumulate: int = 1
    loss: Literal["contrastive", "distill", "margin_mse"] = "contrastive"
    contrastive: float = 0.2
    scale: float | None = None
    flops: float = 0.002
    query_flops: float = 0.75
    ramp: float = 0.33
    token_budget: int = 8192
    chunk: int | None = None
    lora: int | None = None
    dropout: float = 0.0
    seed: int = 42
    save_every: int | None = None
    log_every: int | None = None
    bf16: bool | None = None
    report_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class StageOptions(FinetuneOptions):
    """One of several stages, each of which starts again from the pre-trained checkpoint.

    Attributes:
        negatives: who mines them, an even share each: ``bm25``, or a representation. The retriever's own: the model of the stage before
            (in the first stage: the checkpoint itself); another: that retriever's final model, when it comes earlier in the run.
        first, depth: best and worst rank that is sampled.
        per_query: negatives kept for a pair, from which every pass samples `hard`; None: four times `hard`, beside a teacher `hard`.
        absolute_margin, relative_margin: a negative scores at least so much, or such a share of the positive's score, below the positive by the
            same miner (`mined.MiningOptions`); None: no such filter.
        teacher: a cross-encoder, a folder or a hub name: its scores are learned, and with the loss ``contrastive`` it only chooses negatives.
        teacher_margin: a negative's score by the teacher lies at least so much below the positive's, in the teacher's own units before any
            sigmoid; twice as many candidates as are kept are scored for it. None: no such filter.
    """

    negatives: Miners | tuple[Miners, ...] = "bm25"
    first: int = 1
    depth: int = 1000
    per_query: int | None = None
    absolute_margin: float | None = None
    relative_margin: float | None = None
    teacher: str | None = None
    teacher_margin: float | None = None

    @property
    def miners(self) -> tuple[str, ...]:
        """Who mines the negatives."""
        return (self.negatives,) if isinstance(self.negatives, str) else self.negatives
