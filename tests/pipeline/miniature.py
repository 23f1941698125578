"""MS MARCO and BEIR in miniature: a few dozen rows in files of the same names and layout, for recipes that need the real ones."""

from __future__ import annotations

from pathlib import Path

from tests.pipeline.small import OBJECTS, SUBJECTS, VERBS, write_collection

TRAIN, DEV, JUDGED = range(0, 40), range(40, 48), range(48, 56)  # documents that the queries of each split are about


def passages() -> list[tuple[str, str]]:
    """Title and text of 56 passages."""
    pairs = [(subject, verb, thing) for subject, verb in zip(SUBJECTS, VERBS, strict=True) for thing in OBJECTS]
    return [(f"{subject} and {thing}", f"The {subject} {verb} {thing}. Over time the {subject} changes slowly.") for subject, verb, thing in pairs]


def question(i: int) -> str:
    """The query that passage `i` answers."""
    return f"what about {passages()[i][0]}"


def write(path: Path, rows: list[tuple], separator: str = "\t") -> None:
    path.write_text("".join(separator.join(map(str, row)) + "\n" for row in rows), encoding="utf-8", newline="\n")


def write_passages(folder: Path) -> Path:
    """The passage collection with its training, dev and TREC DL files, and the training triples that lie beside them."""
    folder.mkdir(parents=True)
    write(folder / "collection.tsv", [(i, text) for i, (_, text) in enumerate(passages())])
    for split, rows in (("train", TRAIN), ("dev.small", DEV)):
        write(folder / f"queries.{split}.tsv", [(1000 + i, question(i)) for i in rows])
        write(folder / f"qrels.{split}.tsv", [(1000 + i, 0, i, 1) for i in rows])
    for year, rows in ((2019, JUDGED[:4]), (2020, JUDGED[4:])):
        write(folder / f"msmarco-test{year}-queries.tsv", [(1000 + i, question(i)) for i in rows])
        write(folder / f"{year}qrels-pass.txt", [row for i in rows for row in ((1000 + i, "Q0", i, 3), (1000 + i, "Q0", i - 1, 1))], " ")
    write(folder / "qidpidtriples.train.full.2.tsv", [(1000 + i, i, (i + 7) % 56) for i in TRAIN])
    return folder


def write_documents(folder: Path) -> Path:
    """The document collection with its training, dev and TREC DL files."""
    folder.mkdir(parents=True)
    write(folder / "msmarco-docs.tsv", [(f"D{i}", f"http://example.org/{i}", title, text) for i, (title, text) in enumerate(passages())])
    for split, rows in (("doctrain", TRAIN), ("docdev", DEV)):
        write(folder / f"msmarco-{split}-queries.tsv", [(1000 + i, question(i)) for i in rows])
        write(folder / f"msmarco-{split}-qrels.tsv", [(1000 + i, 0, f"D{i}", 1) for i in rows], " ")
    write(folder / "msmarco-test2019-queries.tsv", [(1000 + i, question(i)) for i in JUDGED])
    write(folder / "2019qrels-docs.txt", [(1000 + i, "Q0", f"D{i}", 2) for i in JUDGED], " ")
    return folder


def write_beir(folder: Path, names: list[str]) -> None:
    """Collections in BEIR's layout."""
    folder.mkdir(parents=True)
    for name in names:
        write_collection(folder / name)
