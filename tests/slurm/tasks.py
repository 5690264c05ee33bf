"""What the tasks of a job saw, each on its node."""

import re
from dataclasses import dataclass

from tests.slurm.plugin import Places, Plugin

LINE = re.compile(r"task (\d+) ?(\d*) x (\w+) ([\d,]+) ([\d.]+)|done (\d+) ?(\d*) x (\w+) ([\d.]+)")


@dataclass
class Task:
    """One task of one run of a job, as it saw itself."""

    job: int
    restarts: int
    node: str
    indices: tuple[int, ...]
    began_s: float
    ended_s: float | None = None


def tasks_of(site: Plugin, job: int) -> list[Task]:
    """What tasks of a job have said so far."""
    found: dict[tuple[int, str], Task] = {}
    path = site.rig.out / f"{job}.out"
    for match in LINE.finditer(path.read_text() if path.exists() else ""):
        if match[1]:
            indices = tuple(map(int, match[4].split(",")))
            task = Task(int(match[1]), int(match[2] or 0), match[3], indices, float(match[5]))
            found[task.restarts, task.node] = task
        else:
            found[int(match[7] or 0), match[8]].ended_s = float(match[9])
    return list(found.values())


def runs_of(tasks: list[Task]) -> list[Places]:
    """What the tasks of each run saw, run after run."""
    runs: dict[int, Places] = {}
    for task in tasks:
        runs.setdefault(task.restarts, {})[task.node] = task.indices
    return [runs[number] for number in sorted(runs)]
