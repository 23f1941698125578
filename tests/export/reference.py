"""What an exported model has to give: our own vectors in float32, one text at a time."""

from __future__ import annotations

import numpy as np
import torch

from retrolex.backbones import load_backbone
from retrolex.backbones.representations import pool
from retrolex.export.source import Source


@torch.no_grad()
def vectors(source: Source, texts: list[str], specials: bool = False) -> np.ndarray:
    """The slow twin: full logits, no batches. With `specials`, lexicon weights are taken over [CLS] and [SEP] too."""
    backbone, tokenizer = load_backbone(source.model)
    backbone.float().eval()
    rows = []
    for text in texts:
        ids = torch.tensor([tokenizer(text, truncation=True, max_length=source.spec.document_length)["input_ids"]])
        hidden = backbone.hidden(ids, torch.ones_like(ids))
        if source.spec.representation == "dense":
            rows.append(torch.nn.functional.normalize(pool(hidden, torch.ones_like(ids), source.spec.pooling), dim=-1)[0])
            continue
        logits = backbone.transform(hidden)[0] @ backbone.vocabulary_weight.T + backbone.vocabulary_bias
        kept = logits if specials else logits[[i for i, id in enumerate(ids[0].tolist()) if id not in tokenizer.all_special_ids]]
        rows.append(torch.log1p(torch.relu(kept)).amax(0) if len(kept) else torch.zeros(logits.shape[-1]))
    return torch.stack(rows).numpy()
