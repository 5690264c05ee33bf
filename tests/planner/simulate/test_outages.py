"""Failures in a replay: jobs stop that stand on what failed, and no others; nothing is placed on it until it works."""

import pytest

from planner.fabrics.ocs_rail.rails import FreeRails
from planner.simulate.outages import Outages
from planner.simulate.placers import PLACERS
from planner.simulate.rules import Rules
from planner.simulate.run_one import Demand, SimulationRun, Study, replay
from planner.whatif.failure_model import FailureModel
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, ground, mix
from tests.planner.simulate.outages_cases import spanning, with_failed


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["ocs_rail", "torus", "sipam"])
def test_a_job_is_broken_where_it_needs_a_failed_switch_and_only_there(fabric: str) -> None:
    kind, placement = spanning(fabric, 16)
    of = cluster(fabric)
    assert placement.switches
    for name in of.fabric.switch_names:
        state = with_failed(fabric, name)
        assert state.broken(placement) == (of.fabric.parse_switch(name) in placement.switches)
        again = PLACERS["first_fit"](state, 0).place(kind)
        assert again is None or not state.broken(again)


def test_switches_of_a_job_are_those_of_its_plan() -> None:
    """On rails: the switches that the circuits of the planner take."""
    _, placement = spanning("ocs_rail", 16)
    rails = FreeRails(cluster("ocs_rail"))
    circuits = rails.circuits(placement.row.shape, placement.devices)
    used = {
        (rails.fabric.parse_device(circuit.source)[1], number)
        for held in circuits
        for circuit in held.circuits
        for number in circuit.wavelengths
    }
    assert used == placement.switches


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fabric", "part"),
    [
        ("ocs_rail", "optical_switch"),
        ("torus", "optical_switch"),
        ("sipam", "optical_switch"),
        ("sipam", "memory_unit"),
    ],
)
def test_failures_interrupt_jobs_and_all_work_is_done_in_the_end(fabric: str, part: str) -> None:
    of, given = cluster(fabric), mix(chat=False)
    model = FailureModel.model_validate({part: {"time_between_failures": "20 h", "repair_time": "20 min"}})
    sizes = [1, 2, 4, 8, 16]
    able = {size: [0] for size in sizes}
    study = Study(
        Demand(SMALL_DEMAND, 250, given, able), {"g": ground("g", of, sizes, given)}, Rules(), model, samples=0
    )
    figures = replay(study, SimulationRun("g", "first_fit", 0.6, 1)).figures
    assert figures["interruptions"]
    assert figures["never_fit"] == 0
    assert figures["admitted"] == 1
    assert figures == replay(study, SimulationRun("g", "first_fit", 0.6, 1)).figures


def test_outages_come_and_go() -> None:
    model = FailureModel.model_validate({"optical_switch": {"time_between_failures": "10 h", "repair_time": "1 h"}})
    outages = Outages(cluster("ocs_rail"), model, 2e5, 3)
    down = []
    while outages.next_s < float("inf"):
        down.append(len(outages.step().failed_switches))
    assert max(down) > 1
    assert down[-1] == 0
