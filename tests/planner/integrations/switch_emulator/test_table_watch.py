"""Light from tables alone, and the verdict on it beside that on the record of light."""

import random

from planner.integrations.switch_emulator import FaultKind, FaultRate, Holding, RequestClass, TableWatch, judge
from planner.integrations.switch_emulator.node_tree import VOCABULARIES
from tests.planner.integrations.switch_emulator.switches import rig

STEP_S = 0.5


def test_tables_tell_what_the_record_of_light_tells() -> None:
    made = rig(FaultRate(RequestClass.BULK, FaultKind.CHANGE, 0.2), FaultRate(RequestClass.BULK, FaultKind.DROP, 0.2))
    watch, chance = TableWatch(VOCABULARIES["oper_status"]), random.Random(1)
    names = [f"{a}A-{b}B" for a in range(1, 5) for b in range(1, 5)]
    jobs = []
    for number in range(40):
        held = [row["cross_connect_id"] for row in made.rows("OCS_CROSS_CONNECT")]
        a_side, b_side = chance.choice(names).split("-")
        made.bulk(delete=[each for each in held if chance.random() < 0.5], add=[f"{a_side}-{b_side}"])
        now_s = made.clock.now_s
        jobs.append(Holding(f"j{number}", frozenset({("ocs0", a_side, b_side)}), now_s, now_s + 2.0))
        made.clock.now_s += STEP_S
        watch.see("ocs0", made.rows("OCS_PORT_TABLE"), made.clock.now_s)
    lights = watch.intervals(), made.emulator.light()
    assert {(each.a_side, each.b_side) for each in lights[0]} == {(each.a_side, each.b_side) for each in lights[1]}
    found = [judge(light, jobs, now_s=made.clock.now_s, grace_s=1.0) for light in lights]
    kinds = [
        {(each.kind, each.a_side, each.b_side) for each in half if each.kind in ("wrong", "shared")} for half in found
    ]
    assert kinds[0] == kinds[1]
    assert {kind for kind, *_ in kinds[0]} == {"wrong", "shared"}


def test_a_port_alone_is_no_light() -> None:
    watch = TableWatch(VOCABULARIES["state"])
    rows = [
        {"simplex_port_id": "1A", "target_simplex_port_id": "2B", "state": "tuned"},
        {"simplex_port_id": "2B", "target_simplex_port_id": "1A", "state": "tuning"},
    ]
    watch.see("ocs0", rows, 1.0)
    assert watch.intervals() == []
    watch.see("ocs0", [rows[0], {**rows[1], "state": "tuned"}], 2.0)
    watch.see("ocs1", [], 3.0)
    assert [(each.from_s, each.is_on) for each in watch.intervals()] == [(2.0, True)]
