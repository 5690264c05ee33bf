"""A published experiment as a file: labelled inputs, and the figures that a paper prints for it."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from costmodel.spec import Spec
from planner.model.errors import InputError
from planner.model.files import load
from planner.studies.reproduce.units import UNITS

Verdict = Literal["reproduced", "fitted", "by construction", "outside", "contradicted", "not derivable"]
Expected = Literal["reproduced", "fitted", "by construction", "contradicted", "not derivable"]
_IN_CHECKOUT, _INSTALLED = Path(__file__).parents[3] / "instances" / "published", Path(__file__).parent / "published"
FOLDER = _IN_CHECKOUT if _IN_CHECKOUT.is_dir() else _INSTALLED
"""where the shipped files lie: <paper>/<experiment>.yaml"""
ROUNDING = 1e-9
"""share of a figure that counts as rounding of binary numbers"""
_PERCENT = re.compile(r"\s*([0-9.]+(?:e-?[0-9]+)?)\s*%\s*")


def _share(value: object) -> object:
    """ "10 %" -> {"relative": 0.1}; a number, in the unit of the figure, is absolute."""
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value)
        if match is None:
            raise ValueError(f"cannot read '{value}'; write '10 %' of the figure, or a number in its unit")
        return {"relative": float(match.group(1)) / 100}
    return {"absolute": value} if isinstance(value, int | float) and not isinstance(value, bool) else value


class Tolerance(Spec):
    """How far from a published figure counts as reproduced: a share of it, or an amount in its unit."""

    relative: float = Field(default=0.0, ge=0)
    absolute: float = Field(default=0.0, ge=0)

    def widen(self, low: float, high: float) -> tuple[float, float]:
        """The interval around low .. high, both in the unit of the figure; an open end stays open."""
        return low - self._amount(low), high + self._amount(high)

    def _amount(self, value: float) -> float:
        """Width of the tolerance at a value, rounding of binary numbers included."""
        return (self.relative + ROUNDING) * abs(value) + self.absolute

    def __str__(self) -> str:
        if self.relative:
            return f"{100 * self.relative:g} %"
        return f"{self.absolute:g}" if self.absolute else "none"


class Figure(Spec):
    """One figure of a paper beside the quantity of ours that it is compared with."""

    quantity: str = Field(min_length=1)
    """key of what the experiment returns, in SI"""
    value: float | None = None
    """the published number, in `unit`"""
    range: tuple[float | None, float | None] | None = None
    """the published interval, both ends included and null where it is open; instead of `value`"""
    unit: str = ""
    tolerance: Annotated[Tolerance, BeforeValidator(_share)] = Tolerance()
    required: bool = True
    """whether the reproduction fails where ours lies outside"""
    source: str = Field(min_length=1)
    """table, figure or section"""
    origin: Literal["paper", "independent"] = "paper"
    """whether the paper prints the number, or it was computed apart from what the paper describes"""
    expect: Expected = "reproduced"
    """What an agreement is worth, or why there is none.

    `fitted`: a free number or choice among the inputs has no other source than this figure. `by construction`: ours
    restates inputs that the paper prints, or an identity of them, with no model between. `contradicted`: by the
    paper's own inputs, if ours is outside. `not derivable`: it cannot be computed from what the paper says.
    """
    counts: bool = True
    """whether the row is counted; false where another row counts the same printed figure"""
    reason: str = ""
    """why it is not simply reproduced, or a remark"""
    beside: dict[str, str] = Field(default_factory=dict)
    """other readings to show, by label: quantities that the experiment returns"""

    @field_validator("unit")
    @classmethod
    def _unit_is_known(cls, unit: str) -> str:
        if unit not in UNITS:
            raise ValueError(f"unit: '{unit}' is unknown; use one of {', '.join(filter(None, UNITS))}")
        return unit

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.value is None) == (self.range is None):
            raise ValueError(f"value: '{self.quantity}' needs either a value or a range; give one of them")
        low, high = self.interval
        if low > high or (math.isinf(low) and math.isinf(high)):
            raise ValueError(f"range: of '{self.quantity}' is empty or has no end; write [low, high]")
        if self.expect not in ("reproduced", "by construction") and not self.reason:
            raise ValueError(f"reason: '{self.quantity}' is said to be {self.expect}; say why")
        return self

    @property
    def interval(self) -> tuple[float, float]:
        """Low and high end of what is published, in `unit`; infinite where it is open."""
        low, high = self.range if self.range is not None else (self.value, self.value)
        return -math.inf if low is None else low, math.inf if high is None else high


class Published(Spec):
    """The content of one file."""

    paper: str = Field(min_length=1)
    title: str = Field(min_length=1)
    """of the paper"""
    citation: str = Field(min_length=1)
    """authors, venue and year of the paper"""
    experiment: str = Field(min_length=1)
    """what is computed, in a few words"""
    kind: str = Field(min_length=1)
    """key of EXPERIMENTS: the function that computes it"""
    inputs: dict[str, Any] = Field(default_factory=dict)
    """arguments of that function"""
    defaults: dict[str, Any] = Field(default_factory=dict)
    """fields that all figures share"""
    published: tuple[Figure, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _fill_defaults(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        defaults, figures = data.get("defaults", {}), data.get("published")
        if not isinstance(defaults, Mapping) or not isinstance(figures, list):
            return data
        filled = [{**defaults, **each} if isinstance(each, Mapping) else each for each in figures]
        return {**data, "published": filled}

    @model_validator(mode="after")
    def _figures_differ(self) -> Self:
        seen: set[tuple[str, str]] = set()
        for figure in self.published:
            key = (figure.quantity, figure.source)
            if key in seen:
                raise ValueError(f"published: '{figure.quantity}' of {figure.source} is given twice; keep one")
            seen.add(key)
        return self


def files(folder: Path = FOLDER, paper: str | None = None) -> list[Path]:
    """Files of all papers or of one; InputError where there are none."""
    if not folder.is_dir():
        raise InputError(str(folder), "", "is no folder; name the one with <paper>/<experiment>.yaml by --from")
    found = sorted(folder.glob("*/*.yaml"))
    papers = sorted({path.parent.name for path in found})
    if paper is not None and paper not in papers:
        raise InputError("PAPER", f"'{paper}'", f"is not published here; choose of {', '.join(papers)}")
    return [path for path in found if paper in (None, path.parent.name)]


def read(path: Path) -> Published:
    """One file; InputError where it is wrong, or lies in the folder of another paper."""
    content = load(Published, path)
    if content.paper != path.parent.name:
        raise InputError(str(path), "paper", f"is '{content.paper}' in the folder '{path.parent.name}'; move the file")
    return content
