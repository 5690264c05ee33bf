"""What a policy returns: the plan, and what was proven about it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from numbers import Integral

from costmodel.wording import counted
from planner.model.arguments import is_finite
from planner.model.clock import Clock
from planner.model.errors import InputError
from planner.model.plan import Assignment, Plan

NOISE = 1e-11
"""relative: values that differ by less are the same"""
BOUND_NOISE = 1e-6
"""relative, of a bound that is not proven to be met"""
SMALLEST = 1e-15
"""of values near 0"""


class Status(Enum):
    """OPTIMAL: every level proven; INFEASIBLE: proven that required jobs cannot run; NO_PLAN: a limit came first."""

    OPTIMAL = "OPTIMAL"
    FEASIBLE = "FEASIBLE"
    INFEASIBLE = "INFEASIBLE"
    NO_PLAN = "NO_PLAN"


@dataclass(frozen=True)
class Incumbent:
    """A better plan or bound of level `level`, found `wall_time_s` after the start."""

    wall_time_s: float
    level: str
    objective: float | None
    bound: float | None
    source: str
    """policy or solver that found it"""

    def after(self, seconds: float) -> "Incumbent":
        """The same of a search that began so much later."""
        return replace(self, wall_time_s=self.wall_time_s + seconds)


@dataclass(frozen=True, repr=False)
class Level:
    """One objective of the lexicographic order; `gap` is a fraction of the bound's distance, None if unknown."""

    objective: str
    value: float | None
    bound: float | None
    gap: float | None
    status: Status
    tolerance: float = 0.0
    """share of the value that later levels may have spent in the plan"""

    def __repr__(self) -> str:
        value, bound = ("-" if each is None else f"{each:.6g}" for each in (self.value, self.bound))
        gap = "" if self.gap is None else f", gap {self.gap:.2%}"
        return f"{self.objective} {value} (bound {bound}{gap})"


@dataclass(frozen=True)
class LeftOut:
    """A job that the plan does not admit, and the short reason as far as it is known without solving."""

    job: str
    reason: str


@dataclass(frozen=True)
class SolveOptions:
    """Limits and switches of a policy. `workers` None: all cores."""

    time_limit_s: float = 60.0
    seed: int = 0
    workers: int | None = None
    gap: float = 0.0
    """share of the bound on value within which a plan is good enough: level 1 ends there"""
    deterministic_limit: float | None = None
    """limit in the solver's deterministic units instead of seconds, so that machines agree"""
    ray: str | None = None
    """a Ray cluster, on which racks are planned anew together: auto, local, or host:port; the time limit begins once it
    has started"""
    pages_time_limit_s: float | None = None
    """for where tensors are in second tiers, once it is known what each job has, beyond the other limits; None: that
    is left open"""
    hint: Plan | None = None
    on_incumbent: Callable[[Incumbent], None] | None = None
    should_stop: Callable[[], bool] = bool
    """asked during the search; True returns the best plan so far"""

    def __post_init__(self) -> None:
        for name in ("time_limit_s", "deterministic_limit", "pages_time_limit_s"):
            limit = getattr(self, name)
            if limit is not None and not (is_finite(limit) and limit >= 0):
                raise InputError("solve", name, f"must be 0 or more, and finite (got {limit!r})")
        if not (is_finite(self.gap) and 0 <= self.gap < 1):
            raise InputError("solve", "gap", f"must be a share from 0 to below 1 (got {self.gap!r})")
        if self.workers is not None and not (isinstance(self.workers, Integral) and self.workers >= 1):
            raise InputError("solve", "workers", f"must be at least 1, or None for all cores (got {self.workers!r})")
        if self.hint is not None and not isinstance(self.hint, Plan):
            raise InputError(
                "solve", "hint", f"is a {type(self.hint).__name__}, not a Plan; read it by Plan.load(path)"
            )

    def clock(self) -> Clock:
        """The time limit from now on."""
        return Clock.of(self.time_limit_s, self.should_stop)

    def counted(self, clock: Clock) -> Clock:
        """A clock of work that ends by itself: without an end where work is limited instead of time."""
        return clock if self.deterministic_limit is None else replace(clock, ends_s=math.inf)

    def begun_after(self, seconds: float) -> "SolveOptions":
        """The same for a later search of one run: what it tells has the time since the run began."""
        tell = self.on_incumbent
        if tell is None:
            return self
        return replace(self, on_incumbent=lambda found: tell(found.after(seconds)))


