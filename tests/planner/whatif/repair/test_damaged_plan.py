"""A failure of a part that no job uses disturbs nobody: on every fabric, whatever runs."""

from random import Random
from typing import Any

import pytest

from planner.checks import check
from planner.fabrics import fabrics
from planner.model import files
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.repair import repair
from tests.planner.checks.plans import SERVING, TRAINING
from tests.planner.whatif.repair.damaged_plan_cases import parts_of, parts_used
from tests.planner.whatif.repair.pools_cases import Pool

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    **{kind: (kind, {}) for kind in fabrics()},
    "crossing": ("lightpath", {"waveguides": "shared", "transit": 1, "wavelengths_per_tile": 4}),
    "separate": ("torus", {"switches": None}),
    "boards": ("torus", {"boards": {"sides": [2, 1, 1], "wavelengths_per_fiber": 2}}),
}
TILES = {"torus": 8, "boards": 8, "sipac": 16, "crossing": 4}
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
    return Instance.parse({"schema_version": 2, "name": name, "cluster": cluster, "jobs": jobs})


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
    instance = Instance.parse({"schema_version": 2, "name": "reserve", "cluster": cluster, "jobs": jobs})
    plan = solve(instance, options=SolveOptions(time_limit_s=5, workers=1)).plan
    assert plan is not None
    used = {name for held in plan["four"].circuits for circuit in held.circuits for name in circuit.fibers}
    idle = sorted({f"{name[:-1]}{1 - int(name[-1])}" for name in used} - used)
    assert idle
    for part in idle:
        untouched(instance, plan, part)
        assert {v.rule for v in check(repair(instance, plan, [part]).instance, plan, starts=True)} == {"pool_network"}


def test_an_unused_uplink_is_no_loss(pool: Pool) -> None:
    instance, plan = pool
    used = {name for a in plan.assignments for held in a.circuits for c in held.circuits for name in c.fibers}
    every = (f"s{server}.q{rail}#{i}" for server in range(2) for rail in range(8, 12) for i in range(8))
    uplink = next(name for name in every if name not in used)
    found = repair(instance, plan, [uplink])
    assert found.outcome == "intact"
    assert found.plan is not None
    assert found.plan.assignments == plan.assignments
