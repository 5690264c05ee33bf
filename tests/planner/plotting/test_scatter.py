"""Predicted over measured as a figure."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from planner.model.errors import InputError
from planner.plotting.scatter import save_scatter, scatter
from planner.studies.validate import validate_table
from planner.tables import Measurements, read_table

TEXT = """device,op_name,num_gpus,message_bytes,latency_ms
h100,all_gather,8,1048576,0.015
h100,all_reduce,8,1048576,0.025
a100,all_reduce,8,1048576,0.04
a100,broadcast,8,1048576,0.04
"""


@pytest.fixture
def table(tmp_path: Path) -> Measurements:
    path = tmp_path / "nccl.csv"
    path.write_text(TEXT, encoding="utf-8")
    return read_table(path)


def test_each_group_has_its_points_and_its_place_in_the_legend(table: Measurements) -> None:
    (quantity,) = validate_table(table)
    ax = scatter(Figure().subplots(), table, quantity)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    legend = ax.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[:2] == ["within 20 %", "within 10 %"]
    assert [text.rsplit("  ", 1)[0] for text in texts[2:]] == ["a100 all_reduce", "h100 all_gather", "h100 all_reduce"]
    assert ax.get_title().startswith("3 rows, mean error ")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_figure_is_written(table: Measurements, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"scatter.{suffix}"
    save_scatter(path, table, validate_table(table))
    assert path.stat().st_size > 5000


def test_other_formats_are_refused(table: Measurements, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.png or \.svg"):
        save_scatter(tmp_path / "scatter.bmp", table, validate_table(table))


def test_what_no_row_measured_has_no_panel(table: Measurements, tmp_path: Path) -> None:
    (quantity,) = validate_table(table)
    nothing = replace(quantity, error=np.full(len(quantity.error), np.nan))
    alone, beside = tmp_path / "alone.png", tmp_path / "beside.png"
    save_scatter(alone, table, [quantity])
    save_scatter(beside, table, [quantity, nothing])
    assert beside.read_bytes() == alone.read_bytes()
    with pytest.raises(InputError, match="nothing to draw"):
        save_scatter(tmp_path / "none.png", table, [nothing])
