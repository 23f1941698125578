"""Names of measures: the grammar of ir_measures, and the other spellings people know, brought to it.

``nDCG@10``, ``RR(rel=2)@10`` and ``R@100`` are the grammar's own. Understood as well: MRR@10, NDCG@10, Recall@100 (BEIR),
recip_rank, ndcg_cut_10, recall.100 (trec_eval), ndcg_at_10 (MTEB), eval_nq_cosine_ndcg@10 and dot_accuracy@10
(sentence-transformers). ``R@k`` is the share of a query's relevant documents found in the first k; ``Success@k`` is 1 when at
least one of them is. Papers call both "recall".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from retrolex.errors import UserError

if TYPE_CHECKING:
    from ir_measures import Measure

DEFAULT_MEASURES = ("nDCG@10", "RR@10", "R@100")

# Lower-case base names of other tools; the grammar's own names are found in ir_measures' registry.
ALIASES = {
    "ndcg_cut": "nDCG",
    "recip_rank": "RR",
    "map_cut": "AP",
    "iprec_at_recall": "IPrec",
    "precision": "P",
    "hit": "Success",
    "hits": "Success",
    "hit_rate": "Success",
    "accuracy": "Success",  # what sentence-transformers calls Success@k
}
SENTENCE_TRANSFORMERS = re.compile(r"^(?:.*_)?(?:cosine|dot|euclidean|manhattan)_(?=[a-z]+@\d+$)")
GRAMMAR = re.compile(r"^(?P<name>[^\W\d]\w*?)(?:\((?P<params>.*)\))?(?:(?:@|_at_|[_.])(?P<cutoff>\d+(?:\.\d+)?))?$")
BETWEEN = re.compile(r"[\s,]+(?![^()]*\))")  # names; spaces and commas within parentheses belong to a name


def parse_measure(name: str, relevance: int = 1) -> Measure:
    """The measure that `name` stands for; ``repr`` of it is the canonical name.

    Args:
        relevance: lowest grade that counts as relevant where the measure has such a level and the name does not state it.

    Raises:
        UserError: no such measure, a wrong parameter, or one that cannot be computed from a run and judgments alone.
    """
    import ir_measures

    text = SENTENCE_TRANSFORMERS.sub("", name.strip())
    found = GRAMMAR.match(text)
    kind = _registered(found["name"]) if found else None
    if kind is None:
        raise UserError(f"no measure is called {name!r}", mend="use names such as nDCG@10, RR@10, RR(rel=2)@10, R@100, Success@100, AP@1000, P@5")
    try:
        params = _parameters(found["params"])
        if found["cutoff"] is not None:
            if kind.AT_PARAM not in kind.SUPPORTED_PARAMS:
                raise ValueError("it has no cutoff")
            params[kind.AT_PARAM] = kind.SUPPORTED_PARAMS[kind.AT_PARAM].dtype(found["cutoff"])
        if relevance > 1 and "rel" in kind.SUPPORTED_PARAMS:
            params.setdefault("rel", relevance)
        required = [key for key, info in kind.SUPPORTED_PARAMS.items() if info.required and key not in params]
        if required or params.get("cutoff", 1) < 1:
            raise ValueError(f"it needs a {required[0]}" if required else "a cutoff is at least 1")
        measure = kind(**params)
        measure.validate_params()
        computable = ir_measures.DefaultPipeline.supports(measure)
    except (AssertionError, ValueError, SyntaxError) as error:
        raise UserError(f"the measure {name!r} is not well-formed: {error}", mend="write it as in RR(rel=2)@10 or R@100") from None
    if not computable or not isinstance(measure.aggregator(), ir_measures.MeanAgg):
        raise UserError(f"the measure {name!r} is not an average over queries that a run and judgments give", mend="nDCG@10, RR@10 and R@100 are")
    return measure


def parse_measures(names: Iterable[str], relevance: int = 1) -> list[Measure]:
    """Parse several names, keeping their order; two spellings of one measure give one measure."""
    return list(dict.fromkeys(parse_measure(name, relevance) for name in names))


def split_names(text: str) -> list[str]:
    """Names written in one string, with spaces or commas between them: ``"nDCG@10, RR(rel=2, judged_only=True)@10"`` holds two."""
    return [name for name in BETWEEN.split(text) if name]


def canonical(name: str) -> str:
    """The grammar's spelling of a measure's name: ``canonical("ndcg_cut_10") == "nDCG@10"``."""
    return repr(parse_measure(name))


def _registered(base: str) -> Measure | None:
    """The registry's entry of that name, exact spelling first, then whatever the case."""
    from ir_measures.measures import registry

    if base in registry:
        return registry[base]
    lower = base.lower()
    if lower in ALIASES:
        return registry[ALIASES[lower]]
    return next((kind for name, kind in registry.items() if name.lower() == lower), None)


def _parameters(text: str | None) -> dict[str, object]:
    """``rel=2, judged_only=True`` as a dict; values are literals, never evaluated."""
    call = ast.parse(f"f({text or ''})", mode="eval").body
    if not isinstance(call, ast.Call) or call.args:
        raise ValueError("parameters are written name=value")
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
