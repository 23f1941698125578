"""Lines of runs and judgments as tools and hands write them: what is read all the same, and what is said of the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrolex.errors import UserError
from retrolex.evaluation.runs import read_qrels, read_run


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("line", ["q1 Q0\td1 1 2.5 tag", "q1\tQ0\td1\t1\t2.5\ttag\t", "q1  Q0  d1  1  2.5  tag "])
def test_white_space_of_any_kind_separates_columns(tmp_path, line):
    assert read_run(write(tmp_path / "run", line + "\n")) == {"q1": [("d1", 2.5)]}


@pytest.mark.parametrize("line", ["q1 0\td1 1", "q1\t0\td1\t1\t", "q1\td1\t1", "q1 d1\t1"])
def test_judgments_too(tmp_path, line):
    assert read_qrels(write(tmp_path / "qrels", line + "\n")) == {"q1": {"d1": 1}}


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("run", "q1 Q0 d1 1 nan tag", "the score is 'nan'"),
        ("run", "q1 Q0 d1 1 inf tag", "the score is 'inf'"),
        ("run", "q1\t\t2.5", "an empty id"),
        ("run", "q1 Q0 d1 1", "4 columns: 'q1 Q0 d1 1'"),
        ("run.jsonl", '{"query": "q1"', '{"query": "q1"'),
        ("run.jsonl", '{"query": null, "hits": []}', "null"),
        ("run.jsonl", '{"query": "q1", "hits": [["d1", NaN]]}', "the score of document 'd1' is nan"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_and_where(tmp_path, name, line, words):
    with pytest.raises(UserError) as error:
        read_run(write(tmp_path / name, line + "\n"))
    assert words in str(error.value)
    assert f"{name}:1" in str(error.value)


def test_a_folder_is_not_called_absent(tmp_path):
    with pytest.raises(UserError, match="this is a folder"):
        read_run(tmp_path)


def test_a_damaged_gzip_file_is_one_message(tmp_path):
    import gzip

    whole = bytearray(gzip.compress(b"q1 0 d1 1\n" * 500))
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "qrels.gz").write_bytes(whole)
    with pytest.raises(UserError, match="gzip"):
        read_qrels(tmp_path / "qrels.gz")
