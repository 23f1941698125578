"""Systems against a baseline: differences with intervals and tests, and a verdict that claims no more than they show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from retrolex.errors import UserError
from retrolex.evaluation.significance import RESAMPLES, Interval, bootstrap_means, holm, paired_randomisation, paired_t, percentiles

if TYPE_CHECKING:
    from retrolex.evaluation.evaluate import Evaluation

ALPHA = 0.05


@dataclass(frozen=True)
class Difference:
    """One system against the baseline, by one measure.

    Attributes:
        before, after: averages of the baseline and of the system.
        change: after - before, with the 95% interval of the paired difference.
        wins, ties, losses: queries on which the system is better, equal, worse.
        p_t, p_randomisation: two-sided p of the paired t and randomisation tests.
        p_t_holm, p_holm: the same after Holm's correction over all the differences compared together; `p_holm` is the randomisation test's.
    """

    system: str
    baseline: str
    measure: str
    before: float
    after: float
    change: Interval
    wins: int
    ties: int
    losses: int
    p_t: float
    p_randomisation: float
    p_t_holm: float
    p_holm: float

    @property
    def queries(self) -> int:
        """How many queries the comparison rests on."""
        return self.wins + self.ties + self.losses

    @property
    def significant(self) -> bool:
        """Whether both the corrected randomisation test and the interval rule out "no difference"."""
        return self.p_holm < ALPHA and not self.change.low <= 0 <= self.change.high

    @property
    def percent(self) -> tuple[float, float] | None:
        """The change in percent of the baseline's average, and half the width of its interval; None for a baseline of 0."""
        if self.before == 0:
            return None
        return 100 * self.change.mean / self.before, 50 * (self.change.high - self.change.low) / self.before

    def headline(self) -> str:
        """The verdict in one short sentence, no stronger than the data."""
        if not self.wins and not self.losses:
            return f"{self.system} and {self.baseline} are equal on every query by {self.measure}"
        if not self.significant:
            shown = f"these {self.queries:,} queries" if self.queries > 1 else "one query"
            return f"No difference in {self.measure} between {self.system} and {self.baseline} that {shown} can show"
        verb = "beats" if self.change.mean > 0 else "is worse than"
        if self.percent is None:
            return f"{self.system} {verb} {self.baseline} by {abs(self.change.mean):.3f} {self.measure}"
        percent, margin = self.percent
        digits = 0 if margin >= 1 else 1
        return f"{self.system} {verb} {self.baseline} by {abs(percent):.{digits}f}% ± {margin:.{digits}f} {self.measure}"

    def verdict(self) -> str:
        """The headline with the figures it rests on."""
        return (
            f"{self.headline()}: {self.after:.3f} against {self.before:.3f}, {self.change.mean:+.3f} "
            f"[{self.change.low:+.3f}, {self.change.high:+.3f}]; {self.wins:,} wins, {self.ties:,} ties, {self.losses:,} losses; "
            f"{p_text(self.p_holm)} (randomisation test, Holm-corrected)."
        )


@dataclass(frozen=True)
class Comparison:
    """Every other system against the baseline, by every measure."""

    baseline: str
    differences: list[Difference]

    def of(self, system: str, measure: str) -> Difference:
        """The difference of one system by one measure (canonical name)."""
        return next(d for d in self.differences if (d.system, d.measure) == (system, measure))


def compare(evaluations: dict[str, Evaluation], baseline: str, resamples: int = RESAMPLES, seed: int = 0) -> Comparison:
    """Compare every evaluation with the one called `baseline`, query by query.

    Holm's correction runs over all systems and measures compared in this call.

    Raises:
        UserError: the evaluations differ in their queries, measures or policy, so that their averages say nothing about each other.
    """
    if baseline not in evaluations:
        raise UserError(f"no system is called {baseline!r}", mend=f"choose the baseline among {', '.join(evaluations)}")
    base = evaluations[baseline]
    for name, other in evaluations.items():
        if other.queries != base.queries or other.measures != base.measures or other.policy != base.policy:
            raise UserError(f"{name} and {baseline} were not measured alike", mend="use the same judgments, measures and policy for both")
    pairs = [(system, measure) for system in evaluations if system != baseline for measure in base.measures]
    if not pairs:
        return Comparison(baseline, [])
    deltas = np.stack([evaluations[system].values[measure] - base.values[measure] for system, measure in pairs], axis=1)
    deltas = deltas.round(12)  # sums taken in another order differ in their last bits, which is no win
    low, high = percentiles(bootstrap_means(deltas, resamples, seed))
    p_t = [paired_t(delta) for delta in deltas.T]
    p_random = [paired_randomisation(delta, resamples, seed) for delta in deltas.T]
    p_t_holm, p_holm = holm(p_t), holm(p_random)
    return Comparison(
        baseline,
        [
            Difference(
                system=system,
                baseline=baseline,
                measure=measure,
                before=base.mean(measure),
                after=evaluations[system].mean(measure),
                change=Interval(float(delta.mean()), float(low[i]), float(high[i])),
                wins=int((delta > 0).sum()),
                ties=int((delta == 0).sum()),
                losses=int((delta < 0).sum()),
                p_t=p_t[i],
                p_randomisation=p_random[i],
                p_t_holm=p_t_holm[i],
                p_holm=p_holm[i],
            )
            for i, ((system, measure), delta) in enumerate(zip(pairs, deltas.T, strict=True))
        ],
    )


def p_text(p: float) -> str:
    """``p = 0.031``, or ``p < 0.001`` below that."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
