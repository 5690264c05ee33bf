"""Jobs on slices of a torus or SiPAC: good plans written by hand, and each way to break them."""

from itertools import product
from typing import Any

import pytest

from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks import check
from planner.checks.schedule import Schedule, ends_reduced
from planner.fabrics.slices.rule_links import rounds_of
from planner.model.instance import Instance
from planner.model.plan import HeldCircuits, Plan
from tests.planner.checks.plans import SERVING, assign, broken, edited, held, job, plan_of, relocated, rewired

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
    return Instance.parse({"schema_version": 1, "name": "tiny", "cluster": cluster, "jobs": list(jobs)})


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


@pytest.mark.parametrize("name", GOOD)
def test_good_plans(name: str) -> None:
    assert check(*GOOD[name]()) == []


def swapped(plan: Plan, name: str, one: int, other: int) -> Plan:
    devices = list(plan[name].devices)
    devices[one], devices[other] = devices[other], devices[one]
    return edited(plan, name, devices=tuple(devices))


@pytest.mark.parametrize("name", ["box", "rotated", "subcube", "parts"])
def test_ranks_have_their_places(name: str) -> None:
    instance, plan = GOOD[name]()
    assert "cut" in broken(instance, swapped(plan, name, 0, 1))


def test_devices_are_a_box() -> None:
    instance, plan = box()
    assert "cut" in broken(instance, relocated(plan, "box", s1_c20="s1.c19"))
    inner = chips(1, *((x, y, 2) for x in (0, 1, 2) for y in (0, 1)))
    assert broken(instance, edited(plan, "box", devices=tuple(inner.split()))) == set()
    tilted = chips(1, *((x, y, (2 + x) % 3) for x in (0, 1, 2) for y in (0, 1)))
    assert "cut" in broken(instance, edited(plan, "box", devices=tuple(tilted.split())))


def test_a_spanned_axis_starts_at_zero() -> None:
    instance, plan = rotated()
    shifted = chips(0, *(((x + 1) % 4, 1, z) for z in range(3) for x in range(4)))
    assert broken(instance, edited(plan, "rotated", devices=tuple(shifted.split()))) == {"cut"}


def test_boxes_of_cubes_do_not_cross_their_rims() -> None:
    sides = CUBES | {"sides": [3, 2, 2]}
    instance = sliced(sides, job("pair", 2))
    configuration = Configuration(data=2, block=2, data_collective=taking("bucket", 2, 1, 1))
    good = plan_of(instance, assign("pair", configuration, "s0.c4 s0.c8"))
    assert check(instance, good) == []
    assert broken(instance, edited(good, "pair", devices=("s0.c8", "s0.c0"))) == {"cut", "rounds"}


def test_dimensions_do_not_share_an_axis() -> None:
    instance, plan = plane()
    configuration = plan["plane"].configuration.model_copy(update={"data_collective": taking("bucket", 2, 1, 1)})
    assert {"cut", "listed"} <= broken(instance, edited(plan, "plane", configuration=configuration))


def test_other_orientations_are_not_listed() -> None:
    instance, plan = plane()
    turned = {"tensor_collective": taking("bucket", 1, 2, 1), "data_collective": taking("bucket", 2, 1, 1)}
    configuration = plan["plane"].configuration.model_copy(update=turned)
    found = broken(instance, swapped(edited(plan, "plane", configuration=configuration), "plane", 1, 2))
    assert found == {"listed"}


@pytest.mark.parametrize("ends", ["s2.c5 s2.c1", "s2.c3 s2.c1"])
def test_a_slice_needs_its_circuits(ends: str) -> None:
    instance, plan = plane()
    assert broken(instance, rewired(plan, "plane", drop=ends)) == {"switches", "rounds"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "s2.c5 s2.c1 0 x3",
        "s2.c5 s2.c1 1 x1",
        "s2.c5 s2.c1 0",
        "s2.c1 s2.c5 0 x1",
        "s2.c4 s2.c0 0 x0",
        "s2.c7 s2.c6 0 z3",
    ],
)
def test_it_needs_no_others(line: str) -> None:
    instance, plan = plane()
    assert "switches" in broken(instance, rewired(plan, "plane", line))


