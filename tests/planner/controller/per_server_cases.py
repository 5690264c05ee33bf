"""Shared by the tests of `defragmentation`, `pending_reason`, `per_server`, `preemption` and `reservation`."""

from collections import Counter
from typing import Any

from planner.controller import Request
from tests.planner.controller.sites import request


def even(name: str, servers: int, each: int, **changes: Any) -> Request:
    return request(name, servers * each, constraints={"per_server": each}, **changes)


def given(names: tuple[str, ...]) -> set[int]:
    return set(Counter(name.rpartition(".")[0] for name in names).values())
