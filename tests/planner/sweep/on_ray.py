"""A Ray cluster of two nodes on the loopback interface, and what runs on it; prints JSON.

Run by test_ray.py in a process of its own: python -m tests.planner.sweep.on_ray FOLDER
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any
from unittest.mock import patch

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

from ray.cluster_utils import Cluster

from planner.cli import main
from planner.cpsat.lns import racks
from planner.model.errors import InputError
from planner.sweep import over_ray, run
from planner.sweep.run import Where, run_cells
from tests.planner.sweep import work
from tests.planner.sweep.run_cases import KEYS, SEEDS, commands

SOON_S = 1.0
"""until a planned rack is back from its worker"""


@contextmanager
def noted(folder: Path) -> Iterator[None]:
    """Cells leave a mark of their node in a folder."""
    folder.mkdir()

    def marking(do: Any, shared: Any, keys: Any, **options: Any) -> Any:
        return run.run_cells(work.noting, (do, shared, folder), keys, **options)

    with patch("planner.studies.compare.run_cells", marking), patch("planner.simulate.study.run_cells", marking):
        yield


def told(address: str, do: Any, shared: Any) -> Any:
    """Documents of cells, or the error that they end in."""
    try:
        return run_cells(do, shared, KEYS, store=None, where=Where(ray=address))
    except InputError as error:
        return str(error)


def listening() -> list[str]:
    """Hexadecimal addresses on which processes of this session listen, of both families."""
    own = set()
    for pid in work.members(os.getsid(0)):
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                own.add(os.readlink(link))
            except OSError:
                continue
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
                found.add(fields[1].rpartition(":")[0])
    return sorted(found)


def solved(folder: Path, arguments: list[str]) -> int:
    """Solve with a worker that dies, until Ctrl-C, which comes when another one has planned a rack."""
    is_over = Event()

    def interrupt() -> None:
        while not (folder / "rack-planned").exists() and not is_over.wait(0.1):
            pass
        if not is_over.wait(SOON_S):
            os.kill(os.getpid(), signal.SIGINT)

    Thread(target=interrupt, daemon=True).start()
    with patch.object(racks, "plan_racks", partial(work.plan_or_die_once, folder)):
        code = main(["solve", *arguments, "--time-limit", str(work.MOST_S)])
    is_over.set()
    return code


def all_of_it(folder: Path) -> dict[str, Any]:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    found: dict[str, Any] = {"listening": listening()}
    found["retried"] = told(cluster.address, work.die_once, folder)
    found["refused"] = told(cluster.address, work.refuse, None)
    with patch.object(over_ray, "code", lambda: {"photonplan": "another"}):
        found["another"] = told(cluster.address, work.square, 1)
    for name, (arguments, _) in commands(folder, SEEDS).items():
        kept = ["--results", folder / f"{name}-cells", "--csv", folder / f"{name}.csv", "--ray", cluster.address]
        with noted(folder / f"{name}-nodes"):
            code = main([str(argument) for argument in [*arguments, *kept]])
        found[name] = {"code": code, "nodes": len(list((folder / f"{name}-nodes").iterdir()))}
    random, plan = folder / "random.json", folder / "plan.json"
    drawn = ["--random", "--fabric", "lightpath", "--accelerators", "512", "--jobs", "24", "--most", "64"]
    assert main(["new", *drawn, "--output", str(random)]) == 0
    code = solved(folder, [str(random), "--ray", cluster.address, "--plan-out", str(plan)])
    found["solve"] = {"code": code, "check": main(["check", str(random), str(plan)])}
    cluster.shutdown()
    return found


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "found.json").write_text(json.dumps(all_of_it(place)), encoding="utf-8")
