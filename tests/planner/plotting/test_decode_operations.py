"""Operations as stacked bars."""

from matplotlib.figure import Figure

from planner.plotting.reproduced import FIGURES
from planner.studies.reproduce.published import FOLDER
from planner.studies.reproduce.run import reproduce_file


def test_the_parts_of_a_step_add_up() -> None:
    outcome = reproduce_file(FOLDER / "photonic_fabric" / "operations.yaml")
    figure = Figure()
    first = FIGURES["decode_operations"](figure.subplots(), outcome)
    heights = {round(sum(bar.get_height() for bar in bars), 6) for bars in zip(*figure.axes[1].containers, strict=True)}
    assert heights == {100.0}
    assert [len(panel.containers[0]) for panel in figure.axes] == [8, 3]
    assert first.get_ylabel() == "share (%)"