def test_circuits_are_one_configuration_of_the_slice() -> None:
    instance, plan = plane()
    two = (loops().model_copy(update={"circuits": loops().circuits[:2]}),) * 1
    rest = loops().model_copy(update={"circuits": loops().circuits[2:]})
    assert broken(instance, edited(plan, "plane", circuits=(*two, rest))) == {"switches"}
    renamed = loops().model_copy(update={"dimension": "data"})
    assert broken(instance, edited(plan, "plane", circuits=(renamed,))) == {"switches"}


def test_failed_switches_carry_nothing() -> None:
    _, plan = plane()
    for name, expected in (("x1", {"switches"}), ("x0", set()), ("z3", set())):
        instance = sliced(CUBES, job("plane", 4), health={"failed_switches": [name]})
        assert broken(instance, plan) == expected


def test_a_port_is_taken_once() -> None:
    _, plan = plane()
    instance = sliced(CUBES, job("plane", 4), job("other", 4))
    double = Plan(instance="tiny", assignments=(plan["plane"], plan["plane"].model_copy(update={"job": "other"})))
    ports = [v for v in check(instance, double) if v.rule == "switches"]
    assert {v.where for v in ports} == {"switch x1", "switch x3", "switch y1", "switch y3"}


def test_cubes_of_a_slice_are_joined_as_they_lie() -> None:
    instance, plan = whole()
    exchanged = tuple(
        name.replace("s3", "sX").replace("s1", "s3").replace("sX", "s1") for name in plan["whole"].devices
    )
    assert broken(instance, edited(plan, "whole", devices=exchanged)) == set()
    mixed = swapped(swapped(plan, "whole", 0, 2), "whole", 1, 3)
    assert {"cut", "switches"} <= broken(instance, mixed)
    crossed = rewired(plan, "whole", "s3.c4 s3.c0 0 x0", drop="s3.c4 s1.c0")
    assert {"switches", "rounds"} <= broken(instance, crossed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "radices"),
    [
        ("plane", (2,)),
        ("plane", (2, 1)),
        ("plane", (2, 1, 1, 1)),
        ("plane", (1, 1, 7)),
        ("whole", (4, 4, 1)),
        ("subcube", (9,)),
        ("subcube", (3, 3, 3, 3)),
    ],
)
def test_extents_that_make_up_no_box(case: str, radices: tuple[int, ...]) -> None:
    instance, plan = GOOD[case]()
    collective = taking("bucket", *radices)
    for dimension in ("tensor", "data"):
        configuration = plan[case].configuration.model_copy(update={f"{dimension}_collective": collective})
        assert {"listed", "cut"} <= broken(instance, edited(plan, case, configuration=configuration))


def test_plain_tori_and_sipacs_have_no_circuits() -> None:
    for name, rule in (("box", "switches"), ("subcube", "circuits")):
        instance, plan = GOOD[name]()
        first, second = plan[name].devices[:2]
        wired = edited(plan, name, circuits=(held("slice", f"{first} {second} 0"),))
        assert rule in broken(instance, wired)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("ranks", range(2, 8))
def test_steps_along_an_axis_reduce_every_chunk_once(ranks: int, closed: bool) -> None:
    """A reduce-scatter and the same steps back, as an all-gather; the chunks of a rank are reduced there."""
    for joins_all in (False, True):
        forth = rounds_of(ranks, joins_all=joins_all, closed=closed)
        back = tuple(
            type(each)(0, tuple((b, a, chunks) for a, b, chunks in each.sends), adds=False) for each in reversed(forth)
        )
        assert ends_reduced(Schedule((*forth, *back), num_chunks=2 * ranks), ranks)
        assert all(joins_all or abs(a - b) in (1, ranks - 1) for each in forth for a, b, _ in each.sends)
        assert closed or joins_all or all(abs(a - b) == 1 for each in forth for a, b, _ in each.sends)
