"""Both drivers, commands as shell scripts, and circuits of jobs to set."""

import sys
from pathlib import Path
from typing import Any

from planner.integrations.switch_drivers import Circuits, Driver, driver_of
from planner.model.plan import Circuit, HeldCircuits

COMMAND = """#!/bin/sh
cat >> {folder}/told; echo >> {folder}/told
[ -e {folder}/fail ] && {{ cat {folder}/fail; exit 3; }}
exit 0
"""
CONNECT = [
    sys.executable, "-c",
    "import sys, json; from pathlib import Path; from planner.integrations.switch_drivers import driver_of;"
    "driver_of(json.loads(sys.argv[1]), Path(sys.argv[2])).connect('a', json.loads(sys.argv[3]))",
]  # fmt: skip
"""then: spec, folder and circuits"""


def circuits(
    source: str = "s0.t0", to: str = "s1.t0", wavelengths: tuple[int, ...] = (0,), fibers: Any = ()
) -> Circuits:
    """One circuit, as a controller gives it."""
    circuit = Circuit(source=source, destination=to, wavelengths=wavelengths, fibers=tuple(fibers))
    held = HeldCircuits(dimension="data", circuits=(circuit,))
    return [held.model_dump(mode="json", by_alias=True)]


BETWEEN = circuits(fibers=["s0>s1#0"])
NEW = circuits("s0.t1", "s1.t1", (1,), fibers=["s0>s1#0"])
BOTH = [*NEW, *BETWEEN]


def hook(tmp_path: Path, script: str, timeout_s: float = 240.0) -> Driver:
    path = tmp_path / "command with 'quotes'"
    path.write_text(script)
    path.chmod(0o755)
    return driver_of({"kind": "hook", "command": [str(path), "$(id)"], "timeout_s": timeout_s}, tmp_path / "driver")


def made_spec(tmp_path: Path) -> dict[str, Any]:
    return {"kind": "hook", "command": [str(tmp_path / "command with 'quotes'")]}


SLOW = """#!/bin/sh
told=$(cat)
case $told in *'"job": "hangs"'*) touch {folder}/began; while [ ! -e {folder}/go ]; do sleep 0.02; done;; esac
"""
