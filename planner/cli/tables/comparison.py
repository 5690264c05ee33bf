"""Tables of planner compare."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from costmodel.wording import counted
from planner.cli.output import BEST, console, number, percent, plain, quantity, table

if TYPE_CHECKING:
    from planner.studies.compare.grid import Variant
    from planner.studies.compare.rows import PolicyRow
    from planner.studies.compare.summary import Mean, PolicySummary

Show = Callable[[float], str]
COLUMNS: dict[str, tuple[str, Show]] = {
    "value": ("value", number),
    "bound": ("bound", number),
    "gap": ("gap", percent),
    "admitted": ("admitted", number),
    "devices_used": ("accelerators", number),
    "energy": ("energy", number),
    "power_w": ("power", lambda value: quantity(value, "W")),
    "tokens_per_s": ("tokens/s", lambda value: quantity(value, "").strip()),
    "joules_per_token": ("energy/token", lambda value: quantity(value, "J")),
    "samples_per_s": ("samples/s", lambda value: quantity(value, "").strip()),
    "joules_per_sample": ("energy/sample", lambda value: quantity(value, "J")),
    "cost_per_h": ("cost/h", number),
    "cost_per_million_tokens": ("cost/M tokens", number),
    "cost_per_million_samples": ("cost/M samples", number),
    "fragmentation": ("fragmentation", number),
    "violations": ("violations", number),
    "wall_time_s": ("time", lambda value: f"{value:.2f} s"),
}
"""figure -> column, and how it is shown"""
WHERE_KNOWN = {
    "tokens_per_s", "joules_per_token", "samples_per_s", "joules_per_sample", "cost_per_h", "cost_per_million_tokens",
    "cost_per_million_samples",
}  # fmt: skip
"""figures whose column is left out where no line has one"""
OF = {"admitted": "jobs", "devices_used": "devices_healthy"}
"""figure -> what it is part of"""
MOST_NAMED = 5
"""jobs that a note names"""
NARROW = 5e-5
"""fraction of a mean below which four digits do not show half an interval"""


def print_tables(rows: "Sequence[PolicyRow]", timings: bool, currency: str | None) -> None:
    """One table for each instance; the best figures of each variant are bold."""
    from planner.studies.compare.summary import summarize

    out = console()
    for place, (name, group) in enumerate(groupby(rows, key=lambda row: row.instance)):
        of_instance = list(group)
        lines = summarize(of_instance)
        first = lines[0].first
        if place:
            out.print()
        jobs = counted(first.jobs, "job")
        out.print(f"{plain(name)}   {jobs}   {first.devices_healthy} accelerators healthy", soft_wrap=True)
        out.print(_table(lines, timings))
        for reason in dict.fromkeys(row.impossible for row in of_instance if row.impossible):
            out.print(f"impossible alone: {plain(reason)}", soft_wrap=True)
    if currency is not None:
        out.print(
            f"cost in {plain(currency)}: capital of the whole cluster over its lifetime, and energy of the jobs",
            soft_wrap=True,
        )


def references(variants: "Sequence[Variant]", rows: "Sequence[PolicyRow]") -> list[str]:
    """References of values and energies, and the instances that still do not compare; nothing of one variant alone."""
    from planner.studies.compare.reference import differing_jobs
    from planner.studies.compare.summary import undecided

    if len(variants) < 2:
        return []
    files = list({variant.base.name: variant.base for variant in variants}.values())
    first = "this file" if len(files) == 1 else "the first file that lists it"
    names = ", ".join(plain(base.name) for base in files)
    text = f"value, bound and energy: each job is measured against its fastest and its most frugal candidate in {first}"
    told = [f"{text}: {names}, as written"]
    extra = "; ".join(f"only in {plain(name)}: {_first(jobs)}" for name, jobs in differing_jobs(files))
    if extra:
        text = "do not compare values and energies of these files, their jobs differ"
        told.append(f"{text} ({extra}); tokens, samples, joules and costs are absolute")
    elif unproven := undecided(rows):
        text = "not proven worse than a variant of more value, as the bound says; a longer --time-limit decides"
        told.append(f"{text}: {plain('; '.join(unproven))}")
    return told


def _first(jobs: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    more = len(jobs) - MOST_NAMED
    return plain(", ".join(jobs[:MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _table(lines: "Sequence[PolicySummary]", timings: bool) -> object:
    from planner.studies.compare.summary import best

    parameters = list(lines[0].first.parameters)
    known = {name for line in lines for name in line.figures}
    shown = [name for name in COLUMNS if name not in WHERE_KNOWN or name in known]
    shown = [name for name in shown if timings or name != "wall_time_s"]
    has_seeds = any(line.seeds > 1 for line in lines)
    cells = []
    for _, group in groupby(lines, key=lambda line: str(line.first.parameters)):
        of_variant = list(group)
        leading = best(of_variant)
        for place, line in enumerate(of_variant):
            given = [plain(str(value)) for value in line.first.parameters.values()]
            seeds = [f"{line.plans} of {line.seeds}"] if has_seeds else []
            figures = [(BEST if place in leading.get(name, ()) else "") + cell(line, name) for name in shown]
            if not line.plans:
                figures[0] = line.first.status
            cells.append([*given, line.first.policy, *seeds, *figures])
    names = [*_labels(parameters), "policy", *(["plans"] if has_seeds else []), *(COLUMNS[name][0] for name in shown)]
    return table(names, cells, right=[column for column, _ in COLUMNS.values()])


def _labels(paths: Sequence[str]) -> list[str]:
    """The last part of each path, all of it where two end alike."""
    ends = [path.rsplit(".", 1)[-1] for path in paths]
    return [end if ends.count(end) == 1 else path for end, path in zip(ends, paths, strict=True)]


def cell(line: "PolicySummary", name: str) -> str:
    """A figure of a line, and of how much it is a part; - where it has none."""
    if name not in line.figures:
        return "-"
    whole = f" of {number(getattr(line.first, OF[name]))}" if name in OF else ""
    return _shown(line.figures[name], COLUMNS[name][1]) + whole


def _shown(mean: "Mean", show: Show) -> str:
    """A mean, and half its interval where that can be seen beside it."""
    if mean.half_width is None or mean.half_width <= NARROW * abs(mean.mean):
        return show(mean.mean)
    return f"{show(mean.mean)} ± {show(float(f'{mean.half_width:.2g}'))}"
