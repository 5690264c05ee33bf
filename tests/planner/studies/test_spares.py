"""Spare parts for a promised goodput, against years that can be counted by hand."""

import pytest

from planner.model.errors import InputError
from planner.simulate.fault_study import FaultStudy, parse_rules
from planner.studies.spares import SparesNeeded, spares_needed
from planner.whatif.failure_model import FailureModel
from planner.whatif.fault_log import FaultLog, LoggedFault
from tests.planner.simulate.grounds import cluster

LOG = FaultLog("log", (LoggedFault(0, "GPU", 0.0, 500.0), LoggedFault(0, "NIC", 250.0, 500.0),
                       LoggedFault(1, "GPU", 400.0, 500.0)), 1000.0)  # fmt: skip
"""a host is out half of the time, and with it another one for a tenth"""


def needed(goodput: float, rules: str = "", seeds: int = 1) -> dict[str, SparesNeeded]:
    study = FaultStudy(LOG, parse_rules(rules), ("repair",))
    return {each.kind: each for each in spares_needed(cluster("fat_tree"), study, None, goodput, 1000.0, seeds)}


def test_parts_that_are_out_are_counted_once_however_many_faults_they_have() -> None:
    server = needed(0.9)["server"]
    assert (server.parts, server.mean_out, server.most_out) == (4, pytest.approx(0.6), 2)
    assert server.without.mean == pytest.approx(1 - 0.6 / 4)


@pytest.mark.parametrize(("goodput", "spares"), [(0.8, 0), (0.9, 1), (0.96, 1), (0.97, 2)])
def test_the_fewest_spares_are_found(goodput: float, spares: int) -> None:
    """One spare is too few for a tenth of the time, when one of three promised servers does not work."""
    found = needed(goodput)["server"].needed
    assert found is not None
    assert found.spares == spares
    assert found.mean == pytest.approx({0: 0.85, 1: 1 - 0.1 / 3, 2: 1.0}[spares])


def test_single_accelerators_need_fewer_than_whole_servers() -> None:
    found = needed(0.99, "single=GPU+NIC", seeds=5)
    accelerator, server = found["accelerator"].needed, found["server"].needed
    assert accelerator is not None
    assert server is not None
    assert accelerator.spares < 8 * server.spares
    assert accelerator.least >= 0.99


def test_other_parts_fail_by_their_rates() -> None:
    rates = FailureModel.model_validate({"fiber": {"time_between_failures_s": 900.0, "repair_time_s": 100.0}})
    study = FaultStudy(None, parse_rules(""), ("repair",))
    found = {e.kind: e for e in spares_needed(cluster("lightpath"), study, rates, 0.99, 1e5, 4)}
    fiber = found["fiber"]
    assert fiber.without.mean == pytest.approx(0.9, abs=0.01)
    assert fiber.needed is not None
    assert 0.1 * fiber.parts < fiber.needed.spares <= fiber.most_out
    assert found["accelerator"].needed is not None
    assert found["accelerator"].needed.spares == 0


@pytest.mark.parametrize("goodput", [0.0, 1.0, float("nan")])
def test_what_nobody_can_promise_is_refused(goodput: float) -> None:
    with pytest.raises(InputError, match=r"give one such as 0\.99"):
        needed(goodput)
