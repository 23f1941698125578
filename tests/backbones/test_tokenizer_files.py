"""Model folders are read by transformers 4.57 and 5: their tokenizers are named in words that both know."""

from __future__ import annotations

import json

from transformers import AutoTokenizer, PreTrainedTokenizerFast

from retrolex.backbones import load_backbone, save_backbone
from retrolex.backbones.tokenizer_files import FILE


def test_a_saved_model_names_what_both_versions_know(tiny_model_folder, tmp_path):
    backbone, read = load_backbone(tiny_model_folder)
    marks = {name: getattr(read, name) for name in ("cls_token", "sep_token", "pad_token", "mask_token", "unk_token")}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=read.backend_tokenizer, additional_special_tokens=["[TITLE]"], **marks)
    save_backbone(backbone, tokenizer, tmp_path)
    stated = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    assert stated["tokenizer_class"] == "PreTrainedTokenizerFast"  # TokenizersBackend is unknown to 4.57
    assert stated["additional_special_tokens"] == ["[TITLE]"]
    assert not isinstance(stated.get("extra_special_tokens"), list)  # 4.57 wants a mapping there
    again = AutoTokenizer.from_pretrained(tmp_path)
    text = "[TITLE] The wing of an aircraft."
    assert again(text)["input_ids"] == tokenizer(text)["input_ids"]
    assert again.convert_tokens_to_ids("[TITLE]") in again.all_special_ids
