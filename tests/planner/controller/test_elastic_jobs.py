"""A job that has shrunk or grown is in the journal, whole or not at all."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Move, Settings
from planner.model.errors import InputError
from tests.planner.controller.power_cuts import PowerCutError, power_cut
from tests.planner.controller.sites import chat, controller, quick_folder, request, resized


def test_a_restart_knows_what_has_grown(tmp_path: Path) -> None:
    path, rules = tmp_path / "journal.db", Settings(greedy_budget_s=60, repair_budget_s=10)
    with Controller(controller().cluster, journal=path, settings=rules) as c:
        c.submit(request("it", 8))
        wanted = resized(c, "it", 24, per_server=8)
        decisions = c.grow(wanted, key="once", at_s=5)
        assert c.grow(wanted, key="once", at_s=5) == decisions
        assert [type(each) for each in decisions] == [Move]
        state = c.state()
        assert state["jobs"][0]["pause_s"] == 0
        with pytest.raises(InputError, match="has 24 accelerators and asks for no more"):
            c.grow(wanted)
    with Controller(journal=path) as again:
        assert again.state() == state
        assert again.check() == []
        assert again.job("it").request == wanted
        assert again.num_free == 8


def test_a_cut_at_any_write_gives_what_it_had_or_all_that_it_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Right before and right after each statement that writes the growth, and the snapshot after it; who asks again
    under its key is answered the same."""
    rules, numbers = Settings(greedy_budget_s=60, repair_budget_s=10, snapshot_every=2), set[int]()

    def opened(path: Path) -> Controller:
        return Controller(controller().cluster, path, rules)

    def run(c: Controller) -> Any:
        c.submit(request("it", 8), key="submit", at_s=1)
        c.grow(request("it", 16), key="grow", at_s=2)
        return c.state()

    with quick_folder() as folder:
        with power_cut(monkeypatch, (0, False)) as came, opened(Path(folder) / "whole.db") as whole:
            whole.submit(request("it", 8), key="submit", at_s=1)
            first = len(came)
            state = run(whole)
            last = len(came)
        for number, is_done in product(range(first + 1, last + 1), (False, True)):
            path = Path(folder) / f"{number}{is_done}.db"
            with power_cut(monkeypatch, (number, is_done)), pytest.raises(PowerCutError), opened(path) as cut:
                run(cut)
            with opened(path) as again:
                numbers.add(len(again.running["it"].devices))
                assert run(again) == state
                assert again.check() == []
    assert numbers == {8, 16}


@pytest.mark.parametrize("fabric", ["fat_tree", "ocs_rail", "memory_ring"])
def test_what_has_grown_shrinks_to_what_it_was(fabric: str) -> None:
    c = controller(fabric)
    c.submit(request("it", 4))
    small, before = c.job("it").request, c.running["it"].device_names
    c.grow(resized(c, "it", 8))
    assert c.running["it"].device_names[:4] == before
    if not c.running["it"].has_circuits:
        c.shrink(small, before)
        assert c.running["it"].device_names == before
        assert c.num_free == 28
    assert c.check() == []


def test_a_job_that_shrinks_to_one_accelerator_keeps_its_port() -> None:
    """Jobs that start with one leave working ports to others; one that runs stays where it is."""
    c = controller("lightpath", servers=1, tiles_per_server=4)
    c.fail("s0.t1:port")
    c.submit(chat("it", 2))
    held = c.running["it"].device_names
    assert "s0.t1" not in held
    c.shrink(resized(c, "it", 1), held[:1])
    assert c.running["it"].device_names == held[:1]
    assert c.check() == []
    c.submit(chat("one", 1))
    assert c.running["one"].device_names == ("s0.t1",)
