"""Shared by the tests of `extender_replies` and `extender`."""

from collections.abc import Callable
from typing import Any

from tests.planner.integrations.kubernetes.world import World

Make = Callable[..., World]


NAMES = ["n0", "n1", "n2", "n3"]


def gang(world: World, name: str, pods: int, each: int, **more: Any) -> list[dict[str, Any]]:
    return [world.pod(f"{name}-{i}", each, name, pods, **more) for i in range(pods)]
