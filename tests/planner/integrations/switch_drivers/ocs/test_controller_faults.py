"""No light is wrong, shared, leaked, early or dark by a controller, whatever the switches do and whenever it is killed.

`python -m tests.benchmarks.bench_switch_faults` draws thousands of faults; seeds that found something stay here.
"""

from pathlib import Path

import pytest

from planner.integrations.switch_drivers.hook_driver import HookDriver
from planner.integrations.switch_drivers.recorded import RecordedDriver
from tests.planner.controller.sites import remember_kinds
from tests.planner.integrations.switch_drivers.commanded_world import CommandedElasticWorld, unswitched
from tests.planner.integrations.switch_drivers.ocs.controlled_world import ControlledWorld, controlled
from tests.planner.integrations.switch_drivers.ocs.elastic_world import ElasticWorld
from tests.planner.integrations.switch_drivers.ocs.site import site_of, unconnected


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
