"""Run files and judgments: what comes back, what other tools write, and what is refused with file and line."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrolex.errors import UserError
from retrolex.evaluation.runs import read_qrels, read_run, write_run

finite = st.floats(allow_nan=False, allow_infinity=False)


def sorted_run(run):
    return {query: sorted(hits, key=lambda hit: -hit[1]) for query, hits in run.items()}


def write(path, text):
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text("aé9-_.", min_size=1),
        st.lists(st.tuples(st.text("bü:/", min_size=1), finite), min_size=1, max_size=5, unique_by=lambda hit: hit[0]),
        max_size=4,
    )
)
def test_trec_round_trip_to_the_last_bit(tmp_path_factory, run):
    path, run = tmp_path_factory.mktemp("runs") / "run.trec", sorted_run(run)
    write_run(path, run)
    assert read_run(path) == run
    assert list(read_run(path)) == list(run)


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.lists(st.tuples(st.text(), finite), max_size=5, unique_by=lambda hit: hit[0]), max_size=4))
def test_jsonl_carries_any_id(tmp_path_factory, run):
    path, run = tmp_path_factory.mktemp("runs") / "run.jsonl", sorted_run(run)
    write_run(path, run)
    assert read_run(path) == run


def test_a_trec_line_looks_as_trec_eval_wants_it(tmp_path):
    write_run(tmp_path / "run.txt", {"q1": [("d7", 2.5), ("d3", 1)]}, tag="mine")
    assert (tmp_path / "run.txt").read_text() == "q1 Q0 d7 1 2.5 mine\nq1 Q0 d3 2 1.0 mine\n"


def test_other_readers_take_what_is_written(tmp_path):
    ir_measures, pytrec_eval = pytest.importorskip("ir_measures"), pytest.importorskip("pytrec_eval")
    run = {"1": [("d7", 1 / 3), ("ä", 1e-9)], "2": [("d7", -2.5)]}
    write_run(tmp_path / "run.trec", run)
    with open(tmp_path / "run.trec", encoding="utf-8") as file:
        assert pytrec_eval.parse_run(file) == {query: dict(hits) for query, hits in run.items()}
    theirs = [(hit.query_id, hit.doc_id, hit.score) for hit in ir_measures.read_trec_run(str(tmp_path / "run.trec"))]
    assert theirs == [(query, *hit) for query, hits in run.items() for hit in hits]


def test_equal_scores_keep_the_order_of_the_file(tmp_path):
    path = write(tmp_path / "run", "q Q0 b 1 1.0 t\nq Q0 c 3 2.0 t\nq Q0 a 2 1.0 t\n")
    assert read_run(path) == {"q": [("c", 2.0), ("b", 1.0), ("a", 1.0)]}


@pytest.mark.parametrize(
    "text",
    [
        "q1 Q0 d7 1 2.5 Anserini\nq1 Q0 d3 2 1.5 Anserini\n",
        "q1 0 d7 1 2.5 x\nq1 0 d3 2 1.5 x\n",  # a run is a TREC run whatever stands in the second column
        "q1 q0 d7 1 2.5 x\r\nq1 q0 d3 2 1.5 x\r\n",
        "q1\tQ0\td7\t0\t2.5\tpyterrier\nq1\tQ0\td3\t1\t1.5\tpyterrier\n",
        "q1\td7\t2.5\nq1\td3\t1.5\n",  # Tevatron
        '\n{"query": "q1", "hits": [["d3", 1.5], ["d7", 2.5]]}\n',
        "\ufeffq1 Q0 d7 1 25e-1 x\nq1 Q0 d3 2 1.5 x\n",
    ],
)
def test_what_other_tools_write(tmp_path, text):
    assert read_run(write(tmp_path / "run", text)) == {"q1": [("d7", 2.5), ("d3", 1.5)]}


def test_gzipped_runs(tmp_path):
    (tmp_path / "run.res.gz").write_bytes(gzip.compress(b"q1 Q0 d7 0 2.5 x\n"))
    assert read_run(tmp_path / "run.res.gz") == {"q1": [("d7", 2.5)]}


def test_msmarco_ranks_and_tevatron_scores(tmp_path):
    ranks = write(tmp_path / "ranks", "1\t10\t1\n1\t20\t2\n2\t30\t1\n")
    assert read_run(ranks) == {"1": [("10", 1.0), ("20", 0.5)], "2": [("30", 1.0)]}
    shuffled = write(tmp_path / "shuffled", "2\t30\t1\n1\t20\t3\n1\t40\t1\n1\t10\t2\n")
    assert read_run(shuffled) == {"1": [("40", 1.0), ("10", 0.5), ("20", 1 / 3)], "2": [("30", 1.0)]}
    scores = write(tmp_path / "scores", "1\t10\t2\n1\t20\t1\n")
    assert read_run(scores) == {"1": [("10", 2.0), ("20", 1.0)]}
    assert read_run(scores, "msmarco") == {"1": [("20", 1.0), ("10", 0.5)]}
    assert read_run(ranks, "tevatron") == {"1": [("20", 2.0), ("10", 1.0)], "2": [("30", 1.0)]}


def test_ranks_that_count_from_zero(tmp_path):  # PyTerrier's minimal format; read as scores, the worst would come first
    ranks = write(tmp_path / "ranks", "1\t10\t0\n1\t20\t1\n2\t30\t0\n")
    assert read_run(ranks) == read_run(ranks, "msmarco") == {"1": [("10", 1.0), ("20", 0.5)], "2": [("30", 1.0)]}


def test_an_empty_file_is_an_empty_run(tmp_path):
    assert read_run(write(tmp_path / "run", "")) == {}


@pytest.mark.parametrize(
    ("text", "line", "complaint"),
    [
        ("q Q0 d 1 2.0 t\nq Q0 d2 2 high t\n", 2, "trec run"),
        ("q Q0 d 1 2.0 t\nq Q0 my doc 2 1.0 t\n", 2, "trec run"),
        ("q Q0 d 1 nan t\n", 1, "trec run"),
        ("q Q0 d 1 2.0 t\n\nq Q0 d 2 1.0 t\n", 3, "'d' twice"),
        ("q d\n", 1, "6 columns"),
        ("q\td\tx\n", 1, "tevatron run"),
        ('{"query": "q", "hits": [["d", 1.0]]}\n{"query": "q2"}\n', 2, "jsonl run"),
        ('{"query": "q", "hits": [["d", NaN]]}\n', 1, "jsonl run"),
        ('{"query": "q", "hits": [["d", 1.0]]\n', 1, "jsonl run"),
    ],
)
def test_bad_runs_name_file_and_line(tmp_path, text, line, complaint):
    path = write(tmp_path / "bad.run", text)
    with pytest.raises(UserError) as refusal:
        read_run(path)
    assert f"bad.run:{line}" in str(refusal.value) and complaint in str(refusal.value)


def test_not_text_and_not_there(tmp_path):
    (tmp_path / "latin").write_bytes(b"q Q0 d 1 2.0 t\nq Q0 caf\xe9 2 1.0 t\n")
    with pytest.raises(UserError, match="UTF-8"):
        read_run(tmp_path / "latin")
    with pytest.raises(UserError, match="no such file"):
        read_run(tmp_path / "absent")
    with pytest.raises(UserError, match="msmarco run"):
        read_run(write(tmp_path / "below", "1\t10\t-1\n"), "msmarco")
    with pytest.raises(UserError, match="half:2"):
        read_run(write(tmp_path / "half", "1\t10\t1\n1\t11\t1.5\n"), "msmarco")


@pytest.mark.parametrize("document", ["doc 1", "", "a\tb", "a\nb", " a", "a\u00a0b"])
def test_ids_that_trec_cannot_carry_are_refused_and_nothing_is_left(tmp_path, document):
    with pytest.raises(UserError, match=r"run\.jsonl"):
        write_run(tmp_path / "run.trec", {"q": [(document, 1.0)]})
    assert list(tmp_path.iterdir()) == []


def test_scores_that_are_no_numbers_are_not_written(tmp_path):
    with pytest.raises(UserError, match="finite"):
        write_run(tmp_path / "run.jsonl", {"q": [("d", float("inf"))]})


@pytest.mark.parametrize(
    "text",
    [
        "query-id\tcorpus-id\tscore\nq\td 1\t2\nq\te\t-1\n",
        "q\td 1\t2\nq\te\t-1\n",
        "q\t0\td 1\t2\nq\t0\te\t-1\n",
        "q\td 1\t2.0\r\nq\te\t-1\r\nq\te\t-1\r\n",
    ],
)
def test_qrels(tmp_path, text):
    assert read_qrels(write(tmp_path / "qrels", text)) == {"q": {"d 1": 2, "e": -1}}


def test_trec_qrels_with_spaces_and_a_first_grade_of_zero(tmp_path):
    assert read_qrels(write(tmp_path / "qrels", "1 0 d 0\n1 0 e 3\n")) == {"1": {"d": 0, "e": 3}}


@pytest.mark.parametrize(
    ("text", "where", "complaint"),
    [
        ("q\td\n", "qrels:1", "2 columns"),
        ("q\td\t1\nq\te\tyes\n", "qrels:2", "'yes'"),
        ("q\td\t0.5\n", "qrels:1", "'0.5'"),
        ("q\td\t1\nq\td\t2\n", "qrels:2", "two grades"),
        ("", "qrels", "no judgments"),
        ("query-id\tcorpus-id\tscore\n", "qrels", "no judgments"),
    ],
)
def test_bad_qrels_name_file_and_line(tmp_path, text, where, complaint):
    with pytest.raises(UserError) as refusal:
        read_qrels(write(tmp_path / "qrels", text))
    assert where in str(refusal.value) and complaint in str(refusal.value)


def test_a_grade_beyond_trec_evals_range_is_refused(tmp_path):
    (tmp_path / "qrels.tsv").write_text("q1\td1\t99999999999999999999\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"qrels\.tsv:1"):
        read_qrels(tmp_path / "qrels.tsv")
