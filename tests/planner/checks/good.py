"""The good plans by name."""

from collections.abc import Callable, Sequence
from typing import Any

from costmodel.parallelism.configuration import Configuration
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from tests.planner.checks.plans import FAT_TREE, SERVING, assign, collective, held, instance_of, job, plan_of

Case = tuple[Instance, Plan]


def ring_assignment(name: str = "ring") -> Assignment:
    """Four data ranks in a ring over two servers, two wavelengths wide."""
    return assign(
        name,
        Configuration(data=4, data_collective=collective("ring", 2)),
        "s0.t0 s0.t1 s1.t0 s1.t1",
        held(
            "data",
            "s0.t0 s0.t1 0,1",
            "s0.t1 s1.t0 0,1 s0>s1#0",
            "s1.t0 s1.t1 0,1",
            "s1.t1 s0.t0 0,1 s1>s0#1",
        ),
    )


def ring(fabric: dict[str, Any] | None = None, **fields: Any) -> Case:
    instance = instance_of(job("ring", 4), fabric=fabric, **fields)
    return instance, plan_of(instance, ring_assignment())


def crossing(fabric: dict[str, Any] | None = None, more: Sequence[dict[str, Any]] = (), **fields: Any) -> Case:
    """The ring on the first and the last of three servers in a row; its light crosses the second one."""
    near = (("s0", "s1"), ("s1", "s0"), ("s1", "s2"), ("s2", "s1"))
    row = {"servers": 3, "transit": 1, "fibers": [{"from": a, "to": b, "count": 2} for a, b in near]}
    instance = instance_of(job("ring", 4), *more, fabric={**row, **(fabric or {})}, **fields)
    assignment = assign(
        "ring",
        Configuration(data=4, data_collective=collective("ring", 2)),
        "s0.t0 s0.t1 s2.t0 s2.t1",
        held(
            "data",
            "s0.t0 s0.t1 0,1",
            "s0.t1 s2.t0 0,1 s0>s1#0 s1>s2#1",
            "s2.t0 s2.t1 0,1",
            "s2.t1 s0.t0 0,1 s2>s1#0 s1>s0#0",
        ),
    )
    return instance, plan_of(instance, assignment)


def switched() -> Case:
    """Radix 2 x 2: digit 0 inside the servers, then digit 1 between them, four wavelengths each."""
    instance = instance_of(job("switched", 4))
    radix = collective("radix", 4, 4, radices=(2, 2), held=(1, 1))
    inside = [f"s{s}.t{a} s{s}.t{1 - a} 0,1,2,3" for s in (0, 1) for a in (0, 1)]
    between = [f"s{s}.t{a} s{1 - s}.t{a} 0,1,2,3 s{s}>s{1 - s}#{a}" for s in (0, 1) for a in (0, 1)]
    assignment = assign(
        "switched",
        Configuration(data=4, data_collective=radix),
        "s0.t0 s0.t1 s1.t0 s1.t1",
        held("data", *inside),
        held("data", *between),
    )
    return instance, plan_of(instance, assignment)


def at_once() -> Case:
    """Radix 2 x 2 with both digits in one configuration, two wavelengths each, two peers for each tile."""
    instance = instance_of(job("at_once", 4), fabric={"max_peers": 2})
    radix = collective("radix", 2, 2, radices=(2, 2), held=(2,))
    inside = [f"s{s}.t{a} s{s}.t{1 - a} 0,1" for s in (0, 1) for a in (0, 1)]
    between = [f"s{s}.t{a} s{1 - s}.t{a} 2,3 s{s}>s{1 - s}#{a}" for s in (0, 1) for a in (0, 1)]
    assignment = assign(
        "at_once",
        Configuration(data=4, data_collective=radix),
        "s0.t0 s0.t1 s1.t0 s1.t1",
        held("data", *inside, *between),
    )
    return instance, plan_of(instance, assignment)


def exchange() -> Case:
    """Three data ranks that all send whole messages to each other, in one server."""
    instance = instance_of(job("exchange", 3))
    circuits = held(
        "data",
        "s0.t0 s0.t1 0,1",
        "s0.t0 s0.t2 2,3",
        "s0.t1 s0.t2 0,1",
        "s0.t1 s0.t0 2,3",
        "s0.t2 s0.t0 0,1",
        "s0.t2 s0.t1 2,3",
    )
    configuration = Configuration(data=3, data_collective=collective("exchange", 2, radices=(3,), held=(1,)))
    return instance, plan_of(instance, assign("exchange", configuration, "s0.t0 s0.t1 s0.t2", circuits))


def beyond() -> Case:
    """Eight data ranks exchange sums by 3 x 3: to the ranks 3 and 5 ahead, then 1 and 2 ahead, forth and back."""
    instance = instance_of(job("beyond", 8), fabric={"tiles_per_server": 8, "max_peers": 2})
    circuits = [
        held("data", *(f"s0.t{a} s0.t{(a + far) % 8} {light}" for far, light in zip(ahead, ("0,1", "2,3"), strict=True)
                       for a in range(8)))
        for ahead in ((3, 5), (1, 2))
    ]  # fmt: skip
    sums = collective("exchange", 2, 2, radices=(3, 3), held=(1, 1)).model_copy(update={"order": "alternating"})
    devices = " ".join(f"s0.t{slot}" for slot in range(8))
    configuration = Configuration(data=8, data_collective=sums)
    return instance, plan_of(instance, assign("beyond", configuration, devices, *circuits))


