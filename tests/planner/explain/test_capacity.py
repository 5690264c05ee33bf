"""What a free place lacks: light, or accelerators that lie together."""

import re

import pytest

from planner.explain.capacity import why_no_block, why_unlisted
from planner.model.instance import Instance
from tests.planner.checks import plans
from tests.planner.checks.plans import FAT_TREE
from tests.planner.fabrics.divided_ports.clusters import FABRIC, instance, job
from tests.planner.small_racks import (
    ONE_SERVER,
    Fields,
    ask,
    is_possible,
    outcome,
    rack,
    serving,
    single,
    texts,
    training,
)


def with_fibers(data: Fields, *counts: tuple[str, str, int]) -> Fields:
    bundles = [{"from": a, "to": b, "count": n} for a, b, n in counts]
    cluster = data["cluster"] | {"fabric": data["cluster"]["fabric"] | {"fibers": bundles}}
    return data | {"cluster": cluster}


@pytest.mark.slow
def test_no_fibers_at_all() -> None:
    data = rack(training("x", 8))
    explanation = ask(data, "x")
    assert explanation.tag == "impossible alone"
    assert texts(explanation) == [
        "with 8 accelerators: needs 1 more fiber from s0 to s1 and 1 more fiber from s1 to s0",
        "fits with 1, 2, 3 or 4 accelerators",
    ]
    assert is_possible(with_fibers(data, ("s0", "s1", 1), ("s1", "s0", 1)), "x")
    assert not is_possible(with_fibers(data, ("s0", "s1", 1)), "x")


@pytest.mark.slow
def test_scattered_free_devices_and_the_move_that_joins_them() -> None:
    residents = [single("r0", "s0.t0"), single("r1", "s1.t0", move_cost=3)]
    data = rack(serving("x", 4, constraints=ONE_SERVER), residents=residents, objectives=["moves", "value"])
    explanation = ask(data, "x")
    assert explanation.tag == "does not fit beside this plan"
    assert explanation.headline == "x does not fit beside this plan (admitting it would cost 1 of moves)"
    said = texts(explanation)
    assert said[0] == "with 4 accelerators: no server has 4 free; most is 3 on s0"
    assert "fits with 4 accelerators if r0 moves to s1" in said
    slower = r"\(1\.\d+x slower than its fastest\)"
    assert any(re.fullmatch(f"fits with 2 accelerators {slower}", text) for text in said)
    assert any(re.fullmatch(f"fits on s0 and s1 if it may span servers {slower}", text) for text in said)
    moved = [single("r0", "s1.t1", movable=False), single("r1", "s1.t0", movable=False)]
    assert is_possible(data | {"residents": moved}, "x")
    stuck = [resident | {"movable": False} for resident in residents]
    assert not is_possible(data | {"residents": stuck}, "x")
    assert is_possible(data | {"residents": stuck}, "x", accelerators=2)
    assert is_possible(data | {"residents": stuck}, "x", constraints={})


@pytest.mark.slow
def test_fiber_that_another_job_holds() -> None:
    """p spans both servers on the only wavelength between them; x would have to, too."""
    residents = [single("r0", "s0.t0", movable=False), single("r1", "s1.t0", movable=False)]
    common: Fields = {"tiles": 3, "fibers": 1, "wavelengths_per_fiber": 1, "residents": residents}
    narrow = rack(training("p", 2), health={"failed_tiles": ["s0.t2", "s1.t2"]}, **common)
    plan = outcome(narrow).plan
    assert plan is not None
    data = rack(training("p", 2), training("x", 2), **common)
    explanation = ask(data, "x", plan)
    assert explanation.tag == "does not fit beside this plan"
    gain = 4.0 - plan.objectives["value"]
    assert explanation.cost == pytest.approx(-gain)
    assert explanation.headline.endswith(f"(a better plan admits it: {gain:.3g} more value)")
    said = texts(explanation)
    assert said[0] == "with 2 accelerators: needs 1 more fiber from s0 to s1 and 1 more fiber from s1 to s0"
    assert any(text.startswith("fits with 2 accelerators if p is rearranged on") for text in said)
    p = plan["p"].model_dump(include={"devices", "configuration", "circuits"})
    standing = [*residents, training("p", 2, movable=False, **p)]
    pinned = data | {"residents": standing, "jobs": data["jobs"][1:]}
    assert not is_possible(pinned, "x")
    assert not is_possible(with_fibers(pinned, ("s0", "s1", 2), ("s1", "s0", 1)), "x")
    assert is_possible(with_fibers(pinned, ("s0", "s1", 2), ("s1", "s0", 2)), "x")
    assert outcome(data).objective == pytest.approx(4.0)


def test_explain_says_what_the_largest_share_lacks() -> None:
    huge = {"kind": "dlrm", "mode": "inference", "model": "dlrm-10tb", "batch": 4096}
    fabric = FABRIC | {"memory": {"kind": "optical_modules", "part": "optical-hbm-a100"}}
    data = instance(job("a", 1, workload=huge)).model_dump(mode="json", by_alias=True, exclude_none=True)
    data["cluster"]["fabric"] = fabric
    asked = Instance.parse(data, "optical")
    assert "1924.4 GB more than it has" in (why_unlisted(asked, "a", 4) or "")


def test_servers_that_racks_lack() -> None:
    """Of racks where a server each has lost a part, none gives two whole ones; of two servers none gives three."""
    fabric = FAT_TREE | {"racks": 2, "servers": 2}
    health = {"failed_tiles": ["r0.s0.g0", "r1.s1.g0"]}

    def asking(*numbers: int) -> Fields:
        return plans.job("x", 4 * sum(numbers), constraints={"per_server": 4, "servers_by_rack": numbers})

    broken = plans.instance_of(asking(1, 2), fabric=fabric, health=health)
    assert why_no_block(broken, "x", 12) == (
        "needs 3 servers with 4 accelerators free, 1 and 2 in one rack each; racks have 1 and 1 such servers"
    )
    assert why_no_block(plans.instance_of(asking(1, 2), fabric=fabric), "x", 12) is None
    assert why_unlisted(plans.instance_of(asking(3), fabric=fabric), "x", 12) == (
        "3 servers with 4 each do not lie as 3 in one rack, on 2 racks of 2 servers"
    )
