"""An elastic Job that runs, and what is seen of it."""

from typing import Any

from planner.integrations.kubernetes.pods import Pod
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.items import holds
from tests.planner.integrations.kubernetes.world import World

Seat = tuple[str, str, str]
"""uid, node and accelerators there"""


def seats(world: World, name: str = "train") -> set[Seat]:
    """Of the pods of an elastic Job that are on nodes."""
    pods = [pod for pod in map(Pod, world.elastic.pods(name)) if pod.node]
    return {(pod.uid, pod.node, pod.annotations["photonplan.io/cuda-visible-devices"]) for pod in pods}


def devices(world: World, name: str = "train") -> list[str]:
    """Accelerators that the one job of a Job holds."""
    (job,) = [job for key, job in world.jobs().items() if key.startswith(f"team/{name}~")]
    return [] if job.place is None else [*job.place.device_names]


def last_check(world: World, name: str = "train") -> dict[str, Any]:
    found: dict[str, Any] = world.elastic.slices(name)[-1]["status"]["admissionChecks"][0]
    return found


def was_evicted(world: World) -> bool:
    told = (change.after for change in world.emulator.events if change.after is not None)
    return any(holds(item.get("status") or {}, "Evicted") for item in told)


def running(make_world: Make, pods: int = 2, **about: str) -> World:
    world = make_world()
    world.elastic.submit("train", pods, 8, **about)
    world.settle(4)
    assert len(seats(world)) == pods
    return world
