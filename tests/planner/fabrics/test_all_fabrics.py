"""What must hold on every fabric there is, so that none is forgotten by a command."""

import sys

import pytest

from costmodel.fabrics import priced
from planner.controller import Controller, Request, Settings
from planner.explain.marginal import marginal
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.prices.parts import PartPrices
from tests.fabrics import EVERY, FABRICS
from tests.planner.cli.conftest import Planner, planner  # noqa: F401
from tests.planner.fabrics.all_fabrics_cases import instance
from tests.planner.simulate.grounds import BERT


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_marginal_asks_something(name: str) -> None:
    found = marginal(instance(EVERY[name], 8), options=SolveOptions(workers=1), time_limit_s=1.0)
    changes = {each.change for each in found}
    assert any("server" in change for change in changes)
    assert any(word in change for change in changes for word in ("twice", "max_peers", "more uplink")), changes


@pytest.mark.slow
def test_rings_and_memory_nodes_have_gains() -> None:
    """Two jobs of 16 fit, the third one waits for servers."""
    found = {
        each.change: each.gain
        for each in marginal(
            instance(FABRICS["memory_ring"], 16, 16, 8), options=SolveOptions(workers=1, deterministic_limit=5.0)
        )
    }
    assert set(found) == {
        "one more server", "twice the network bandwidth", "one more ring of links in each node",
        "twice the bandwidth of a link", "1 more DIMM in each memory node",
    }  # fmt: skip
    assert found["one more server"] == pytest.approx(1.0)
    assert (found["twice the network bandwidth"] or 0) > 0
    assert found["1 more DIMM in each memory node"] == 0


@pytest.mark.parametrize("name", EVERY)
def test_every_fabric_has_prices(name: str) -> None:
    fabric = instance(EVERY[name], 1).cluster.fabric
    parts = priced(fabric.inventory())
    assert parts["accelerator"] == 32
    assert sum(parts.values()) > 32
    dear = PartPrices(accelerator=1, electrical_port=1, optical_port=1, optical_switch=1, memory_unit=1)
    assert dear.capital(fabric, "p") == sum(parts.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", FABRICS)
def test_a_submission_does_not_cost_more_with_more_jobs(name: str) -> None:
    """Counted in calls of functions, which do not depend on the machine."""
    cluster = instance(FABRICS[name] | {"servers": 16}, 1).cluster
    controller = Controller(cluster, settings=Settings.model_validate({"greedy_budget_s": 60, "repair_budget_s": 10}))
    calls = [_calls(controller, number) for number in range(100)]
    assert len(controller.running) == 100
    assert min(calls[90:]) <= 1.5 * min(calls[5:15])


@pytest.mark.slow
@pytest.mark.parametrize("name", FABRICS)
def test_jobs_hold_every_working_accelerator_and_no_other(name: str) -> None:
    """Without a port an accelerator runs a job of one, but where its memory is behind the port."""
    of_one = FABRICS[name] | {"servers": 1}
    letter = instance(of_one, 1).cluster.fabric.device_letter
    health = {"failed_ports": [f"s0.{letter}0", f"s0.{letter}1"], "failed_tiles": [f"s0.{letter}2"]}
    given = {"device": "h100-sxm", "fabric": of_one, "health": health}
    cluster = Instance.parse({"schema_version": 2, "name": "any", "cluster": given, "jobs": [JOB]}).cluster
    controller = Controller(cluster)
    for number in range(8):
        controller.submit(Request.model_validate({"name": f"j{number}", "workload": BERT, "accelerators": 1}))
    held = [device for each in controller.running.values() for device in each.device_names]
    dark = 0 if cluster.fabric.has_remote_memory else 2
    assert len(held) == len(set(held)) == 5 + dark
    assert not {f"s0.{letter}2"} & set(held)
    if not dark:
        assert not set(health["failed_ports"]) & set(held)


JOB = {"name": "j", "workload": BERT, "accelerators": 1}


def _calls(controller: Controller, number: int) -> int:
    request = Request.model_validate({"name": f"j{number}", "workload": BERT, "accelerators": 1})
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        controller.submit(request)
    finally:
        sys.setprofile(None)
    return count
