"""Controllers of three racks that are joined, for the tests of jobs larger than one of them."""

from pathlib import Path
from random import Random
from typing import Any

from planner.controller import Controller, Decision, Request, Settings
from planner.fabrics.free_state import FreeState
from planner.model.cluster import Cluster
from planner.placement.placement import Place
from tests.planner.fabrics.joined_racks.racks import FABRICS, KINDS, TRAINING

RULES: dict[str, Any] = {"greedy_budget_s": 60, "repair_budget_s": 10, "snapshot_every": 5}


def joined(fabric: str, upper: str, **changes: Any) -> Cluster:
    given = FABRICS[fabric] | {"upper": KINDS[upper] | changes}
    return Cluster.model_validate({"device": "h100-sxm", "fabric": given})


def opened(cluster: Cluster, path: str | Path = ":memory:", **rules: Any) -> Controller:
    return Controller(cluster, path, Settings.model_validate(RULES | rules))


def training(name: str, accelerators: Any, **changes: Any) -> Request:
    return Request.model_validate({"name": name, "workload": TRAINING, "accelerators": accelerators} | changes)


def racks_of(place: Place) -> list[int]:
    fabric = place.row.options.fabric
    return sorted({fabric.rack_of(server) for server in place.servers})


def held_above(controller: Controller) -> tuple[object, ...]:
    """Links of the layer that are free, and those that are taken, as the free state of a controller has them."""
    state: FreeState = controller._durable.state.free.state
    assert state.links is not None
    return dict(state.links.free), dict(state.links.taken), [*state.free]


def step(
    controller: Controller, random: Random, number: int, down: list[str], sizes: list[int]
) -> tuple[Decision, ...]:
    """One event that may happen to a cluster, under a key of its own."""
    at_s, key, what, names = 10.0 * number, f"k{number}", random.random(), sorted(controller.running)
    if what < 0.55 or not names:
        limit = random.choice((None, 100, 300))
        request = training(
            f"j{number}", random.choice(sizes), duration_s=limit, priority=random.choice((0, 0, 0, 2)),
            preemptible=random.random() < 0.5,
        )  # fmt: skip
        return controller.submit(request, key=key, at_s=at_s)
    if what < 0.8:
        return controller.finish(random.choice(names), key=key, at_s=at_s)
    if down and what < 0.9:
        return controller.repair(down.pop(), key=key, at_s=at_s)
    fabric = controller.cluster.fabric
    parts = [name for of in controller.cluster.upper_links.values() for name in of if name]
    parts += [fabric.device_name(server, 0) for server in range(fabric.num_servers)]
    working = [part for part in parts if part not in down]
    if not working:
        return controller.finish(random.choice(names), key=key, at_s=at_s)
    part = random.choice(working)
    down.append(part)
    return controller.fail(part, key=key, at_s=at_s)
