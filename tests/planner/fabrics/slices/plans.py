"""Plans on slices, and ways to break them."""

from itertools import product
from typing import Any

from costmodel.parallelism.configuration import Collective, Configuration
from planner.model.instance import Instance
from planner.model.plan import HeldCircuits, Plan
from tests.planner.checks.plans import SERVING, assign, edited, held, job, plan_of

POD: dict[str, Any] = {
    "kind": "torus", "servers": 2, "sides": [4, 2, 3], "link_bandwidth": "1 GB/s", "alpha": "1 us",
    "link_energy": "10 pJ/B",
}  # fmt: skip
CUBES = POD | {"servers": 4, "sides": [2, 2, 2], "switches": {"ports": 8, "energy": "20 pJ/B"}}
SIPAC: dict[str, Any] = {
    "kind": "sipac", "servers": 2, "radix": 3, "digits": 3, "bandwidth": "6 GB/s", "alpha": "1 us", "energy": "1 pJ/B",
}  # fmt: skip


def sliced(fabric: dict[str, Any], *jobs: dict[str, Any], health: dict[str, Any] | None = None) -> Instance:
    cluster = {"device": "h100-sxm", "fabric": fabric, "health": health or {}}
    return Instance.parse({"schema_version": 2, "name": "tiny", "cluster": cluster, "jobs": list(jobs)})


def taking(kind: Any, *radices: int) -> Collective:
    return Collective(kind=kind, radices=radices)


def chips(server: int, *points: tuple[int, int, int], sides: tuple[int, int, int] = (4, 2, 3)) -> str:
    return " ".join(f"s{server}.c{(x * sides[1] + y) * sides[2] + z}" for x, y, z in points)


def box() -> tuple[Instance, Plan]:
    """Two tensor ranks along y, three stages along x, across the rim; the box starts at x = 3."""
    configuration = Configuration(
        tensor=2,
        pipeline=3,
        block=6,
        tensor_collective=taking("bucket", 1, 2, 1),
        pipeline_collective=taking("chain", 3, 1, 1),
    )
    devices = chips(1, *((x % 4, y, 2) for x in (3, 4, 5) for y in (0, 1)))
    model = {"layers": 6, "hidden": 64, "heads": 4, "kv_heads": 4, "head_dim": 16, "ffn": 128, "vocabulary": 256}
    workload = {"kind": "transformer_training", "model": model, "global_batch": 24, "sequence": 32, "micro_batch": 1}
    instance = sliced(POD, job("box", 6) | {"workload": workload})
    return instance, plan_of(instance, assign("box", configuration, devices))


def rotated() -> tuple[Instance, Plan]:
    """Twelve data ranks on a whole plane of x and z."""
    configuration = Configuration(data=12, block=12, data_collective=taking("rotated", 4, 1, 3))
    instance = sliced(POD, job("rotated", 12))
    devices = chips(0, *((x, 1, z) for z in range(3) for x in range(4)))
    return instance, plan_of(instance, assign("rotated", configuration, devices))


def loops() -> HeldCircuits:
    """Wraps of a plane of x and y of cube 2 at z = 1."""
    wraps = ["s2.c5 s2.c1 0 x1", "s2.c7 s2.c3 0 x3", "s2.c3 s2.c1 0 y1", "s2.c7 s2.c5 0 y3"]
    return held("slice", *wraps)


def plane() -> tuple[Instance, Plan]:
    """Two tensor ranks along x and two data ranks along y of a cube: each axis closes through switches."""
    configuration = Configuration(
        tensor=2,
        data=2,
        block=4,
        tensor_collective=taking("bucket", 2, 1, 1),
        data_collective=taking("bucket", 1, 2, 1),
    )
    instance = sliced(CUBES, job("plane", 4))
    return instance, plan_of(instance, assign("plane", configuration, "s2.c1 s2.c5 s2.c3 s2.c7", loops()))


def whole() -> tuple[Instance, Plan]:
    """Four tensor ranks along x of cubes 3 and 1, two data ranks along y and two stages along z."""
    configuration = Configuration(
        tensor=4,
        pipeline=2,
        data=2,
        tensor_collective=taking("bucket", 4, 1, 1),
        pipeline_collective=taking("chain", 1, 2, 1),
        data_collective=taking("bucket", 1, 1, 2),
    )
    instance = sliced(CUBES, job("whole", 16))
    devices, lines = [], []
    for data, stage, x in product(range(2), range(2), range(4)):
        devices.append(f"s{(3, 1)[x // 2]}.c{(x % 2) * 4 + stage * 2 + data}")
    for a, b in product(range(2), repeat=2):
        lines += [f"s{s}.c{4 + 2 * a + b} s{t}.c{2 * a + b} 0 x{2 * a + b}" for s, t in ((3, 1), (1, 3))]
        lines += [f"s{s}.c{4 * a + 2 + b} s{s}.c{4 * a + b} 0 y{2 * a + b}" for s in (3, 1)]
        lines += [f"s{s}.c{4 * a + 2 * b + 1} s{s}.c{4 * a + 2 * b} 0 z{2 * a + b}" for s in (3, 1)]
    return instance, plan_of(instance, assign("whole", configuration, " ".join(devices), held("slice", *lines)))


def parts() -> tuple[Instance, Plan]:
    """Two replicas of two ranks, each on a slice of its own."""
    configuration = Configuration(tensor=2, data=2, micro_batch=4, block=2, tensor_collective=taking("bucket", 1, 2, 1))
    instance = sliced(POD, {"name": "parts", "workload": SERVING, "accelerators": 4})
    devices = f"{chips(1, (0, 0, 0), (0, 1, 0))} {chips(0, (3, 0, 2), (3, 1, 2))}"
    return instance, plan_of(instance, assign("parts", configuration, devices))


def subcube() -> tuple[Instance, Plan]:
    """Three tensor ranks in digit 0 and three data ranks in digit 2, digit 1 being 2."""
    configuration = Configuration(
        tensor=3, data=3, block=9, tensor_collective=taking("bucket", 3), data_collective=taking("bucket", 3)
    )
    model = {"layers": 6, "hidden": 72, "heads": 3, "kv_heads": 3, "head_dim": 24, "ffn": 144, "vocabulary": 258}
    workload = {"kind": "transformer_training", "model": model, "global_batch": 24, "sequence": 32, "micro_batch": 1}
    instance = sliced(SIPAC, job("subcube", 9) | {"workload": workload})
    devices = " ".join(f"s1.a{tensor + 2 * 3 + data * 9}" for data in range(3) for tensor in range(3))
    return instance, plan_of(instance, assign("subcube", configuration, devices))


GOOD = {
    "box": box, "rotated": rotated, "plane": plane, "whole": whole, "parts": parts, "subcube": subcube,
}  # fmt: skip


def swapped(plan: Plan, name: str, one: int, other: int) -> Plan:
    devices = list(plan[name].devices)
    devices[one], devices[other] = devices[other], devices[one]
    return edited(plan, name, devices=tuple(devices))
