"""The floor plan as a figure."""

import re
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.plotting.floor_plan import floor_plan, save_floor_plan
from tests.planner.report import rack


def test_each_tile_is_drawn_and_the_failed_one_hatched() -> None:
    ax = floor_plan(Figure().subplots(), rack.instance(), rack.plan())
    tiles = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    assert len(tiles) == 8
    assert [tile.get_hatch() for tile in tiles].count("////") == 1
    numbers = sorted(text.get_text() for text in ax.texts if text.get_text().isdigit())
    assert numbers == ["1", "1", "1", "1", "2"]


def test_light_between_servers_is_drawn_once_for_each_pair() -> None:
    plan, fabric = rack.plan(), rack.instance().cluster.fabric
    ends = {
        (circuit.source, circuit.destination)
        for assignment in plan.assignments
        for held in assignment.circuits
        for circuit in held.circuits
    }
    apart = [pair for pair in ends if len({fabric.parse_device(name)[0] for name in pair}) == 2]
    ax = floor_plan(Figure().subplots(), rack.instance(), plan)
    assert len(apart) > 0
    assert sum(isinstance(patch, FancyArrowPatch) for patch in ax.patches) == len(apart)
    told = _legend(rack.instance(), plan)[-1]
    inside = len(ends) - len(apart)
    assert told == f"light between servers ({inside} inside not drawn)" if inside else told == "light between servers"
    assert _legend(rack.instance(), plan.model_copy(update={"assignments": ()})) == []


def test_light_that_is_not_drawn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.plotting.floor_plan.MOST_CIRCUITS", 0)
    told = _legend(rack.instance(), rack.plan())[-1]
    assert re.fullmatch(r"light \(\d+ pairs between servers( and \d+ inside)? not drawn\)", told)


def _legend(instance: Instance, plan: Plan) -> list[str]:
    legend = floor_plan(Figure().subplots(), instance, plan).get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".SVG", b"<?xml")])
def test_it_is_written(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"floor{suffix}"
    save_floor_plan(path, rack.instance(), rack.plan())
    assert path.read_bytes().startswith(start)


def test_a_name_is_no_formula(tmp_path: Path) -> None:
    instance = rack.instance().model_copy(update={"name": r"$\wrong{ $"})
    save_floor_plan(tmp_path / "floor.svg", instance, rack.plan())


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\.gif' is no known format; use \.png or \.svg"):
        save_floor_plan(tmp_path / "floor.gif", rack.instance(), rack.plan())


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        save_floor_plan(tmp_path / "none" / "floor.png", rack.instance(), rack.plan())


def test_without_matplotlib_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"pip install '\.\[plots\]'"):
        save_floor_plan(tmp_path / "floor.png", rack.instance(), rack.plan())
