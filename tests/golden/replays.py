"""Outcomes of replays of one drawn demand: the shipped clusters and one of appliances, every policy, two seeds."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from tests.golden.texts import INSTANCES, Unit, command, data_of, file

POLICIES = "first_fit,best_fit,server_aligned,random_fit,best_fit_moving"
OWN = {"torus256": ",torus_slices", "sipac256": ",bcube_slices", "sipam256": ",sipam_loop"}
"""policies of one fabric"""
FAILING = {"tile": "all", "fiber": "lightpath256", "laser": "lightpath256", "optical_switch": "ocs_rail256",
           "memory_unit": "sipam256"}  # fmt: skip
"""kinds of parts, and on which cluster they fail"""
SIZES = (1, 1, 1, 2, 4, 4, 8, 8, 8, 16, 24, 32)
CLUSTERS = {path.stem: f"replay/{path.name}" for path in sorted((INSTANCES / "replay").glob("*256.yaml"))} | {
    "appliance": "providers/appliance.yaml", "optical_hbm": "providers/optical_hbm.yaml", "rack48": "joint/rack48.yaml",
}  # fmt: skip


def units() -> Iterator[Unit]:
    yield Unit("replays", "trace", _drawn, True)
    for name, path in CLUSTERS.items():
        policies = POLICIES + OWN.get(name, "")
        yield Unit("replays", f"{name} policies", partial(_replay, path, policies, 400))
        yield Unit("replays", f"{name} solver", partial(_replay, path, "solver", 30))
        yield Unit("replays", f"{name} short", partial(_replay, path, "first_fit,best_fit_moving", 100), True)
        yield Unit("replays", f"{name} page", partial(_page, path))


def _drawn() -> dict[str, str]:
    said = command("trace", "-o", "trace.csv", "--jobs", 400, "--seed", 3)
    return {"csv": said + Path("trace.csv").read_text("utf-8")}


def _trace(jobs: int) -> None:
    """Jobs with no long tail, so that few of them make any load."""
    random, arrival_s, lines = Random(5), 0.0, ["arrival_s,duration_s,num_gpus,tenant"]
    for _ in range(jobs):
        arrival_s += random.expovariate(1 / 60)
        duration_s, size = random.lognormvariate(8, 1), random.choice(SIZES)
        lines.append(f"{arrival_s:.3f},{duration_s:.3f},{size},t{random.randrange(4)}")
    Path("trace.csv").write_text("\n".join(lines) + "\n", "utf-8")


def _replay(path: str, policies: str, jobs: int) -> dict[str, str]:
    _trace(2 * jobs)
    given = ("replay", "trace.csv", "--cluster", f"instances/{path}", "--policies", policies, "--seeds", 2,
             "--jobs", jobs, "--load", 0.95, "--results", "cells")  # fmt: skip
    failing = [kind for kind, name in FAILING.items() if name in ("all", Path(path).stem)]
    lines = [
        f"{kind}: {{time_between_failures: {5 if kind == 'tile' else 100} d, repair_time: 1 h}}\n" for kind in failing
    ]
    Path("failures.yaml").write_text("".join(lines), "utf-8")
    return {
        "json": command(*given, "--json"),
        "text": command(*given, "--migrate", "--prices", "instances/replay/prices.yaml"),
        "failures": command(*given, "--migrate", "--failures", "failures.yaml", "--queue", "fifo", "--json"),
    }


def _page(path: str) -> dict[str, str]:
    _trace(200)
    said = command("replay", "trace.csv", "--cluster", f"instances/{path}", "--policies", "first_fit,best_fit",
                   "--seeds", 2, "--jobs", 100, "--load", "0.7,1.1", "--results", "cells",
                   "--html", "page.html")  # fmt: skip
    return {"text": said, "data": data_of(file("page.html"))}
