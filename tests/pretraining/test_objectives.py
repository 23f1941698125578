"""Every objective trains every family, and computes what its slow twin computes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from retrolex.backbones import Spec
from retrolex.errors import UserError
from retrolex.pretraining.dupmae import DupMAE
from retrolex.pretraining.lexmae import LexMAE
from retrolex.pretraining.mlm import MLM
from retrolex.pretraining.objectives import OBJECTIVES, build
from retrolex.pretraining.retromae import RetroMAE

VARIANTS = [
    ("retromae", {}),
    ("retromae", {"decoding": "basic"}),
    ("retromae", {"query_stream": "embedded", "pooling": "mean"}),
    ("dupmae", {}),
    ("dupmae", {"bow_form": "published", "bow_weight": 0.1, "query_stream": "embedded"}),
    ("lexmae", {}),
    ("lexmae", {"bottleneck": "saturated", "heads": "shared", "decoder_layers": 1}),
    ("lexmae", {"bottleneck": "cls", "decoder_mask": "random", "stop_gradient": False}),
    ("lexmae", {"bottleneck": "softmax", "heads": "third", "decoder_mask": "exclusive"}),
    ("lexmae", {"bottleneck": "none"}),
    ("mlm", {}),
]


@pytest.mark.parametrize(
    "name, options", VARIANTS, ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())) or "paper"
)
def test_every_family_learns_by_every_objective(name, options, backbone, maker):
    torch.manual_seed(0)
    objective = build(name, backbone, Spec(document_length=42), options).train()
    batch = maker(objective.decoder_view)(np.arange(6), 0)
    optimizer = torch.optim.AdamW(objective.parameters(), lr=3e-3)
    losses = []
    for _ in range(3):
        results = objective(batch)
        parts = [value for key, value in results.items() if value.ndim == 0 and key != "loss"]
        assert torch.isfinite(results["loss"]) and parts
        optimizer.zero_grad()
        results["loss"].backward()
        assert all(parameter.grad is None or torch.isfinite(parameter.grad).all() for parameter in objective.parameters())
        optimizer.step()
        losses.append(results["loss"].item())
    assert losses[-1] < losses[0]


def cross_entropy(backbone, hidden, labels, head=None):
    head = head or backbone
    logits = head.transform(hidden) @ backbone.vocabulary_weight.t() + head.vocabulary_bias
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)


def slow_attention(layer, query, context, visible):
    """The decoder layer written out head by head."""
    size = query.shape[-1] // layer.heads
    q, k, v = layer.query(query), layer.key(context), layer.value(context)
    parts = []
    for head in range(layer.heads):
        columns = slice(head * size, (head + 1) * size)
        scores = q[..., columns] @ k[..., columns].transpose(1, 2) / size**0.5
        parts.append(scores.masked_fill(~visible, float("-inf")).softmax(-1) @ v[..., columns])
    hidden = layer.attention_norm(layer.output(torch.cat(parts, -1)) + query)
    return layer.norm(layer.contract(layer.activation(layer.expand(hidden))) + hidden)


def test_retromae_is_its_equations(family, tiny, maker):
    backbone = tiny(family)
    objective = RetroMAE(backbone).eval()
    batch = maker("visibility")(np.arange(5), 0)
    hidden = backbone.hidden(batch["encoder_input_ids"], batch["attention_mask"])
    sentence = hidden[:, :1]
    length = hidden.shape[1]
    places = backbone.positions(length)
    embedded = backbone.embed(input_ids=batch["input_ids"])
    if places is None:
        places = objective.places.own[:length]
        embedded = embedded + places
    context = torch.cat([sentence, embedded[:, 1:]], 1)
    decoded = slow_attention(objective.decoder, sentence + places, context, batch["decoder_visible"])
    results = objective(batch)
    torch.testing.assert_close(results["encoder"], cross_entropy(backbone, hidden, batch["encoder_labels"]), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(results["decoder"], cross_entropy(backbone, decoded, batch["decoder_labels"]), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(results["loss"], results["encoder"] + results["decoder"])


def test_lexmae_is_its_equations(family, tiny, maker):
    backbone = tiny(family)
    objective = LexMAE(backbone).eval()
    batch = maker("inclusive")(np.arange(5), 0)
    hidden = backbone.hidden(batch["encoder_input_ids"], batch["attention_mask"])
    logits = backbone.logits(hidden).masked_fill(~batch["text_mask"][..., None], float("-inf"))
    squeezed = logits.amax(1).softmax(-1) @ backbone.word_embeddings.weight
    embedded = objective.places.embed(backbone, batch["decoder_input_ids"])
    stream = torch.cat([squeezed[:, None], embedded[:, 1:]], 1)
    for layer in objective.decoder:
        stream = slow_attention(layer, stream, stream, batch["attention_mask"].bool()[:, None])
    results = objective(batch)
    torch.testing.assert_close(results["sentence"], squeezed, rtol=1e-4, atol=1e-5)
    expected = cross_entropy(backbone, stream, batch["decoder_labels"], objective.decoder_head)
    torch.testing.assert_close(results["decoder"], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", ["paper", "published"])
def test_bag_of_words_is_a_loop_over_the_set_of_tokens(form, tiny, maker):
    backbone = tiny("bert")
    objective = DupMAE(backbone, bow_form=form, bow_weight=1.0).eval()
    batch = maker("visibility")(np.arange(5), 0)
    results = objective(batch)
    hidden = backbone.hidden(batch["encoder_input_ids"], batch["attention_mask"])
    total = 0.0
    for row in range(5):
        text = batch["text_mask"][row]
        pooled = text & (batch["encoder_labels"][row] == -100)
        if form == "published":
            pooled = batch["attention_mask"][row].bool() & (torch.arange(len(text)) > 0)
        terms = backbone.logits(hidden[row])[pooled].amax(0)
        distinct = sorted(set(batch["input_ids"][row][text].tolist()))
        weight = 1 / (len(distinct) if form == "paper" else int(text.sum()))
        total += sum(-weight * F.log_softmax(terms, 0)[token] for token in distinct)
    torch.testing.assert_close(results["bow"], total / 5, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("stop_gradient", [True, False])
@pytest.mark.parametrize("bottleneck", ["softmax", "saturated"])
def test_stop_gradient_keeps_the_bottleneck_from_the_word_embeddings(bottleneck, stop_gradient, tiny, maker):
    backbone = tiny("bert")
    objective = LexMAE(backbone, bottleneck=bottleneck, stop_gradient=stop_gradient).eval()
    # Logits that do not depend on the word embeddings, so that the product a . W is the only way there is to them.
    scores = torch.randn(3, 5, 32, requires_grad=True)
    backbone.model.cls.predictions.decoder.weight = torch.nn.Parameter(backbone.word_embeddings.weight.detach().clone())
    objective.squeeze(scores, scores, torch.ones(3, 5, dtype=torch.bool)).square().sum().backward()
    gradient = backbone.word_embeddings.weight.grad
    assert (gradient is None or not gradient.any()) == stop_gradient
    assert scores.grad.any()


def test_mlm_has_no_decoder(tiny):
    objective = MLM(tiny("bert"))
    assert {name.split(".")[0] for name, _ in objective.named_parameters()} == {"backbone"}


def test_registry_refuses_what_it_does_not_know(tiny):
    backbone = tiny("bert")
    with pytest.raises(UserError, match="no objective"):
        build("bertmae", backbone, Spec(), {})
    with pytest.raises(UserError, match="no option colour"):
        build("retromae", backbone, Spec(), {"colour": "red"})
    assert set(OBJECTIVES) == {"retromae", "dupmae", "lexmae", "mlm"}
    assert build("dupmae", backbone, Spec(pooling="mean"), {}).pooling == "mean"
