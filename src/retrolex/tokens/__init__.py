"""Text tokenised once, cut into chunks, and masked at random: what every training stage reads."""

from retrolex.tokens.cache import Tokens
from retrolex.tokens.chunks import Chunks, chunk
from retrolex.tokens.vocabulary import Vocabulary
from retrolex.tokens.windows import windows
from retrolex.tokens.writing import tokenize, tokenizer_hash

__all__ = ["Chunks", "Tokens", "Vocabulary", "chunk", "tokenize", "tokenizer_hash", "windows"]
