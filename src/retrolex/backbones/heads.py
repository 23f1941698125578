"""A language-model head for checkpoints that come without one, such as sentence encoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from retrolex.backbones.base import Backbone
from retrolex.progress import track

BATCH, HEAD_LENGTH = 16, 128  # texts at a time, tokens of a text that are used
MASKED = 0.15
HEAD_CHECK, TEXTS_CHECKED = 500, 64  # tokens (of either kind) that a scale is chosen on, texts that the number of terms is
TERMS = 96
RIDGE = 1e-3
SHIFT = 5.0  # GELU(x) = x there but for values five deviations below the mean; more would cost bfloat16 its digits
GAINS = (0.5, 0.7, 1.0, 1.4)


@torch.no_grad()
def unigram_head(backbone: Backbone, unigrams: np.ndarray | None) -> None:
    """Make the head predict the unigram distribution: identity transform, small LayerNorm, log frequencies as bias.

    With the LayerNorm's weight at 0.3 the words' own scores only tilt the unigram prediction, so that training starts
    at the unigram cross-entropy instead of far above the uniform one.

    Args:
        backbone: its head's parameters are overwritten.
        unigrams: how often each vocabulary entry occurs in the collection [V]; None leaves the bias flat.
    """
    dense, _, norm = backbone.head
    torch.nn.init.eye_(dense.weight)
    norm.weight.fill_(0.3)
    for bias in (dense.bias, norm.bias):
        if bias is not None:
            bias.zero_()
    counts = np.ones(backbone.vocabulary_size) if unigrams is None else np.asarray(unigrams, dtype=np.float64) + 0.1  # unseen words stay possible
    backbone.vocabulary_bias.copy_(torch.from_numpy(np.log(counts / counts.sum())).float())
    backbone.head_is_new = True


@torch.no_grad()
def fit_head(backbone: Backbone, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], unigrams: np.ndarray) -> dict[str, Any]:
    """Make the head recover each token's own word from its last hidden state, in closed form (weighted ridge regression).

    The hidden states h of a sentence encoder still hold the words they come from: a linear map A with LayerNorm(A h) . w
    large for the right word embedding w is found from a sample of tokens in seconds, where training the head by gradient
    takes thousands of steps. Three things make it fit the head's form:

    - The activation stands in the way of a linear map, so the map is shifted to where the activation (GELU and its like)
      is the identity; the LayerNorm that follows takes the shift out again.
    - Frequent words are weighted down by the square root of their frequency. The LayerNorm's weight is then chosen by
      cross-entropy on tokens left out of the fit, masked and visible ones in equal parts.
    - The bias is flat: log unigram frequencies predict masked words better, but lift frequent words, the reverse of what
      retrieval wants (measured on 2,000 documents without any training: nDCG@10 .14 with them, .22 without; BM25 .29).
    - A constant on the bias changes no prediction, but decides how many terms a lexicon vector has: it is chosen so that
      a text starts with about `TERMS`.

    Args:
        backbone: with a new head (`unigram_head`); a family whose head has no bias keeps that.
        texts: a sample of the collection.
        unigrams: how often each vocabulary entry occurs in the collection [V].

    Returns:
        Cross-entropy on the left-out tokens before and after, and what was chosen.
    """
    dense = backbone.head[0]
    if dense.bias is None:
        return {}
    states = [state for state in hidden_states(backbone, tokenizer, texts) if len(state[1])]
    hidden, word, masked = (torch.cat(parts) for parts in zip(*states, strict=True))
    fitted = torch.arange(len(word)) % 10 != 0
    targets = backbone.vocabulary_weight - backbone.vocabulary_weight.mean(0)
    weights = torch.from_numpy(1 / np.sqrt(unigrams + 1.0)).float()[word]
    inputs = torch.cat([hidden, torch.ones(len(hidden), 1)], 1)
    weighted = (inputs * weights[:, None])[fitted]
    penalty = RIDGE * weights[fitted].sum() * torch.eye(inputs.shape[1])
    products = weighted.T @ inputs[fitted] + penalty, weighted.T @ targets[word[fitted]]
    solution = torch.linalg.solve(*(product.double() for product in products)).float()
    left_out = [(hidden[chosen][:HEAD_CHECK], word[chosen][:HEAD_CHECK]) for chosen in (~fitted & masked, ~fitted & ~masked)]
    before = cross_entropy(backbone, left_out)
    scale = 1 / (inputs @ solution).std()
    dense.weight.copy_(solution[:-1].T * scale)
    dense.bias.copy_(solution[-1] * scale + SHIFT)
    backbone.vocabulary_bias.zero_()
    after, gain = min((at_scale(backbone, gain, left_out), gain) for gain in GAINS)
    at_scale(backbone, gain, left_out)
    level_terms(backbone, [state for state, _, _ in states])
    return {"loss_before": round(before, 3), "loss_after": round(after, 3), "gain": gain}


def level_terms(backbone: Backbone, states: Sequence[Tensor]) -> None:
    """Shift the bias so that texts with these last hidden states [n, H] have about TERMS terms each."""
    terms = min(TERMS, backbone.vocabulary_size // 2)
    strongest = [backbone.logits(state).amax(0).topk(terms).values[-1] for state in states[:TEXTS_CHECKED]]
    backbone.vocabulary_bias.sub_(torch.stack(strongest).mean())


@torch.no_grad()
def blank_head(backbone: Backbone, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], unigrams: np.ndarray) -> None:
    """A head for a random encoder, whose hidden states hold no words yet: `unigram_head`, shifted so that lexicon vectors are not empty.

    Args:
        backbone: its head's parameters are overwritten.
        texts: a sample of the collection.
        unigrams: how often each vocabulary entry occurs in the collection [V].
    """
    unigram_head(backbone, unigrams)
    states = hidden_states(backbone, tokenizer, texts[:TEXTS_CHECKED])
    level_terms(backbone, [hidden for hidden, _, _ in states if len(hidden)])


def hidden_states(backbone: Backbone, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Last hidden states [n, H], ids [n] and whether it was masked [n] of each text's tokens, specials left out."""
    generator = torch.Generator().manual_seed(0)
    longest = min(HEAD_LENGTH, tokenizer.model_max_length)
    for start in track(range(0, len(texts), BATCH), "Fitting the LM head"):
        batch = tokenizer(list(texts[start : start + BATCH]), truncation=True, max_length=longest, padding=True, return_tensors="pt")
        ids, attended = batch["input_ids"], batch["attention_mask"].bool()
        masked = torch.rand(ids.shape, generator=generator) < MASKED
        hidden = backbone.hidden(ids.masked_fill(masked, tokenizer.mask_token_id), batch["attention_mask"])
        for row in range(len(ids)):
            yield tuple(part[row][attended[row]][1:-1] for part in (hidden, ids, masked))


def at_scale(backbone: Backbone, gain: float, checks: Sequence[tuple[Tensor, Tensor]]) -> float:
    """Set the LayerNorm's weight; returns the cross-entropy."""
    backbone.head[2].weight.fill_(gain)
    return cross_entropy(backbone, checks)


def cross_entropy(backbone: Backbone, checks: Sequence[tuple[Tensor, Tensor]]) -> float:
    """Mean of the averages over masked and over visible tokens."""
    losses = [float(torch.nn.functional.cross_entropy(backbone.logits(hidden), word)) for hidden, word in checks if len(word)]
    return sum(losses) / len(losses)
