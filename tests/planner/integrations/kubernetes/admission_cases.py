"""Shared by the tests of `admission`, `loop` and `nodes`."""

from collections.abc import Callable

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.world import World

Make = Callable[..., World]


def seats(world: World, name: str) -> list[tuple[str, str]]:
    return [
        (pod.node, pod.annotations["photonplan.io/cuda-visible-devices"])
        for pod in map(Pod, world.pods(f"team/{name}"))
    ]
