"""Text tokenised once, cut into chunks, and masked at random: what every training stage reads."""

from retrolex.tokens.cache import Tokens, tokenize
from retrolex.tokens.chunks import Chunks, chunk
from retrolex.tokens.vocabulary import Vocabulary

__all__ = ["Chunks", "Tokens", "Vocabulary", "chunk", "tokenize"]