def line() -> Case:
    """Four pipeline stages, the last in the other server."""
    instance = instance_of(job("line", 4))
    circuits = held(
        "pipeline",
        "s0.t0 s0.t1 0,1",
        "s0.t1 s0.t2 0,1",
        "s0.t2 s1.t2 0,1 s0>s1#0",
        "s0.t1 s0.t0 2,3",
        "s0.t2 s0.t1 2,3",
        "s1.t2 s0.t2 2,3 s1>s0#0",
    )
    configuration = Configuration(pipeline=4, pipeline_collective=collective("line", 2))
    return instance, plan_of(instance, assign("line", configuration, "s0.t0 s0.t1 s0.t2 s1.t2", circuits))


def grid() -> Case:
    """Two tensor ranks in each of two servers, two data ranks across; both data rings share a fiber."""
    instance = instance_of(job("grid", 4))
    configuration = Configuration(
        tensor=2,
        data=2,
        block=2,
        tensor_collective=collective("exchange", 4, radices=(2,), held=(1,)),
        data_collective=collective("ring", 2),
    )
    tensor = [f"s{s}.t{a} s{s}.t{1 - a} 0,1,2,3" for s in (0, 1) for a in (0, 1)]
    data = [f"s{s}.t{a} s{1 - s}.t{a} {2 * a},{2 * a + 1} s{s}>s{1 - s}#0" for s in (0, 1) for a in (0, 1)]
    assignment = assign("grid", configuration, "s0.t0 s0.t1 s1.t0 s1.t1", held("tensor", *tensor), held("data", *data))
    return instance, plan_of(instance, assignment)


def pair(name: str, a: str, b: str, wavelengths: str) -> Assignment:
    """Two data ranks of one server in a ring."""
    width = len(wavelengths.split(","))
    configuration = Configuration(data=2, data_collective=collective("ring", width))
    circuits = held("data", f"{a} {b} {wavelengths}", f"{b} {a} {wavelengths}")
    return assign(name, configuration, f"{a} {b}", circuits)


def shared(waveguides: str = "shared") -> Case:
    """Two jobs whose light meets between slots 1 and 2, on different wavelengths."""
    instance = instance_of(job("one", 2), job("two", 2), fabric={"waveguides": waveguides})
    jobs = pair("one", "s0.t0", "s0.t2", "0,1"), pair("two", "s0.t1", "s0.t5", "2,3")
    return instance, plan_of(instance, *jobs)


def loss() -> Case:
    """The ring with nothing to spare: its longest way is one boundary and one fiber."""
    return ring({"loss_per_tile": "0.1 dB", "loss_per_fiber": "0.2 dB", "loss_budget": "0.3 dB"})


def resident_of(assignment: Assignment, **fields: Any) -> dict[str, Any]:
    kept = assignment.model_dump(include={"devices", "configuration", "circuits"})
    return {**job(assignment.job, len(assignment.devices)), **kept, **fields}


def staying(**fields: Any) -> Case:
    """The ring runs already and stays, beside a new job."""
    health = fields.pop("health", None)
    resident = resident_of(ring_assignment(), **fields)
    instance = instance_of(job("new", 2), residents=(resident,), health=health)
    return instance, plan_of(instance, ring_assignment(), pair("new", "s0.t3", "s0.t4", "0,1,2,3"))


def moved() -> Case:
    """The resident makes room in the first server."""
    resident = resident_of(pair("old", "s0.t0", "s0.t1", "0,1"), move_cost=2.5)
    instance = instance_of(residents=(resident,))
    return instance, plan_of(instance, pair("old", "s1.t0", "s1.t1", "0,1"))


def replicas() -> Case:
    """Two replicas that send nothing, on two servers."""
    instance = instance_of({**job("replicas", 2), "workload": SERVING}, fabric={"racks": 2})
    configuration = Configuration(data=2, micro_batch=4)
    return instance, plan_of(instance, assign("replicas", configuration, "r0.s0.t0 r0.s1.t0"))


def pools() -> Case:
    """One replica runs prompts and hands their caches to two others, one of them in another server."""
    workload = {**SERVING, "disaggregated": True}
    instance = instance_of({**job("pools", 3), "workload": workload}, fabric={"max_peers": 2})
    configuration = Configuration(
        data=3, prefill=1, micro_batch=4, data_collective=collective("transfer", 2, radices=(1, 2))
    )
    there = "s0.t0 s0.t1 0,1", "s0.t0 s1.t0 2,3 s0>s1#0"
    back = "s0.t1 s0.t0 0,1", "s1.t0 s0.t0 2,3 s1>s0#0"
    return instance, plan_of(instance, assign("pools", configuration, "s0.t0 s0.t1 s1.t0", held("data", *there, *back)))


def single() -> Case:
    """One device, whose port has failed."""
    instance = instance_of(job("single", 1), health={"failed_ports": ["s0.t0"]})
    return instance, plan_of(instance, assign("single", Configuration(), "s0.t0"))


def fat_tree() -> Case:
    """Tensor ranks in islands, data ranks over packet switches, one rack and the next."""
    instance = instance_of(job("packets", 4), fabric={**FAT_TREE, "racks": 2, "servers": 1})
    configuration = Configuration(
        tensor=2,
        data=2,
        block=2,
        tensor_collective=collective("ring"),
        data_collective=collective("ring"),
    )
    return instance, plan_of(instance, assign("packets", configuration, "r0.s0.g0 r0.s0.g1 r1.s0.g0 r1.s0.g1"))


GOOD: dict[str, Callable[[], Case]] = {
    "ring": ring,
    "crossing": crossing,
    "switched": switched,
    "at_once": at_once,
    "exchange": exchange,
    "beyond": beyond,
    "line": line,
    "grid": grid,
    "shared": shared,
    "dedicated": lambda: shared("dedicated"),
    "loss": loss,
    "staying": staying,
    "moved": moved,
    "replicas": replicas,
    "pools": pools,
    "single": single,
    "fat_tree": fat_tree,
}
