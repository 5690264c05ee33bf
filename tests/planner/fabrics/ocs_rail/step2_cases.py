"""Shared by the tests of `constraints` and `step2`."""

import random
from typing import Any

from planner.model.instance import Instance
from tests.oracles.tiny_groups import EXPERTS
from tests.oracles.tiny_instances import SMALL
from tests.planner.checks.plans import SERVING, TRAINING
from tests.planner.fabrics.ocs_rail.rule_rails_cases import RAILS


def instance_of(
    jobs: list[dict[str, Any]], *, health: dict[str, Any] | None = None, objectives: Any = ("value",), **fabric: Any
) -> Instance:
    cluster = {"device": "h100-sxm", "fabric": RAILS | fabric, "health": health or {}}
    data = {"schema_version": 2, "name": "rails", "cluster": cluster, "jobs": jobs, "objectives": list(objectives)}
    return Instance.parse(data)


def tiny(seed: int) -> Instance:
    """Three or four servers of two or three GPUs with jobs for somewhat more, and parts down."""
    draw = random.Random(seed)
    servers, slots, switches = (*draw.choice([(3, 2), (3, 3), (4, 2)]), draw.choice([1, 2, 3]))
    sizes: list[Any] = [1, 2, 3, 4, [2, 4], [1, 3], 6, {"min": 1, "max": 4}]
    jobs = [
        {
            "name": f"job{j}",
            "workload": SERVING if draw.random() < 0.25 else TRAINING,
            "accelerators": draw.choice(sizes),
            "weight": draw.choice([1.0, 2.0, 3.0]),
            "required": draw.random() < 0.15,
        }
        for j in range(draw.choice([3, 4]))
    ]
    devices = [f"s{s}.g{q}" for s in range(servers) for q in range(slots)]
    lost = draw.sample(devices, 2)
    switch_names = [f"q{q}#{i}" for q in range(slots) for i in range(switches)]
    health = {
        "failed_tiles": lost[: draw.choice([0, 0, 1])],
        "failed_ports": lost[1 : draw.choice([1, 2])],
        "failed_switches": draw.sample(switch_names, draw.choice([0, 1, 2])),
    }
    return instance_of(jobs, health=health, servers=servers, gpus_per_server=slots, switches=switches)


def tiny_in_turns(seed: int) -> Instance:
    """Four servers of one or two GPUs whose circuits may take turns, which turn slowly, fast or at once."""
    draw = random.Random(f"turns-{seed}")
    slots, switches = draw.choice([1, 2]), draw.choice([1, 1, 2, 3])
    jobs = [
        {
            "name": f"job{j}",
            "workload": _in_turns(draw),
            "accelerators": draw.choice([2, 4, [2, 4], [1, 4]]),
            "weight": draw.choice([1.0, 2.0, 3.0]),
            "required": draw.random() < 0.15,
        }
        for j in range(draw.choice([2, 3]))
    ]
    health = {
        "failed_tiles": draw.sample([f"s{s}.g{q}" for s in range(4) for q in range(slots)], draw.choice([0, 0, 1])),
        "failed_switches": draw.sample(
            [f"q{q}#{i}" for q in range(slots) for i in range(switches)], draw.choice([0, 1])
        ),
    }
    fabric = {"gpus_per_server": slots, "switches": switches, "switching": "phases"}
    fabric |= {"reconfiguration": draw.choice(["1 s", "100 us", "0 s"])}
    return instance_of(jobs, health=health, **fabric)


def tiny_with_circulants(seed: int) -> Instance:
    """Four or five servers of one or two GPUs with fewer ports than other ranks of a group."""
    draw = random.Random(f"circulants-{seed}")
    servers, slots, switches = draw.choice([4, 5]), draw.choice([1, 2]), draw.choice([1, 2, 3])
    batch = 8 * servers
    jobs = [
        {
            "name": f"job{j}",
            "workload": _in_turns(draw, {"model": EXPERTS, "expert": 4}) | {"global_batch": batch},
            "accelerators": draw.choice([servers, 4, [2, 4], [1, servers]]),
            "weight": draw.choice([1.0, 2.0, 3.0]),
        }
        for j in range(draw.choice([2, 3]))
    ]
    fabric = {"servers": servers, "ports": 5, "gpus_per_server": slots, "switches": switches}
    return instance_of(jobs, **fabric, collectives="circulants")


def _in_turns(draw: random.Random, *others: dict[str, Any]) -> dict[str, Any]:
    """Training, of some jobs with divided experts or sequences."""
    more = draw.choice([{}, {"model": EXPERTS, "expert": 2}, {"context": 2}, {"context": [1, 2]}, *others])
    return TRAINING | {"model": SMALL | {"layers": 4}} | more
