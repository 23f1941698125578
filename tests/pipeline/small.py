"""A collection of a few dozen documents, and a recipe that runs over it in seconds."""

from __future__ import annotations

import json
from pathlib import Path

from retrolex.pipeline.recipe import Recipe, make_recipe

SUBJECTS = ["wing", "river", "bread", "hash table", "vitamin", "climate", "file", "number"]
VERBS = ["carries", "floods", "needs", "maps", "strengthens", "warms", "holds", "rounds"]
OBJECTS = [
    "the load of an aircraft",
    "the plain in spring",
    "yeast and sugar",
    "keys to values",
    "bones in old age",
    "the air with carbon",
    "lines of text",
]


def write_collection(folder: Path) -> Path:
    """A BEIR folder of 56 documents and 8 judged queries, with a test and a dev split."""
    folder.mkdir()
    rows, queries, judged = [], [], []
    for i, subject in enumerate(SUBJECTS):
        for j, thing in enumerate(OBJECTS):
            text = (
                f"The {subject} {VERBS[(i + j) % 8]} {thing}. In steady flow the {subject} changes slowly over time. Number {i * 7 + j} of the list."
            )
            rows.append({"_id": f"d{i * 7 + j}", "title": f"{subject} and {thing}", "text": text})
        queries.append({"_id": f"q{i}", "text": f"what does the {subject} do with {OBJECTS[i % 7]}"})
        judged.append((f"q{i}", f"d{i * 7 + i % 7}", 1))
    for name, lines in (("corpus", rows), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (folder / "qrels").mkdir()
    for split, part in (("test", judged[:5]), ("dev", judged[5:])):
        lines = "".join(f"{query}\t{document}\t{grade}\n" for query, document, grade in part)
        (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + lines, encoding="utf-8")
    return folder


def small_recipe(source: Path, model: Path, output: Path, *overrides: str) -> Recipe:
    """Both retrievers from the tiny model, a few steps each."""
    training = [
        f"{name}.{key}={value}"
        for name in ("dense", "lexicon")
        for key, value in {
            "init": model,
            "document_length": 48,
            "pretrain.steps": 6,
            "pretrain.tokens_per_batch": 512,
            "pretrain.probe_every": 3,
            "pretrain.save_every": 2,
            "finetune.steps": 6,
            "finetune.queries": 4,
            "finetune.save_every": 2,
        }.items()
    ]
    return make_recipe({"collection": {"source": str(source)}, "output": str(output)}, [*training, "search.depth=20", *overrides])


def write_cross_encoder(model: Path, folder: Path) -> Path:
    """A random cross-encoder of a model's size, with its tokenizer."""
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    BertForSequenceClassification(BertConfig.from_pretrained(model, num_labels=1)).save_pretrained(folder)
    AutoTokenizer.from_pretrained(model).save_pretrained(folder)
    return folder
