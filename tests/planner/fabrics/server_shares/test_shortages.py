"""What a job lacks of the appliances of every server is counted."""

from planner.explain import explain
from planner.pipeline import solve
from tests.planner.fabrics.divided_ports.clusters import LONG, job, resident, tiered
from tests.planner.fabrics.lightpath.pools import large, pooled
from tests.planner.optimum import OPTIONS

NAMES = "abcd"


def test_units_that_others_hold_are_told() -> None:
    asked = tiered(*(job(name, 1, workload=LONG) for name in NAMES))
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    runs = tuple(resident(asked, plan, name) | {"movable": False} for name in NAMES)
    later = tiered(job("e", 1, workload=LONG), residents=runs)
    said = [each.text for each in explain(later, "e", options=OPTIONS).statements]
    assert said[0] == (
        "with 1 accelerator: 1 accelerator in one server: needs 1 module, 1 port and 1 second-tier unit of its "
        "appliances; most free in a server are 0, 1 and 0"
    )


def test_nothing_is_said_where_memory_is_free() -> None:
    """Two accelerators are there, in a server each, with memory for both."""
    down = {"failed_tiles": [f"s{server}.g{slot}" for server in range(2) for slot in range(1, 4)]}
    later = tiered(job("e", 2, workload=LONG, constraints={"one_server": True}), health=down)
    said = " ".join(each.text for each in explain(later, "e", options=OPTIONS).statements)
    assert "no server has 2 free" in said
    assert "appliances" not in said


def test_modules_of_a_pool_that_others_hold_are_told() -> None:
    asked = pooled(large("a"), large("b"), modules=1)
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    fixed = ({"movable": False} | resident(asked, plan, name) for name in "ab")
    later = pooled(large("c"), modules=1, residents=[each | {"movable": False} for each in fixed])
    said = [each.text for each in explain(later, "c", options=OPTIONS).statements]
    assert said[0] == (
        "with 1 accelerator: 1 accelerator in one server: needs 1 module of its pool; most free in a server are 0"
    )
