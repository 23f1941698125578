"""Model folders: a Hugging Face masked LM with its tokenizer, read and written."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from retrolex.backbones.base import Backbone
from retrolex.backbones.bert import Bert
from retrolex.backbones.distilbert import DistilBert
from retrolex.backbones.heads import unigram_head
from retrolex.backbones.memory import keep_freed_memory
from retrolex.backbones.modernbert import ModernBert
from retrolex.backbones.roberta import Roberta
from retrolex.backbones.tokenizer_files import save_tokenizer
from retrolex.errors import UserError
from retrolex.starts import PACKAGED, not_installed, packaged_start

FAMILIES: dict[str, type[Backbone]] = {"bert": Bert, "roberta": Roberta, "xlm-roberta": Roberta, "distilbert": DistilBert, "modernbert": ModernBert}
LOADABLE = "name a BERT-like checkpoint folder or hub model, its tokenizer.json included"


def wrap(model: PreTrainedModel) -> Backbone:
    """The adapter for a loaded masked LM.

    Raises:
        UserError: the family has no adapter.
    """
    family = model.config.model_type
    if family not in FAMILIES:
        raise UserError(f"no adapter for models of type {family!r} (known: {', '.join(FAMILIES)})", mend="choose another start")
    return FAMILIES[family](model)


def resolve_start(name: str) -> Path | str:
    """Where a start lies: ``minilm`` is the package of that name, a folder is itself, anything else a hub name.

    Raises:
        UserError: the package is not installed, or the folder is no checkpoint.
    """
    if name in PACKAGED:
        if (place := packaged_start(name)) is None:
            raise not_installed(name, "name a folder or a hub model as init")
        return place
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").exists():
            raise UserError("not a checkpoint: it has no config.json", where=folder, mend="name a folder saved by save_pretrained")
        return folder
    if name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise UserError("no such folder", where=name, mend="name an existing checkpoint folder, or a hub model as organisation/name")
    return name


def load_backbone(start: str | Path, *, unigrams: np.ndarray | None = None) -> tuple[Backbone, PreTrainedTokenizerBase]:
    """Load a masked LM and its tokenizer, in float32 and evaluation mode.

    A checkpoint without a trained LM head gets one (`heads.unigram_head`), and ``backbone.head_is_new`` says so.

    Args:
        start: a folder, ``minilm``, or a hub name.
        unigrams: token counts [V] of the collection, for a new head.

    Raises:
        UserError: nothing loadable there.
    """
    place = resolve_start(str(start))
    keep_freed_memory()
    with quiet():
        try:
            AutoConfig.from_pretrained(place)
            model, report = AutoModelForMaskedLM.from_pretrained(place, output_loading_info=True, dtype="float32")
            tokenizer = AutoTokenizer.from_pretrained(place)
        except (OSError, ValueError, RuntimeError, TypeError, ImportError, SafetensorError) as error:
            # RuntimeError: weights of other sizes than the configuration's. TypeError, ImportError: transformers 4.57, which without
            # a tokenizer.json looks for older files, or for a package that reads them.
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UserError(f"cannot load a masked LM: {first}", where=place, mend=LOADABLE) from None
    backbone = wrap(model)
    missing = set(report["missing_keys"])
    check_whole(place, model, tokenizer, missing)
    dense = backbone.head[0].weight
    if any(parameter is dense and name in missing for name, parameter in model.named_parameters()):
        unigram_head(backbone, unigrams)
    return backbone.eval(), tokenizer


def check_whole(place: Path | str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, missing: set[str]) -> None:
    """Refuse what transformers would fill in at random: an encoder's weights, a vocabulary.

    Raises:
        UserError: weights below the head are missing, the tokenizer has no words, or more than the model has embeddings for.
    """
    mend = "name a folder that holds a whole checkpoint: configuration, weights and tokenizer"
    lost = sorted(name for name in missing if name.startswith(f"{model.base_model_prefix}."))
    if lost:
        raise UserError(f"{len(lost)} weights of the encoder are missing, {lost[0]} for one", where=place, mend=mend)
    words, embeddings = len(tokenizer), model.get_input_embeddings().num_embeddings
    if words <= len(tokenizer.all_special_ids) or words > embeddings:
        raise UserError(f"a tokenizer of {words:,} tokens for a model of {embeddings:,}", where=place, mend=mend)


def save_backbone(backbone: Backbone, tokenizer: PreTrainedTokenizerBase, folder: Path) -> None:
    """Write a folder that ``AutoModelForMaskedLM`` and ``AutoTokenizer`` load, those of transformers 4.57 and of 5."""
    with quiet():
        backbone.model.save_pretrained(folder)
        save_tokenizer(tokenizer, folder)


class quiet:
    """Silence transformers' loading reports: what they warn of (a missing head) is dealt with here."""

    def __enter__(self) -> None:
        from transformers.utils import logging as hub

        self.level, self.bars = hub.get_verbosity(), hub.is_progress_bar_enabled() if hasattr(hub, "is_progress_bar_enabled") else True
        hub.set_verbosity(logging.ERROR)
        hub.disable_progress_bar()

    def __exit__(self, *error: object) -> None:
        from transformers.utils import logging as hub

        hub.set_verbosity(self.level)
        if self.bars:
            hub.enable_progress_bar()
