"""Text to vectors."""

from retrolex.encoding.encoder import Encoder

__all__ = ["Encoder"]
