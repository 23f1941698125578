"""A header is told from a judgment and from a mistake, exactly."""

from __future__ import annotations

import pytest

from retrolex.collection.readers.qrels import is_header, read_qrels
from retrolex.collection.readers.records import Found
from retrolex.errors import UserError

HEADERS = ["query-id\tcorpus-id\tscore", "qid 0 docid rel", "topic\titer\tdocno\trelevance", "Query_ID\tCorpus_ID\tLabel", "query\tdocument\tgrade"]
MISTAKES = ["q1\td1\thigh", "q1\td1\tscore", "q1\td1\t", "query-id\tcorpus-id\tcomment", "corpus-id\tquery-id\tscore", "a header", "q1\td1\t0.5"]


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_is_passed_over_in_the_first_line_only(write, header):
    assert [record.item for record in read_qrels(write("a.tsv", f"{header}\nq1\td1\t1\n"), "test") if isinstance(record, Found)] == [
        ("test", "q1", "d1", 1)
    ]
    with pytest.raises(UserError, match=r"a\.tsv:2: "):
        list(read_qrels(write("a.tsv", f"q1\td1\t1\n{header}\n"), "test"))


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_in_the_first_line_is_no_header(write, line):
    assert not is_header(line.split("\t"))
    with pytest.raises(UserError, match=r"a\.tsv:1: "):
        list(read_qrels(write("a.tsv", f"{line}\nq1\td2\t1\n"), "test"))


def test_numbers_are_never_a_header(write):
    assert len(list(read_qrels(write("a.tsv", "query\tdocument\t1\nq1\td1\t0\n"), "test"))) == 2
