"""Every family of masked LMs through one interface: hidden states, embeddings, logits, a new head, saving."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertForMaskedLM,
    ModernBertConfig,
    ModernBertForMaskedLM,
    RobertaConfig,
    RobertaForMaskedLM,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
)

from retrolex.backbones import load_backbone, read_spec, save_backbone, wrap
from retrolex.backbones.heads import fit_head, unigram_head
from retrolex.errors import UserError

SIZES = {"vocab_size": 90, "num_hidden_layers": 1, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "pad_token_id": 1}
DISTIL = {"vocab_size": 90, "n_layers": 1, "dim": 32, "n_heads": 2, "hidden_dim": 64, "pad_token_id": 1}
MODERN = SIZES | {"bos_token_id": 2, "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3}
FAMILIES = {
    "bert": lambda: BertForMaskedLM(BertConfig(**SIZES)),
    "roberta": lambda: RobertaForMaskedLM(RobertaConfig(**SIZES)),
    "xlm-roberta": lambda: XLMRobertaForMaskedLM(XLMRobertaConfig(**SIZES)),
    "distilbert": lambda: DistilBertForMaskedLM(DistilBertConfig(**DISTIL)),
    "modernbert": lambda: ModernBertForMaskedLM(ModernBertConfig(**MODERN)),
}


@pytest.fixture(params=list(FAMILIES))
def model(request):
    torch.manual_seed(0)
    return FAMILIES[request.param]().eval()


def test_the_parts_put_together_are_the_model(model):
    backbone = wrap(model)
    ids = torch.randint(5, 90, (2, 7))
    mask = torch.tensor([[1] * 7, [1] * 5 + [0] * 2])
    hidden = backbone.hidden(ids, mask)
    assert hidden.shape == (2, 7, backbone.hidden_size)
    torch.testing.assert_close(backbone.logits(hidden), model(input_ids=ids, attention_mask=mask).logits)
    assert backbone.vocabulary_weight is backbone.word_embeddings.weight
    assert backbone.vocabulary_bias.shape == (backbone.vocabulary_size,) == (90,)


def test_hidden_states_at_places_are_those_of_all_positions(model):
    backbone = wrap(model)
    ids, mask = torch.randint(5, 90, (2, 7)), torch.tensor([[1] * 7, [1] * 5 + [0] * 2])
    places = torch.tensor([0, 7, 3, 11])
    full, some = backbone.hidden(ids, mask), backbone.hidden_at(places, ids, mask)
    torch.testing.assert_close(some, full.flatten(0, 1)[places])
    assert torch.equal(backbone.hidden(ids, mask), full)  # and the model is as it was
    parameter = next(iter(model.base_model.parameters()))
    gradients = [torch.autograd.grad(states.square().sum(), parameter)[0] for states in (some, full.flatten(0, 1)[places])]
    torch.testing.assert_close(*gradients)


def test_embeddings_by_id_and_by_vector_agree(model):
    backbone = wrap(model)
    ids = torch.randint(5, 90, (2, 7))
    torch.testing.assert_close(backbone.embed(ids), backbone.embed(inputs_embeds=backbone.word_embeddings(ids)))


def test_positions_are_those_that_the_embedding_layer_adds(model):
    backbone = wrap(model)
    positions = backbone.positions(7)
    if positions is None:  # rotary
        return
    ids = torch.randint(5, 90, (1, 7))
    word = backbone.word_embeddings(ids) + positions
    kinds = getattr(backbone.embeddings, "token_type_embeddings", None)
    word = word + kinds.weight[0] if kinds is not None else word
    torch.testing.assert_close(backbone.embeddings.LayerNorm(word), backbone.embed(ids))


def test_a_unigram_head_starts_at_the_unigram_cross_entropy(model):
    backbone = wrap(model)
    counts = np.arange(90) + 1.0
    unigram_head(backbone, counts)
    ids = torch.from_numpy(np.random.default_rng(0).choice(90, (8, 32), p=counts / counts.sum()))
    logits = backbone.logits(backbone.hidden(ids, torch.ones_like(ids)))
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten()).item()
    probabilities = counts / counts.sum()
    entropy = -(probabilities * np.log(probabilities)).sum()
    assert entropy - 0.5 < loss < entropy + 0.1  # the words are visible, so a little may be read off them


def test_a_fitted_head_reads_words_off_the_hidden_states(tiny_model_folder):
    backbone, tokenizer = load_backbone(tiny_model_folder)
    texts = ["the river floods the plain", "bread rises with yeast", "a wing carries the load"] * 20
    counts = np.bincount([i for row in tokenizer(texts)["input_ids"] for i in row], minlength=backbone.vocabulary_size)
    unigram_head(backbone, counts)
    fit_head(backbone, tokenizer, texts, counts)
    ids = tokenizer(texts[:3], padding=True, return_tensors="pt")["input_ids"]
    mask = (ids != tokenizer.pad_token_id).long()
    read = backbone.logits(backbone.hidden(ids, mask)).argmax(-1)
    assert (read == ids)[mask.bool()].float().mean() > 0.5  # one of 257 words


def test_a_checkpoint_without_a_head_gets_one_and_survives_saving(tmp_path, tiny_model_folder):
    full, tokenizer = load_backbone(tiny_model_folder)
    assert not full.head_is_new
    headless = BertModel(full.config, add_pooling_layer=False)
    headless.load_state_dict(full.model.bert.state_dict())
    headless.save_pretrained(tmp_path / "headless")
    tokenizer.save_pretrained(tmp_path / "headless")
    backbone, _ = load_backbone(tmp_path / "headless")
    assert backbone.head_is_new
    save_backbone(backbone, tokenizer, tmp_path / "saved")
    again, _ = load_backbone(tmp_path / "saved")
    assert not again.head_is_new
    ids = torch.randint(5, backbone.vocabulary_size, (2, 7))
    mask = torch.ones_like(ids)
    torch.testing.assert_close(again.logits(again.hidden(ids, mask)), backbone.logits(backbone.hidden(ids, mask)))


def test_unknown_places_and_families_are_refused(tmp_path):
    with pytest.raises(UserError, match="no such folder"):
        load_backbone(str(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"config\.json"):
        load_backbone(tmp_path / "empty")


def test_what_a_sentence_transformers_folder_says_of_its_pooling(tmp_path):
    (tmp_path / "1_Pooling").mkdir()
    module = '{"idx": %d, "name": "%d", "path": "%s", "type": "sentence_transformers.models.%s"}'
    parts = [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")]
    modules = ", ".join(module % (i, i, path, kind) for i, (path, kind) in enumerate(parts))
    (tmp_path / "modules.json").write_text(f"[{modules}]", encoding="utf-8")
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 77}', encoding="utf-8")
    pooling = tmp_path / "1_Pooling" / "config.json"
    pooling.write_text('{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true, "include_prompt": true}', encoding="utf-8")
    spec = read_spec(tmp_path)
    assert (spec.pooling, spec.normalize, spec.document_length) == ("mean", True, 77)
    pooling.write_text('{"pooling_mode": "cls"}', encoding="utf-8")
    assert read_spec(tmp_path).pooling == "cls"
    pooling.write_text('{"pooling_mode_max_tokens": true}', encoding="utf-8")
    with pytest.raises(UserError, match="pooling"):
        read_spec(tmp_path)


def test_a_damaged_or_partial_checkpoint_is_refused(tiny_model_folder, tmp_path):
    from safetensors.torch import load_file, save_file

    def copy(name):
        return Path(shutil.copytree(tiny_model_folder, tmp_path / name))

    cut = copy("cut") / "model.safetensors"
    cut.write_bytes(cut.read_bytes()[:1000])
    weights = load_file(copy("partial") / "model.safetensors")
    save_file({name: value for name, value in weights.items() if "layer.1" not in name}, tmp_path / "partial" / "model.safetensors")
    wide = copy("wide") / "config.json"
    wide.write_text(wide.read_text(encoding="utf-8").replace('"hidden_size": 32', '"hidden_size": 64'), encoding="utf-8")
    for path in copy("wordless").glob("*token*"):
        path.unlink()
    decoder = copy("decoder") / "config.json"
    decoder.write_text('{"model_type": "gpt2", "n_layer": 2, "n_head": 2, "n_embd": 32}', encoding="utf-8")
    wordless = "tokenizer of|cannot load"  # transformers 5 makes a tokenizer without words, 4.57 none
    for name, words in {"cut": "cannot load", "partial": "are missing", "wide": "cannot load", "wordless": wordless, "decoder": "GPT2"}.items():
        with pytest.raises(UserError, match=words):
            load_backbone(tmp_path / name)
