"""One row for each published figure: theirs, ours and the verdict."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from planner.studies.reproduce.published import Figure, Verdict
from planner.studies.reproduce.units import UNITS

VERDICTS: tuple[Verdict, ...] = (
    "reproduced", "fitted", "by construction", "outside", "contradicted", "not derivable"
)  # fmt: skip


@dataclass(frozen=True)
class PublishedRow:
    """A published figure beside ours; both in `unit`."""

    paper: str
    experiment: str
    quantity: str
    published: float | tuple[float | None, float | None]
    """a number or an interval, whose open end is None"""
    ours: float | None
    """absent where it is not derivable"""
    unit: str
    tolerance: str
    verdict: Verdict
    required: bool
    counts: bool
    """false for another reading of a figure that another row counts"""
    source: str
    origin: Literal["paper", "independent"]
    reason: str
    beside: dict[str, float]
    """other readings by label, in `unit`"""

    @property
    def published_number(self) -> float:
        """The published number, to be drawn; NaN for an interval."""
        return math.nan if isinstance(self.published, tuple) else self.published

    @property
    def is_failure(self) -> bool:
        return self.required and self.verdict == "outside"


def judge(paper: str, experiment: str, figure: Figure, quantities: Mapping[str, float]) -> PublishedRow:
    """The row of one figure; ValueError where the experiment lacks the quantity or should lack it."""
    factor = UNITS[figure.unit]
    ours = None if figure.expect == "not derivable" else _of(quantities, figure.quantity) / factor
    if figure.expect == "not derivable" and figure.quantity in quantities:
        raise ValueError(f"'{figure.quantity}' is said to be not derivable, yet it is computed; drop `expect`")
    beside = {label: _of(quantities, name) / factor for label, name in figure.beside.items()}
    verdict = _verdict(figure, ours)
    return PublishedRow(
        paper=paper,
        experiment=experiment,
        quantity=figure.quantity,
        published=figure.range if figure.range is not None else figure.interval[0],
        ours=ours,
        unit=figure.unit,
        tolerance=str(figure.tolerance),
        verdict=verdict,
        required=figure.required,
        counts=figure.counts,
        source=figure.source,
        origin=figure.origin,
        reason="" if figure.expect == "contradicted" and verdict == "reproduced" else figure.reason,
        beside=beside,
    )


def _verdict(figure: Figure, ours: float | None) -> Verdict:
    if ours is None:
        return "not derivable"
    low, high = figure.tolerance.widen(*figure.interval)
    if low <= ours <= high:
        return figure.expect if figure.expect in ("fitted", "by construction") else "reproduced"
    return "contradicted" if figure.expect == "contradicted" else "outside"


def _of(quantities: Mapping[str, float], name: str) -> float:
    if name not in quantities:
        raise ValueError(f"the experiment computes no '{name}'; it computes {', '.join(quantities) or 'nothing'}")
    value = float(quantities[name])
    if not math.isfinite(value):
        raise ValueError(f"the experiment gives {value} for '{name}'; its inputs leave it undefined")
    return value


def tally(rows: Iterable[PublishedRow]) -> dict[Verdict, int]:
    """Number of counted rows by verdict."""
    counts: dict[Verdict, int] = dict.fromkeys(VERDICTS, 0)
    for row in rows:
        counts[row.verdict] += row.counts
    return counts


def to_records(rows: Iterable[PublishedRow]) -> list[dict[str, Any]]:
    """Rows as plain data."""
    return [asdict(row) for row in rows]
