"""Shared by the tests of `extender_replies` and `extender`."""

from collections.abc import Callable
from typing import Any

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.world import World

Make = Callable[..., World]
NAMES = ["n0", "n1", "n2", "n3"]


def gang(world: World, name: str, pods: int, each: int, **more: Any) -> list[dict[str, Any]]:
    return [world.pod(f"{name}-{i}", each, name, pods, **more) for i in range(pods)]


def bound(world: World) -> dict[str, tuple[str, str]]:
    pods = map(Pod, world.pods())
    return {p.name: (p.node, p.annotations["photonplan.io/cuda-visible-devices"]) for p in pods if p.node}


def occupy(world: World, counts: list[int]) -> None:
    """So many accelerators of each node are taken."""
    for number, count in enumerate(counts):
        others = [f"s{i}" for i in range(4) if i != number]
        for server in others:
            world.controller.drain(server)
        if count:
            gang(world, f"small{number}", 1, count)
            world.loop.tick()
            assert world.schedule() == {}
        for server in others:
            world.controller.undrain(server)
