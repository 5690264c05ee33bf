"""A job that has circuits on gets others beside them: what is on is not touched, whatever becomes of the others."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.controller.switch_driver import Circuits, UnsureError, added, holds_all
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, Driver
from planner.integrations.switch_drivers.recorded import RecordedDriver
from tests.planner.integrations.switch_drivers.drivers import BETWEEN, COMMAND, circuits, hook
from tests.planner.integrations.switch_drivers.ocs.site import circuits_of, site_of

NEW = circuits("s0.t1", "s1.t1", (1,), fibers=["s0>s1#0"])
BOTH = [*NEW, *BETWEEN]
NUMBERS = st.sets(st.integers(0, 5), min_size=1)


@st.composite
def held(draw: st.DrawFn) -> Circuits:
    entries = st.tuples(
        st.sampled_from(["tensor", "data"]), st.sampled_from([None, "first"]), st.sets(st.integers(0, 5))
    )
    return [
        {
            "dimension": dimension,
            **({"phase": phase} if phase else {}),
            "circuits": [{"from": n} for n in sorted(numbers)],
        }
        for dimension, phase, numbers in draw(st.lists(entries, max_size=3))
        if numbers
    ]


def lights(circuits: Circuits) -> set[tuple[Any, Any]]:
    return {(each.get("phase"), circuit["from"]) for each in circuits for circuit in each["circuits"]}


@given(held(), held())
def test_what_is_added_is_what_was_not_on(now: Circuits, before: Circuits) -> None:
    assert lights(added(now, before)) == lights(now) - lights(before)
    assert holds_all(now, before) == (lights(before) <= lights(now))


def test_partitions_of_servers_are_as_circuits() -> None:
    part = {"dimension": "slice", "circuits": [], "partition": "2x2x1", "devices": ["s0.c0"]}
    assert added([part, *BETWEEN], BETWEEN) == [part]
    assert added([part], [part]) == []
    assert not holds_all(BETWEEN, [part])


def test_what_is_new_is_set_beside_what_is_on(driver: Driver) -> None:
    driver.connect("a", BETWEEN)
    for _ in range(2):
        driver.connect("a", BOTH)
        assert driver.applied() == {"a": BOTH}
    with pytest.raises(CircuitError, match="release them first"):
        driver.connect("a", BETWEEN)
    driver.release("a")
    assert driver.applied() == {}


def test_light_of_another_is_in_the_way_and_what_is_on_stays(driver: Driver) -> None:
    driver.connect("a", BETWEEN)
    driver.connect("b", NEW)
    with pytest.raises(CircuitBusyError, match="in use by b"):
        driver.connect("a", BOTH)
    assert driver.applied() == {"a": BETWEEN, "b": NEW}


def test_a_command_is_told_of_what_is_new_alone(tmp_path: Path) -> None:
    driver = hook(tmp_path, COMMAND.format(folder=tmp_path))
    driver.connect("a", BETWEEN)
    (tmp_path / "fail").write_text('{"said": "no light"}')
    with pytest.raises(CircuitError, match="no light"):
        driver.connect("a", BOTH)
    assert driver.applied() == {"a": BETWEEN}
    (tmp_path / "fail").unlink()
    driver.connect("a", BOTH)
    driver.release("a")
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert [(each["action"], each["circuits"]) for each in told] == [
        ("connect", BETWEEN), ("connect", NEW), ("connect", NEW), ("release", BOTH),
    ]  # fmt: skip


class _Unsure(RecordedDriver):
    """Nobody knows what is on, as often as it is told."""

    left = 0

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        if self.left:
            self.left -= 1
            raise UnsureError("nobody knows")


def test_what_may_be_on_is_set_again_or_released_as_a_whole(tmp_path: Path) -> None:
    driver = _Unsure(tmp_path / "driver")
    driver.connect("a", BETWEEN)
    driver.left = 1
    with pytest.raises(UnsureError):
        driver.connect("a", BOTH)
    again = _Unsure(tmp_path / "driver")
    assert again.applied() == {"a": BOTH}, "it may be on"
    again.connect("a", BOTH)
    assert again.applied() == {"a": BOTH}
    again.release("a")
    assert again.applied() == {}


@pytest.mark.parametrize("is_refused", [False, True])
def test_cross_connects_that_are_on_stay(tmp_path: Path, is_refused: bool) -> None:
    """No switch is told to delete what the job had, also where one leaves out what is new."""
    whole = circuits_of("ocs_rail", "j0")
    before = [{**each, "circuits": each["circuits"][: len(each["circuits"]) // 2]} for each in whole]
    with site_of(tmp_path) as site:
        driver = site.driver()
        driver.connect("j0", before)
        on, told = site.lit(), {name: len(switch.updates) for name, switch in site.switches.items()}
        assert on
        if is_refused:
            for switch in site.switches.values():
                switch.drops = [{*site.wanted("j0").get(_name(site, switch), ())}] * 9
            with pytest.raises(CircuitError, match="is missing"):
                driver.connect("j0", whole)
            assert (site.lit(), driver.applied()) == (on, {"j0": before})
        else:
            driver.connect("j0", whole)
            assert (site.lit(), driver.applied()) == (site.wanted("j0"), {"j0": whole})
        for name, switch in site.switches.items():
            switch.drops = []
            deleted = {row for update in switch.updates[told[name] :] for row in update["delete"]}
            assert not deleted & on.get(name, set())
        driver.release("j0")
        assert site.lit() == {}


def _name(site: Any, switch: Any) -> str:
    return next(name for name, each in site.switches.items() if each is switch)
