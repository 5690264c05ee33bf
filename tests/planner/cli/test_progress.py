"""The line of progress, not too often and with every plan."""

from planner.cli.progress import Progress
from planner.model.result import Incumbent


def test_progress_throttles_bounds_and_keeps_every_plan() -> None:
    lines: list[str] = []
    progress = Progress(lines.append, ("value", "moves"))
    progress(Incumbent(0.1, "value", 41.8, None, "first_fit"))
    progress(Incumbent(0.2, "value", 41.8, 60.0, "bound"))
    progress(Incumbent(0.3, "value", 41.8, 59.0, "bound"))
    progress(Incumbent(0.4, "value", 47.12, None, "cpsat"))
    progress(Incumbent(0.9, "value", 47.12, 49.9, "bound"))
    progress(Incumbent(1.5, "value", 47.12, 49.9, "bound"))
    progress(Incumbent(1.9, "value", 49.9, 49.9, "proven"))
    assert [" ".join(line.split()) for line in lines] == [
        "0.1 s value 41.80 first_fit",
        "0.2 s value 41.80 bound 60 gap 30.3 %",
        "0.4 s value 47.12 bound 59 gap 20.1 % cpsat",
        "0.9 s value 47.12 bound 49.90 gap 5.6 %",
        "1.9 s value 49.90 bound 49.90 gap 0 % proven",
    ]
