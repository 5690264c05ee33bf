"""Figures of runs under conditions, seed by seed: means, paired differences, and who is best.

A run is a policy on a cluster or an instance; a condition is what all runs meet, such as a load or a number of fibers.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from planner.simulate.measures import Measure
from planner.simulate.summary import Interval, difference, interval

Run = tuple[str, str]
"""(cluster or instance, policy)"""
MARGIN = 0.01
"""differences below this share of the value count as level, however sure they are"""
TIE = 1e-9
"""means that differ by no more, as a fraction or as shares of one, are both the best"""
Finding = Literal["better", "worse", "slight", "level", "unknown"]
"""of a paired difference: outside its interval, so but below MARGIN, not told apart from 0, no interval at all"""


class FigureSheet(ABC):
    """Figures looked up by condition and run; the first run is the baseline."""

    runs: Sequence[Run]

    @abstractmethod
    def values(self, condition: Any, run: Run, measure: str) -> Mapping[int, float]:
        """By seed, of seeds that have the measure."""

    @property
    def baseline(self) -> Run:
        return self.runs[0]

    def mean(self, condition: Any, run: Run, measure: str) -> Interval:
        return interval(list(self.values(condition, run, measure).values()))

    def less(self, condition: Any, run: Run, other: Run, measure: str) -> Interval:
        """How much more a run has than another, seed by seed."""
        return difference(self.values(condition, run, measure), self.values(condition, other, measure))


def finding(less: Interval, scale: float | None, better: str) -> Finding:
    """Reading of a paired difference; `scale` is the value that it is compared with."""
    mean, half_width = less
    if mean is None or half_width is None:
        return "unknown"
    if abs(mean) <= half_width:
        return "level"
    if abs(mean) < MARGIN * abs(scale or 0.0):
        return "slight"
    return "better" if (mean > 0) == (better == "more") else "worse"


def ranking(sheet: FigureSheet, condition: Any, runs: Sequence[Run], name: str, better: str) -> list[Run]:
    """Runs with a value, the best mean first; ties in their order."""
    means = {run: mean for run in runs if (mean := sheet.mean(condition, run, name)[0]) is not None}
    sign = -1 if better == "more" else 1
    return sorted(means, key=lambda run: sign * means[run])


def figures(sheet: FigureSheet, condition: Any, run: Run, measures: Mapping[str, Measure]) -> list[Any]:
    """For each measure: mean, seeds, and differences to the first policy, the first cluster and the baseline."""
    first_cluster, first_policy = sheet.baseline
    others = (run[0], first_policy), (first_cluster, run[1]), sheet.baseline
    return [
        [
            *short(sheet.mean(condition, run, name)),
            len(sheet.values(condition, run, name)),
            *(value for other in others for value in short(_less(sheet, condition, run, other, name))),
        ]
        for name in measures
    ]


def standing(
    sheet: FigureSheet, condition: Any, name: str, measure: Measure, among: Sequence[Sequence[Run]] | None = None
) -> list[str] | None:
    """How each run differs from the best ones, paired; None for a measure that is neither better nor worse.

    `among`: groups of runs whose values compare, all runs unless given; others have no standing, "".
    """
    if not measure.better:
        return None
    found: dict[Run, str] = {}
    for group in [sheet.runs] if among is None else among:
        ranked = ranking(sheet, condition, group, name, measure.better)
        if not ranked:
            continue
        scale = sheet.mean(condition, ranked[0], name)[0] or 0.0
        for run in group:
            mean = sheet.mean(condition, run, name)[0]
            is_best = mean is not None and abs(mean - scale) <= TIE * max(abs(scale), float(measure.is_share))
            less = sheet.less(condition, run, ranked[0], name)
            found[run] = "best" if is_best else finding(less, scale, measure.better)
    return [found.get(run, "") for run in sheet.runs] if found else None


def described(sheet: FigureSheet, measures: Mapping[str, Measure], seeds: Sequence[int], **run: Any) -> dict[str, Any]:
    """Runs, measures, and how all of it is done again: `run` has the command, versions and digests of inputs."""
    return {
        "runs": [{"cluster": cluster, "policy": policy} for cluster, policy in sheet.runs],
        "seeds": len(seeds),
        "measures": [{"name": name, **measure._asdict()} for name, measure in measures.items()],
        "run": {
            "command": run["command"],
            "versions": list(run["versions"].items()),
            "inputs": list(run["inputs"].items()),
            "seeds": list(seeds),
        },
    }


def rounded(value: Any) -> Any:
    """Floats with six digits, in anything that is fit for JSON."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def short(found: Interval) -> Interval:
    """Both with six digits."""
    mean, half_width = (None if value is None else float(f"{value:.6g}") for value in found)
    return mean, half_width


def _less(sheet: FigureSheet, condition: Any, run: Run, other: Run, name: str) -> Interval:
    return (None, None) if run == other else sheet.less(condition, run, other, name)
