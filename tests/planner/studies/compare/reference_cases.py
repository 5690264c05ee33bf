"""Shared by the tests of `reference` and `freedom`."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from tests.planner.cli.conftest import BERT, fields


def crowded(**changes: Any) -> dict[str, Any]:
    """Two jobs on as many tiles as both ask for at most; the bandwidth decides how fast they are."""
    data = deepcopy(fields())
    data["jobs"] = [
        {"name": name, "workload": dict(BERT), "accelerators": [2], "weight": weight, **changes}
        for name, weight in (("a", 2.0), ("b", 1.0))
    ]
    return data


def twin_files(folder: Path, **changed: Any) -> Path:
    """A file of two jobs and its plain twin, on light of a hundredth of the rate and with these fields changed."""
    slow = crowded()
    slow["cluster"]["fabric"]["wavelength_bandwidth"] = "0.1 GB/s"
    for name, data in (("own", crowded()), ("own_plain", slow | changed)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(data | {"name": name}), "utf-8")
    return folder / "own.yaml"