@dataclass(frozen=True)
class Start:
    """A heuristic plan that a search could start from."""

    value: float
    """objective of level 1"""
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, repr=False)
class Result:
    """Outcome of a policy; level 1 gives the headline objective, bound and gap.

    ValueError where the plan does not have what its levels say.
    """

    status: Status
    policy: str
    plan: Plan | None = None
    levels: tuple[Level, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    trace: tuple[Incumbent, ...] = ()
    wall_time_s: float = 0.0
    seed: int = 0
    statistics: dict[str, float] = field(default_factory=dict)
    """counts such as candidates, dominated, cuts, variables"""
    starts: dict[str, Start] = field(default_factory=dict)
    """by name of the heuristic"""

    def __post_init__(self) -> None:
        for level in self.levels if self.plan is not None else ():
            found = self.plan.objectives.get(level.objective) if self.plan is not None else None
            if level.value is None or found is None:
                continue
            is_behind, is_beyond = (
                is_worse(*pair, level.tolerance * abs(level.value), is_maximized=level.objective == "value")
                for pair in ((found, level.value), (level.value, found))
            )
            if is_behind or is_beyond:
                raise ValueError(f"levels: {level.objective} is {level.value!r}, but {found!r} in the plan")

    def __repr__(self) -> str:
        """One line: what was found, and what of it was proven."""
        jobs = "" if self.plan is None else f", {counted(len(self.plan.assignments), 'job')}"
        levels = "".join(f", {level!r}" for level in self.levels)
        return f"<Result {self.status.value} by {self.policy}{jobs}{levels}, {self.wall_time_s:.2f} s>"

    @property
    def objective(self) -> float | None:
        return self.levels[0].value if self.levels else None

    @property
    def bound(self) -> float | None:
        return self.levels[0].bound if self.levels else None

    @property
    def gap(self) -> float | None:
        return self.levels[0].gap if self.levels else None


def relative_gap(value: float | None, bound: float | None) -> float | None:
    """Distance of value and bound over the larger magnitude; 0 where both agree."""
    if value is None or bound is None:
        return None
    scale = max(abs(value), abs(bound))
    return 0.0 if scale == 0 else abs(bound - value) / scale


def is_worse(value: float, other: float, spend: float = 0.0, *, is_maximized: bool) -> bool:
    """Whether a value falls behind another one by more than `spend`, and by more than noise of floating point."""
    behind = other - value if is_maximized else value - other
    return behind > spend + NOISE * abs(other) + SMALLEST


def difference(value: float, other: float, noise: float = NOISE) -> float:
    """The one less the other, 0 where they are the same but for noise."""
    less = value - other
    return 0.0 if abs(less) <= noise * max(abs(value), abs(other)) + SMALLEST else less


def stated(levels: Sequence[Level], plan: Plan) -> tuple[Level, ...]:
    """Levels with what the plan came to where later ones made it better than it was then."""
    return tuple(_stated(level, plan.objectives.get(level.objective)) for level in levels)


def _stated(level: Level, value: float | None) -> Level:
    is_maximized = level.objective == "value"
    if value is None or level.value is None or not is_worse(level.value, value, is_maximized=is_maximized):
        return level
    bound = level.bound if level.bound is None else (max if is_maximized else min)(level.bound, value)
    return replace(level, value=value, bound=bound, gap=relative_gap(value, bound))
