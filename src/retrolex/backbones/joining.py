"""What stands between a document's title and its text in front of a tokenizer."""

from __future__ import annotations

from typing import Any, Literal

from retrolex.errors import UserError

Join = Literal["space", "separator", "pair"]


def separator(tokenizer: Any, join: Join) -> str:
    """The characters that join title and text.

    The names of special tokens are read as those tokens wherever they stand in a text, so one string joins the two in the token cache, in
    training and in encoding alike.

    Args:
        tokenizer: a Hugging Face tokenizer.
        join: ``space``; ``separator``: the tokenizer's [SEP]; ``pair``: whatever the tokenizer puts between the two texts of a pair, as
            published LexMAE does: [SEP] for BERT, </s></s> for RoBERTa. Both texts have token type 0.

    Raises:
        UserError: the tokenizer has no such token.
    """
    if join == "space":
        return " "
    between = [tokenizer.sep_token_id]
    if join == "pair":
        pair = tokenizer("a", "a")
        sides = pair.sequence_ids(0)
        between = [number for place, number in enumerate(pair["input_ids"]) if sides[place] is None and 1 in sides[place:] and 0 in sides[:place]]
    if not between or None in between:
        name = getattr(tokenizer, "name_or_path", "") or "tokenizer"
        raise UserError("the tokenizer has no token that separates two texts", where=name, mend="join title and text by a space")
    return "".join(tokenizer.convert_ids_to_tokens(between))


def rejoined(text: str, title: str, separator: str) -> str:
    """A text that may begin with its document's title and a space, with the separator in the space's place."""
    title = " ".join(title.split())
    if separator == " " or not title or not text.startswith(f"{title} "):
        return text
    return f"{title}{separator}{text[len(title) + 1 :]}"
