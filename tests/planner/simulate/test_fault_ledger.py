"""Only what falls into the time that counts is counted."""

from planner.simulate.fault_ledger import FaultLedger


def test_time_outside_does_not_count() -> None:
    ledger = FaultLedger(100.0, 200.0)
    ledger.capacity(0.0, 8, 0)
    ledger.capacity(150.0, 0, 16)
    ledger.waste(50.0, 120.0, 4)
    ledger.waste(250.0, 300.0, 4)
    found = ledger.figures(3600.0, 7200.0)
    assert (found["spare_h"], found["down_h"]) == (50 * 8 / 3600, 50 * 16 / 3600)
    assert (found["wasted_h"], found["used_h"], found["idle_h"]) == (80 / 3600, 1 - 80 / 3600, 2)
