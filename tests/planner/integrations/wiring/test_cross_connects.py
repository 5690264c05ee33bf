"""Cross-connects of plans: what circuits ask for, by ports; differences that lead from one to the other."""

from collections import Counter

import pytest

from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import CrossConnect, cross_connects, difference
from planner.model.errors import InputError
from tests.planner.integrations.wiring.wiring_cases import WITH_SWITCHES, planned


@pytest.mark.parametrize("kind", WITH_SWITCHES)
def test_each_port_is_used_once(kind: str) -> None:
    instance, plan = planned(kind)
    found = cross_connects(instance, plan, CableTable.of(instance.cluster.fabric))
    assert sum(map(len, found.values()))
    for connected in found.values():
        for side in ("a_side", "b_side"):
            assert max(Counter(getattr(each, side) for each in connected).values()) == 1


def test_rails_join_what_the_circuits_say() -> None:
    instance, plan = planned("ocs_rail")
    fabric = instance.cluster.fabric
    table = CableTable.of(fabric)
    end_of = {(cable.switch, cable.port): cable.end for cable in table.cables}
    told = {
        (switch, end_of[switch, each.a_side], end_of[switch, each.b_side])
        for switch, connected in cross_connects(instance, plan, table).items()
        for each in connected
    }
    circuits = [c for a in plan.assignments for held in a.circuits for c in held.circuits]
    wanted = {(f"q{c.source.rpartition('g')[2]}#{n}", c.source, c.destination) for c in circuits for n in c.wavelengths}
    assert told == wanted
    assert wanted


def test_a_difference_leads_from_one_plan_to_the_other() -> None:
    instance, plan = planned("torus")
    table = CableTable.of(instance.cluster.fabric)
    after = cross_connects(instance, plan, table)
    before = {switch: frozenset({CrossConnect("1A", "4B"), *list(each)[:1]}) for switch, each in after.items()}
    change = difference(before, after)
    for switch, wanted in after.items():
        names = {each.name for each in before[switch]} - set(change.get(switch, {}).get("delete", []))
        names |= {each["cross_connect_id"] for each in change.get(switch, {}).get("add", [])}
        assert names == {each.name for each in wanted}
    assert difference(after, after) == {}


def test_an_end_without_a_cable_is_told() -> None:
    instance, plan = planned("ocs_rail")
    some = CableTable(CableTable.of(instance.cluster.fabric).cables[:1], "wiring.csv")
    with pytest.raises(InputError, match=r"wiring.csv: q.*see `planner wiring check`"):
        cross_connects(instance, plan, some)
