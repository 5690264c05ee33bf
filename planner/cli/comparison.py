"""Tables of planner compare."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from planner.cli.output import BEST, console, number, percent, plain, quantity, table

if TYPE_CHECKING:
    from planner.compare.rows import Row
    from planner.compare.summary import Line, Mean

Show = Callable[[float], str]
COLUMNS: dict[str, tuple[str, Show]] = {
    "value": ("value", number),
    "bound": ("bound", number),
    "gap": ("gap", percent),
    "admitted": ("admitted", number),
    "devices_used": ("devices", number),
    "energy": ("energy", number),
    "power_w": ("power", lambda value: quantity(value, "W")),
    "fragmentation": ("fragmentation", number),
    "violations": ("violations", number),
    "wall_time_s": ("time", lambda value: f"{value:.2f} s"),
}
"""figure -> column, and how it is shown"""
OF = {"admitted": "jobs", "devices_used": "devices_healthy"}
"""figure -> what it is part of"""
NARROW = 5e-5
"""fraction of a mean below which four digits do not show half an interval"""


def print_tables(rows: "Sequence[Row]", timings: bool) -> None:
    """One table for each instance; the best figures of each variant are bold."""
    from planner.compare.summary import summarize

    out = console()
    for place, (name, group) in enumerate(groupby(rows, key=lambda row: row.instance)):
        lines = summarize(list(group))
        first = lines[0].first
        if place:
            out.print()
        jobs = f"{first.jobs} job{'' if first.jobs == 1 else 's'}"
        out.print(f"{plain(name)}   {jobs}   {first.devices_healthy} devices healthy", soft_wrap=True)
        out.print(_table(lines, timings))


def _table(lines: "Sequence[Line]", timings: bool) -> object:
    from planner.compare.summary import best

    parameters = list(lines[0].first.parameters)
    shown = [name for name in COLUMNS if timings or name != "wall_time_s"]
    has_seeds = any(line.seeds > 1 for line in lines)
    cells = []
    for _, group in groupby(lines, key=lambda line: str(line.first.parameters)):
        of_variant = list(group)
        leading = best(of_variant)
        for place, line in enumerate(of_variant):
            given = [plain(str(value)) for value in line.first.parameters.values()]
            seeds = [f"{line.plans} of {line.seeds}"] if has_seeds else []
            figures = [_cell(line, name, place in leading.get(name, ())) for name in shown]
            if not line.plans:
                figures[0] = line.first.status
            cells.append([*given, line.first.policy, *seeds, *figures])
    names = [*_labels(parameters), "policy", *(["plans"] if has_seeds else []), *(COLUMNS[name][0] for name in shown)]
    return table(names, cells, right=[column for column, _ in COLUMNS.values()])


def _labels(paths: Sequence[str]) -> list[str]:
    """The last part of each path, all of it where two end alike."""
    ends = [path.rsplit(".", 1)[-1] for path in paths]
    return [end if ends.count(end) == 1 else path for end, path in zip(ends, paths, strict=True)]


def _cell(line: "Line", name: str, is_best: bool) -> str:
    if name not in line.figures:
        return "-"
    text = _shown(line.figures[name], COLUMNS[name][1])
    whole = f" of {number(getattr(line.first, OF[name]))}" if name in OF else ""
    return (BEST if is_best else "") + text + whole


def _shown(mean: "Mean", show: Show) -> str:
    """A mean, and half its interval where that can be seen beside it."""
    if mean.half_width is None or mean.half_width <= NARROW * abs(mean.mean):
        return show(mean.mean)
    return f"{show(mean.mean)} ± {show(float(f'{mean.half_width:.2g}'))}"
