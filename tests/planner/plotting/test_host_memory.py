"""Use of the host's memory as bars."""

from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


def test_three_bars_for_each_system() -> None:
    outcome = reproduce_file(FOLDER / "mcdla" / "host_memory.yaml")
    figure = Figure()
    first = FIGURES["host_memory"](figure.subplots(), outcome)
    assert [len(bars) for bars in first.containers] == [6, 6, 6]
    assert "GB/s" in first.get_ylabel()
    assert max(bar.get_height() for bar in first.containers[2]) < 300
