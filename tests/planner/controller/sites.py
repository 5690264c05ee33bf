"""Clusters, requests and controllers for the tests of schedulers."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from planner.controller import Controller, Decision, Request, Settings, Start, job_classes
from planner.controller.job_classes import JobClasses
from planner.controller.sizes import num_bytes
from planner.fabrics.job_class import Option
from planner.model.job import Job
from tests.planner.simulate.grounds import BERT, CHAT, cluster

SIZES = (1, 2, 4, 8, 16)


def request(name: str, accelerators: Any = 1, **changes: Any) -> Request:
    """A job; `duration_s` is its limit."""
    return Request.model_validate({"name": name, "workload": BERT, "accelerators": accelerators} | changes)


def resized(c: Controller, name: str, accelerators: Any, **constraints: Any) -> Request:
    """What a job asks for with another number of accelerators, and other constraints where some are given."""
    limits = {"accelerators": accelerators} | ({"constraints": constraints} if constraints else {})
    return Request.model_validate(c.job(name).request.model_dump() | limits)


def chat(name: str, accelerators: Any = 1, **changes: Any) -> Request:
    return request(name, accelerators, workload=CHAT, **changes)


def controller(fabric: str = "fat_tree", settings: dict[str, Any] | None = None, **changes: Any) -> Controller:
    """A controller of 4 servers of 8 accelerators, in memory, whose searches are never cut short."""
    rules = {"greedy_budget_s": 60, "repair_budget_s": 10} | (settings or {})
    return Controller(cluster(fabric, **changes), settings=Settings.model_validate(rules))


def started(decisions: tuple[Decision, ...]) -> list[str]:
    return [decision.job for decision in decisions if isinstance(decision, Start)]


def remember_kinds() -> None:
    """Controllers of this process share what they expand: it depends on cluster and request alone."""
    if not isinstance(JobClasses._rows, _Remembered):
        known = _Remembered(JobClasses._rows)
        JobClasses._rows = known  # type: ignore[method-assign, assignment]
        job_classes.num_bytes = known.num_bytes  # type: ignore[attr-defined]


class _Remembered:
    """A method whose answers are kept by cluster and job, with the memory that they take."""

    def __init__(self, method: Callable[[JobClasses, Job], tuple[Option, ...]]) -> None:
        self._method = method
        self._known: dict[str, tuple[Option, ...]] = {}
        self._bytes: dict[int, dict[int, int]] = {}
        """of the rows that are known, by how much of them is worked out"""

    def __get__(self, kinds: JobClasses, owner: type) -> Any:
        return self if kinds is None else partial(self._ask, kinds)

    def _ask(self, kinds: JobClasses, job: Job) -> tuple[Option, ...]:
        key = kinds.cluster.model_dump_json() + job.job_class_json
        if key not in self._known:
            self._known[key] = self._method(kinds, job)
            self._bytes[id(self._known[key])] = {}
        return self._known[key]

    def num_bytes(self, rows: tuple[Option, ...]) -> int:
        """As `sizes.num_bytes`, counted again only where more of the rows was worked out."""
        if id(rows) not in self._bytes:
            return num_bytes(rows)
        worked_out = sum(len(vars(row)) for row in rows)
        if worked_out not in self._bytes[id(rows)]:
            self._bytes[id(rows)][worked_out] = num_bytes(rows)
        return self._bytes[id(rows)][worked_out]


def quick_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder where a write to disk costs little."""
    shared = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None)
