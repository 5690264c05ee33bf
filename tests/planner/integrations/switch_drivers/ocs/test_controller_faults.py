"""No light is wrong, shared, leaked, early or dark by a controller, whatever the switches do and whenever it is killed.

`python -m tests.benchmarks.bench_switch_faults` draws thousands of faults; seeds that found something stay here.
"""

import time
from pathlib import Path

import pytest

from planner.controller import Controller, Settings
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.switch_drivers.hook_driver import HookDriver
from planner.integrations.switch_drivers.ocs.restconf import RestconfSwitch
from planner.integrations.switch_drivers.ocs.switch import SwitchSilentError
from planner.integrations.switch_drivers.recorded import RecordedDriver
from tests.planner.controller.sites import remember_kinds, request
from tests.planner.integrations.switch_drivers.commanded_world import CommandedElasticWorld, unswitched
from tests.planner.integrations.switch_drivers.ocs.controlled_world import ControlledWorld, controlled
from tests.planner.integrations.switch_drivers.ocs.elastic_world import ElasticWorld
from tests.planner.integrations.switch_drivers.ocs.site import site_of, unconnected
from tests.planner.integrations.wiring.wiring_cases import cluster_of


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed", "rate"), [("torus", 2, 0.003), ("torus", 44, 0.004)])
def test_light_follows_decisions(tmp_path: Path, kind: str, seed: int, rate: float) -> None:
    remember_kinds()
    with site_of(tmp_path, kind) as site:
        world = ControlledWorld(site, seed, rate)
        with controlled(world):
            found = world.run(60)
        assert found.blamed == []
        assert world.emulator.happened
        assert world.counts["killed"]
        assert any(world.started.values())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "seed"), [("lightpath", 8), ("lightpath-fibers", 2)])
def test_light_follows_jobs_that_grow_and_shrink(tmp_path: Path, kind: str, seed: int) -> None:
    """8 on a lightpath: a command hung, the next one refused, and what the first had put on was forgotten."""
    remember_kinds()
    world = CommandedElasticWorld(unswitched(tmp_path, kind), seed, 0.004)
    with controlled(world):
        found = world.run(60)
    assert found.blamed == []
    assert min(len(world.faults), *(world.counts[each] for each in ("killed", "grew around light", "shrink"))) > 0


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["restconf", "tl1"])
def test_light_follows_jobs_that_grow_over_racks(tmp_path: Path, protocol: str) -> None:
    remember_kinds()
    world = ElasticWorld(unconnected(tmp_path, "lightpath-switches", protocol), 2, 0.02)
    with controlled(world):
        found = world.run(60)
    assert found.blamed == []
    assert min(len(world.faults), *(world.counts[each] for each in ("killed", "grow", "shrink"))) > 0


@pytest.mark.slow
def test_what_is_forgotten_of_a_command_that_hung_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that takes all for off once another command refuses."""
    monkeypatch.setattr(HookDriver, "takes_back", True)
    remember_kinds()
    world = CommandedElasticWorld(unswitched(tmp_path, "lightpath"), 8, 0.004)
    with controlled(world), pytest.raises(AssertionError, match="leaked in the end"):
        world.run(60)


@pytest.mark.slow
def test_light_that_is_missing_between_racks_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that sets nothing for a job that has some light on."""
    monkeypatch.setattr(RecordedDriver, "more", lambda self, circuits, before: [] if before else circuits)
    remember_kinds()
    world = ElasticWorld(unconnected(tmp_path, "lightpath-switches", "restconf"), 2, 0.0)
    with controlled(world):
        assert "early" in {each.kind for each in world.run(60).blamed}


@pytest.mark.slow
def test_nobody_moves_while_no_switch_can_be_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who starts meanwhile waits at its place with the name of a switch, and has its light once they answer."""

    def silent(switch: RestconfSwitch, ask: object) -> None:
        raise SwitchSilentError(f"{switch.name} does not answer")

    now_s = [0.0]
    c = Controller(cluster_of("ocs_rail"), settings=Settings(greedy_budget_s=60, repair_budget_s=0))
    with site_of(tmp_path) as site:
        reconciler = SwitchReconciler(c, site.driver(), read_back_s=5.0, clock=lambda: now_s[0])

        def until(job: str, *, is_connected: bool) -> None:
            for _ in range(2000):
                now_s[0] += 1.0
                time.sleep(0.01)
                reconciler.tick()
                if reconciler.connected(job, c.running[job]) is is_connected and (
                    is_connected or job in reconciler.troubles()
                ):
                    return
            raise AssertionError(job)

        c.submit(request("a", 16))
        until("a", is_connected=True)
        place = c.running["a"]
        with monkeypatch.context() as patched:
            patched.setattr(RestconfSwitch, "tried", silent)
            c.submit(request("b", 16))
            until("b", is_connected=False)
            assert "does not answer" in reconciler.troubles()["b"].said
            assert (c.down, c.running["a"], c.waiting) == ((), place, ())
        until("b", is_connected=True)
        assert (c.down, c.running["a"]) == ((), place)
        until("a", is_connected=True)
