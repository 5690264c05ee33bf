"""Parts of circuits: which switches they cross, which are broken, and which two jobs share."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.switch_drivers import Circuits
from planner.integrations.switch_drivers.parts import joined, switches, taken, used
from tests.planner.controller.pooled import names_of, spread
from tests.planner.controller.sites import controller
from tests.planner.integrations.switch_drivers.drivers import BETWEEN, circuits


def test_parts_elsewhere_break_nothing() -> None:
    wanted = used(circuits("s0.t2", "s1.t4", (3,), fibers=["s0>s1#0"]))
    others = {
        "s1>s0#0",
        "s0>s1#1",
        "s0>s1#0:w2",
        "s0.t2:w2",
        "s0.t2:rx",
        "s1.t4:tx",
        "s1.t4:w3",
        "s0.t4",
        "q3#3",
        "q2#2",
    }
    assert not wanted & others


def test_circuits_over_other_fibers_join_the_same_ends_otherwise() -> None:
    """All parts of a circuit may be those of others, over its fibers or between its ends, while it is off."""
    one, other = (circuits("s0.t0", "s1.t0", fibers=[fiber]) for fiber in ("s0>s1#0", "s0>s1#1"))
    others = [*other, *circuits("s0.t2", "s1.t2", fibers=["s0>s1#0"])]
    assert taken(one) <= taken(others)
    assert not joined(one) & joined(others)


@pytest.mark.parametrize(
    ("one", "names"),
    [
        (circuits("s0.t0", "s0.t1"), {"s0"}),
        (BETWEEN, {"s0", "s1"}),
        (circuits("s0.t0", "s1.t0", fibers=["s0>s4#0", "s4>s1#1"]), {"s0", "s4", "s1"}),
        (circuits("s0.g3", "s1.g3", (2,)), {"s0", "s1", "q3#2"}),
        (circuits("s0.c0", "s1.c0", fibers=["x0"]), {"s0", "s1", "x0"}),
    ],
)
def test_switches_are_known_by_the_circuits(one: Circuits, names: set[str]) -> None:
    assert switches(one) == names


_circuits = st.builds(
    lambda a, b, w, f: circuits(f"s0.t{a}", f"s1.t{b}", tuple(sorted(w)), [f"s0>s1#{i}" for i in f]),
    st.integers(0, 3), st.integers(0, 3), st.sets(st.integers(0, 3), min_size=1), st.sets(st.integers(0, 2)),
)  # fmt: skip


@pytest.mark.slow
@given(_circuits, _circuits)
def test_two_jobs_clash_where_they_share_light(one: Circuits, other: Circuits) -> None:
    (a,), (b,) = one[0]["circuits"], other[0]["circuits"]
    shares = set(a["wavelengths"]) & set(b["wavelengths"])
    meets = a["from"] == b["from"] or a["to"] == b["to"] or set(a["fibers"]) & set(b["fibers"])
    assert bool(taken(one) & taken(other)) == bool(shares and meets)


def test_drivers_keep_ports_and_uplinks_of_jobs_apart() -> None:
    """What no other job may have on at the same time."""
    c = controller("sipam", units_per_tray=30)
    _, place = spread(c)
    held = {name.partition(":")[0] for name in taken(place.circuits_json)}
    assert held == {*place.device_names, *(name for name in names_of(place) if "#" in name)}
