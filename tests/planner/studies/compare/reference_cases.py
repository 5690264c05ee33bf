"""Shared by the tests of `reference`."""

from copy import deepcopy
from typing import Any

from tests.planner.cli.conftest import BERT, fields


def crowded(**changes: Any) -> dict[str, Any]:
    """Two jobs on as many tiles as both ask for at most; the bandwidth decides how fast they are."""
    data = deepcopy(fields())
    data["jobs"] = [
        {"name": name, "workload": dict(BERT), "accelerators": [2], "weight": weight, **changes}
        for name, weight in (("a", 2.0), ("b", 1.0))
    ]
    return data
