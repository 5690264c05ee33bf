"""A failure of a part that no job uses disturbs nobody: on every fabric, whatever runs."""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from costmodel.fabrics import DividedPorts, FabricBase, Lightpath, OcsRail, Sipam
from planner.checks import check
from planner.fabrics import fabrics
from planner.model import files
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.repair import repair
from tests.planner.checks.plans import SERVING, TRAINING

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{kind: (kind, {}) for kind in fabrics()},
    "crossing": ("lightpath", {"waveguides": "shared", "transit": 1, "wavelengths_per_tile": 4}),
    "separate": ("torus", {"switches": None}),
}
TILES = {"torus": 8, "sipac": 16, "crossing": 4}
MOST_PARTS = 6
"""failures tried of each plan"""


def instance_of(name: str, rng: Random) -> Instance:
    """Two or three servers of a fabric under jobs of one accelerator and of several."""
    kind, changes = VARIANTS[name]
    servers = rng.choice((2, 3))
    text = fabrics()[kind].template.text(servers=servers, tiles=TILES.get(name, TILES.get(kind, 4)), fibers=2)
    fabric = files.parse_text(text, kind)["fabric"] | changes
    jobs = [
        {
            "name": f"j{number}",
            "workload": SERVING if size == 1 else TRAINING,
            "accelerators": size,
            "weight": rng.choice((1, 2)),
        }
        for number, size in enumerate(rng.choices((1, 1, 2, 4, 8), k=rng.choice((2, 3, 4))))
    ]
    cluster = {"device": "h100-sxm", "fabric": fabric}
    return Instance.parse({"schema_version": 1, "name": name, "cluster": cluster, "jobs": jobs})


def parts_of(fabric: FabricBase) -> Iterator[str]:
    """Every part that can fail, by name."""
    for server, slot in product(range(fabric.num_servers), range(fabric.devices_per_server)):
        device = fabric.device_name(server, slot)
        yield from (device, f"{device}:port")
        if isinstance(fabric, Lightpath):
            yield from (f"{device}:{end}w{w}" for end in ("", "rx:") for w in range(fabric.wavelengths_per_tile))
    yield from fabric.switch_names
    for a, b in product(range(fabric.num_servers), repeat=2):
        names = fabric.server_name(a), fabric.server_name(b)
        yield from (f"{names[0]}>{names[1]}#{number}" for number in range(fabric.num_fibers(a, b)))
    for server in range(fabric.num_servers if isinstance(fabric, Sipam) else 0):
        assert isinstance(fabric, Sipam)
        home = fabric.server_name(server)
        for tray in range(fabric.trays_per_server):
            yield from (f"{home}.m{tray}.u{unit}" for unit in range(fabric.units_per_tray))
            ports = product(range(fabric.local_rails), range(fabric.tray_ports))
            yield from (f"{home}.m{tray}.q{rail}#{port}" for rail, port in ports)
        spine = product(range(fabric.local_rails, fabric.num_io), range(fabric.uplinks))
        yield from (f"{home}.q{rail}#{uplink}" for rail, uplink in spine)


def parts_used(fabric: FabricBase, job: Assignment) -> Iterator[str]:
    """Parts without which a job could not go on as it runs."""
    needs_port = len(job.devices) > 1 or isinstance(fabric, Sipam | DividedPorts)
    for device in job.devices:
        yield from (device, *([f"{device}:port"] if needs_port else []))
    for plug in job.memory:
        yield from (plug.port, *plug.units, f"{plug.device.rpartition('.')[0]}.q{plug.rail}")
    for circuit in (circuit for held in job.circuits for circuit in held.circuits):
        ends = [name.rpartition(".") for name in (circuit.source, circuit.destination)]
        yield from circuit.fibers
        for w in circuit.wavelengths:
            yield from (f"{circuit.source}:w{w}", f"{circuit.destination}:rx:w{w}")
            if isinstance(fabric, OcsRail):
                yield f"q{ends[0][2][1:]}#{w}"
            if isinstance(fabric, Sipam):
                yield from (*(f"{server}.q{w}" for server, _, _ in ends), f"q{w}")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", VARIANTS)
def test_a_failed_part_that_no_job_uses_changes_nothing(name: str, seed: int) -> None:
    rng = Random(f"{name} {seed}")
    instance = instance_of(name, rng)
    policy = rng.choice(("first_fit", "best_fit", "random_fit"))
    plan = solve(instance, policy=policy, options=SolveOptions(seed=seed)).plan
    assert plan is not None
    fabric = instance.cluster.fabric
    used = {part for job in plan.assignments for part in parts_used(fabric, job)}
    free = sorted({part for part in parts_of(fabric) if part not in used}, key=lambda part: rng.random())
    ports = [part for part in free if part.endswith(":port")][:MOST_PARTS]
    for part in (*ports, *[part for part in free if part not in ports][:MOST_PARTS]):
        untouched(instance, plan, part)


def untouched(instance: Instance, plan: Plan, part: str) -> None:
    """The plan is right as it is, but for what it says of free parts, and that is what its repair comes to."""
    found = repair(instance, plan, [part])
    assert check(found.instance, plan.model_copy(update={"objectives": {}})) == [], part
    assert (found.outcome, found.moves, found.changed_circuits, found.is_fewest) == ("intact", (), 0, True), part
    assert found.plan is not None
    assert found.plan.assignments == plan.assignments, part
    assert check(found.instance, found.plan) == [], part


@pytest.mark.slow
def test_a_free_uplink_that_a_job_reserves_changes_nothing() -> None:
    """Of four ranks that all exchange sums one lies apart: a rail needs one uplink, it keeps two."""
    text = fabrics()["sipam"].template.text(servers=2, tiles=3, fibers=0)
    fabric = files.parse_text(text, "sipam")["fabric"] | {"uplinks": 2}
    jobs = [
        {"name": "one", "workload": SERVING, "accelerators": 1},
        {"name": "four", "workload": TRAINING, "accelerators": 4, "constraints": {"collective": "exchange"}},
    ]
    cluster = {"device": "h100-sxm", "fabric": fabric}
    instance = Instance.parse({"schema_version": 1, "name": "reserve", "cluster": cluster, "jobs": jobs})
    plan = solve(instance, options=SolveOptions(time_limit_s=5, workers=1)).plan
    assert plan is not None
    used = {name for held in plan["four"].circuits for circuit in held.circuits for name in circuit.fibers}
    idle = sorted({f"{name[:-1]}{1 - int(name[-1])}" for name in used} - used)
    assert idle
    for part in idle:
        untouched(instance, plan, part)
        assert {v.rule for v in check(repair(instance, plan, [part]).instance, plan, starts=True)} == {"pool_network"}
