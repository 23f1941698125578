"""The shared collections: our figures equal trec_eval's, and BM25's agree with the published baselines."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from retrolex.evaluation.evaluate import evaluate
from retrolex.evaluation.policy import Policy
from retrolex.evaluation.runs import read_qrels, read_run, write_run

if "RETROLEX_SHARED" not in os.environ:
    pytest.skip("RETROLEX_SHARED does not say where the shared collections are", allow_module_level=True)

COLLECTIONS = Path(os.environ["RETROLEX_SHARED"]) / "collections"
JUDGED = sorted(path.parent.parent.name for path in COLLECTIONS.glob("*/qrels/test.tsv"))
NAMES = {"nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "R@100": "recall_100", "AP": "map", "P@10": "P_10", "Success@5": "success_5"}


@pytest.mark.parametrize("collection", JUDGED)
def test_equals_trec_eval(collection, tmp_path):
    import pytrec_eval

    qrels = read_qrels(COLLECTIONS / collection / "qrels" / "test.tsv")
    draw = random.Random(collection)
    documents = sorted({document for judged in qrels.values() for document in judged})
    run = {}
    for query in list(qrels)[:500]:
        pool = dict.fromkeys([*qrels[query], *draw.sample(documents, min(150, len(documents)))])
        run[query] = sorted(((document, draw.choice([draw.random(), 0.5])) for document in pool), key=lambda hit: -hit[1])
    write_run(tmp_path / "run.trec", run)
    ours = evaluate(read_run(tmp_path / "run.trec"), qrels, NAMES)
    assert ours.counts.tied > 0
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut", "recip_rank", "recall", "map", "P", "success"})
    theirs = evaluator.evaluate({query: dict(hits) for query, hits in run.items()})
    for measure, name in NAMES.items():
        expected = sum(theirs[query][name] for query in ours.queries if query in theirs) / len(ours.queries)
        assert ours.mean(measure) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("collection", "expected"), [("cranfield", (0.343, 0.506, 0.722)), ("nfcorpus", (0.327, 0.528, 0.255))])
def test_bm25_baselines(collection, expected):
    bm25s, stemmer = pytest.importorskip("bm25s"), pytest.importorskip("Stemmer")
    folder = COLLECTIONS / collection
    documents = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    queries = {q["_id"]: q["text"] for q in map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())}
    qrels = read_qrels(folder / "qrels" / "test.tsv")
    options = {"stopwords": "en", "stemmer": stemmer.Stemmer("english"), "show_progress": False}
    index = bm25s.BM25(method="lucene", k1=0.9, b=0.4)
    index.index(bm25s.tokenize([f"{d.get('title') or ''} {d['text']}".strip() for d in documents], **options), show_progress=False)
    asked = [query for query in qrels if query in queries]
    found, scores = index.retrieve(bm25s.tokenize([queries[q] for q in asked], **options), k=100, show_progress=False)
    run = {query: [(documents[i]["_id"], float(s)) for i, s in zip(found[row], scores[row], strict=True)] for row, query in enumerate(asked)}
    ours = evaluate(run, qrels, policy=Policy(zero_scores="drop"))  # bm25s fills up with documents that match nothing
    assert tuple(ours.mean(measure) for measure in ("nDCG@10", "RR@10", "R@100")) == pytest.approx(expected, abs=0.002)
