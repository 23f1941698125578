"""The model card: what the model is, how to use it, and what was measured."""

from __future__ import annotations

from retrolex import __version__
from retrolex.export.source import Source

KIND = {"dense": "Dense retriever: one vector a text.", "lexicon": "Lexicon retriever: weighted vocabulary terms."}
TAGS = {"dense": ["sentence-transformers", "sentence-similarity"], "lexicon": ["sentence-transformers", "sparse-encoder", "sparse"]}


def model_card(source: Source, usage: str) -> str:
    """A README.md with the front matter that model hubs read.

    Args:
        source: the model.
        usage: Python that loads the exported folder.
    """
    spec = source.spec
    tags = "\n".join(f"- {tag}" for tag in [*TAGS[spec.representation], "retrolex"])
    prefixes = f"Queries are prefixed with {spec.query_prefix!r}, documents with {spec.document_prefix!r}. " if spec.query_prefix else ""
    pooling = f"Pooling: {spec.pooling}{', vectors of length 1' if spec.normalize else ''}. " if spec.representation == "dense" else ""
    measured = f"\n## Measured\n\n{source.figures.strip()}\n" if source.figures else "\nNothing was measured with this model by retrolex.\n"
    return f"""---
library_name: sentence-transformers
pipeline_tag: {"sentence-similarity" if spec.representation == "dense" else "feature-extraction"}
tags:
{tags}
---

# {source.run.name if source.run else source.model.name}, {spec.representation}

{KIND[spec.representation]} Trained with retrolex {__version__} (last objective: {spec.objective}). {pooling}{prefixes}Documents were read up to
{spec.document_length} tokens, queries up to {spec.query_length}, special tokens included.

## Use

```python
{usage.strip()}
```
{measured}"""
