"""Hooks that slurmctld runs around a job: `python -m planner.integrations.slurm.hooks connect|release STATE`.

Standard library alone: it starts in some tens of milliseconds, for every job, in any Python that reads this file.
A connect that fails leaves a report and exits with 1, upon which Slurm requeues the job.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from planner.integrations.private_files import write_private
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, Driver, driver_of

BUSY_WAIT_S = 10.0
"""that light in use is waited for: its job has ended, and its release is under way"""
_LOOK_AGAIN_S = 0.05


def job_name(number: int) -> str:
    """Name of a Slurm job in the controller and in the driver."""
    return f"slurm-{number}"


def circuits_file(state: Path, number: int) -> Path:
    """JSON list of the circuits of a placed job; there is none for jobs of others."""
    return state / "circuits" / f"{number}.json"


def report_file(state: Path, number: int) -> Path:
    """JSON {action, part, said, at} of what failed last for a job."""
    return state / "reports" / f"{number}.json"


def hooks_file(state: Path) -> Path:
    """JSON of the driver's part of slurm.yaml."""
    return state / "hooks.json"


def driver_in(state: Path) -> Driver:
    """The driver that hooks and daemon share."""
    return driver_of(json.loads(hooks_file(state).read_text(encoding="utf-8")), state / "driver")


def connect(state: Path, number: int) -> None:
    """Put the circuits of a job on; CircuitError."""
    path = circuits_file(state, number)
    if not path.exists():
        return
    circuits: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    driver, end = driver_in(state), time.monotonic() + BUSY_WAIT_S
    while True:
        try:
            driver.connect(job_name(number), circuits)
        except CircuitBusyError:
            if time.monotonic() > end:
                raise
            time.sleep(_LOOK_AGAIN_S)
        else:
            return


def release(state: Path, number: int) -> None:
    """Put them off, if any are on; CircuitError."""
    driver_in(state).release(job_name(number))


_ACTIONS = {"connect": connect, "release": release}


def main(arguments: list[str], environment: dict[str, str]) -> int:
    """Exit code; the job is the one that Slurm names in the environment."""
    usage = "usage: python -m planner.integrations.slurm.hooks connect|release STATE, with SLURM_JOB_ID set"
    if len(arguments) != 2 or arguments[0] not in _ACTIONS:
        raise SystemExit(usage)
    action, state, number = arguments[0], Path(arguments[1]), environment.get("SLURM_JOB_ID", "")
    if not (number.isascii() and number.isdigit()):
        raise SystemExit(usage)
    try:
        _ACTIONS[action](state, int(number))
    except Exception as error:  # whatever it is, the job must not start, and the daemon must hear of it
        part = error.part if isinstance(error, CircuitError) else None
        said = str(error) if isinstance(error, CircuitError) else f"{type(error).__name__}: {error}"
        body = {"action": action, "part": part, "said": said, "at": time.time()}
        write_private(report_file(state, int(number)), json.dumps(body) + "\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:], dict(os.environ)))
