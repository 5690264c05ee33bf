"""What a freedom is worth: an instance beside the same jobs without it, measured against the same references."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.studies.compare.grid import Variant, variants
from planner.studies.compare.rows import PolicyRow, to_records
from planner.whatif.comparable import measured_against, references

SUFFIX = "_plain"
"""of the name of the file with the plain alternative"""
SHOWN = ("value", "bound", "gap", "admitted", "tokens_per_s", "samples_per_s", "violations", "wall_time_s")
"""figures of the plain alternative in records"""


@dataclass(frozen=True)
class Freedom:
    """Rows of an instance and of its plain alternative, whose values compare."""

    with_it: PolicyRow
    plain: PolicyRow

    @property
    def worth(self) -> float | None:
        """Value beyond that of the plain alternative, a fraction; None where this has none."""
        return _beyond(self.with_it.value, self.plain.value)

    @property
    def proven_worth(self) -> float | None:
        """The same beside the best value that the plain alternative can have by its bound."""
        return _beyond(self.with_it.value, self.plain.bound) if self.plain.objective == "value" else None

    def record(self, *, with_timings: bool = True) -> dict[str, Any]:
        """One mapping, fit for JSON."""
        own, plain = to_records([self.with_it, self.plain], with_timings=with_timings)
        beside = {f"plain_{name}": plain[name] for name in SHOWN}
        return own | beside | {"worth": self.worth, "proven_worth": self.proven_worth}


def twins(path: Path) -> tuple[Variant, Variant]:
    """An instance and the one of FILE_plain beside it; InputError where there is none, or its jobs are others."""
    beside = path.with_name(f"{path.stem}{SUFFIX}{path.suffix}")
    if not beside.exists():
        raise InputError(
            str(path), "--plain", f"there is no {beside.name} beside it; write the plain alternative there"
        )
    (own,), (other,) = variants(path, ()), variants(beside, ())
    if not have_same_jobs(own.instance, other.instance):
        raise InputError(
            str(beside), "jobs", f"must be those of {path.name}: the same names, weights, utilities and models"
        )
    return own, other


def plain_alike(own: Variant, plain: Variant) -> Variant:
    """The plain alternative with its jobs measured against the fastest and most frugal candidates of the other."""
    measured = measured_against(plain.instance, references(own.instance))
    return replace(plain, instance=measured, base=measured)


def have_same_jobs(one: Instance, other: Instance) -> bool:
    """Whether speeds of their jobs, by name, are of the same work, and count as much."""
    return _asked(one) == _asked(other)


def _asked(instance: Instance) -> list[tuple[str, float, str, str, float]]:
    return sorted(
        (job.name, job.weight, job.utility, job.workload.speed_unit, job.workload.flops_per_work)
        for job in instance.all_jobs
    )


def _beyond(value: float | None, other: float | None) -> float | None:
    return value / other - 1 if value is not None and other else None
