"""The record of light."""

from planner.integrations.switch_emulator.light import LightRecord
from tests.planner.integrations.switch_emulator.switches import SETTLING_S, rig


def test_light_that_never_came_is_not_recorded() -> None:
    made = rig()
    made.bulk(add=["1A-2B"])
    made.clock.now_s += SETTLING_S * 0.2
    made.bulk(delete=["1A-2B"])
    assert made.emulator.light() == []


def test_light_is_recorded_with_its_cause() -> None:
    record = LightRecord("ocs0")
    record.put_on("1A", "2B", 1.0, "request")
    record.put_off("1A", 3.0, "drop")
    record.put_off("1A", 4.0, "drop")
    record.put_on("1A", "3B", 5.0, "change")
    assert [(each.b_side, each.from_s, each.is_on, each.cause, each.ended_by) for each in record.intervals(6.0)] == [
        ("2B", 1.0, False, "request", "drop"), ("3B", 5.0, True, "change", ""),
    ]  # fmt: skip
    assert len(record.intervals(4.5)) == 1, "not tuned yet"
