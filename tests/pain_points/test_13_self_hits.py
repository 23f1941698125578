"""Where queries are documents, the query itself is no answer, whichever way the run came about."""

from __future__ import annotations

from retrolex.evaluation.commands import evaluate_files
from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.runs import write_run


def test_memory_and_file_agree(tmp_path):
    run, qrels, policy = {"a1": [("a1", 9.0), ("a2", 1.0)]}, {"a1": {"a2": 1}}, Policy(self_hits="remove")
    write_run(tmp_path / "run.trec", run)
    (tmp_path / "qrels.tsv").write_text("a1\ta2\t1\n", encoding="utf-8")
    from_file = evaluate_files(tmp_path / "run.trec", tmp_path / "qrels.tsv", policy=policy).rows[0].evaluation
    found = evaluate(run, qrels, policy=policy)
    assert found.mean("RR@10") == from_file.mean("RR@10") == 1
    assert found.counts == from_file.counts and found.counts.self_hits_removed == 1
