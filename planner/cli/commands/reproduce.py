"""planner reproduce: published figures beside ours."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli import exits
from planner.cli.inputs import AsJson
from planner.cli.output import BEST, console, plain, print_json, table
from planner.cli.standard_output import go_on_without_output

if TYPE_CHECKING:
    from planner.studies.reproduce.rows import PublishedRow
    from planner.studies.reproduce.run import ExperimentOutcome

COLUMNS = ("quantity", "reference", "ours", "unit", "tolerance", "verdict", "note", "source")
NUMBERS = ("reference", "ours", "tolerance", "note")
WRAPPED = ("quantity", "source")


def reproduce(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help="One paper; all unless given.")] = None,
    only_list: Annotated[bool, typer.Option("--list", help="List the experiments; compute nothing.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="DIR", help="Write a figure of each experiment.")] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Folder of the files, PAPER/EXPERIMENT.yaml, instead of those shipped."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Compute published experiments anew and compare each figure that the papers print.

    A figure is *reproduced* within its tolerance or *outside* it. It is *fitted* where a free input has no other
    source than this figure, *by construction* where ours restates printed inputs or an identity of them, *contradicted*
    where the paper's own inputs give another one, *not derivable* where the paper does not say enough. A figure
    that several rows compare counts once. Exit code 1: a required figure is outside.
    """
    from planner.studies.reproduce.published import FOLDER, files

    paths = files(folder or FOLDER, paper)
    if only_list:
        return _list(paths, as_json)
    if plot is not None:
        _require_folder(plot)
    outcomes = []
    for outcome in _computed(paths):
        outcomes.append(outcome)
        if not as_json:
            _print(outcome, is_first=len(outcomes) == 1)
    rows = [row for outcome in outcomes for row in outcome.rows]
    _finish(rows, as_json)
    if plot is not None:
        _write_figures(plot, outcomes)
    return exits.VIOLATIONS if any(row.is_failure for row in rows) else exits.PLAN


def _computed(paths: Sequence[Path]) -> "Iterator[ExperimentOutcome]":
    """Outcomes; on a terminal it is said what is computed now."""
    from planner.studies.reproduce.run import reproduce_file

    out = console(stderr=True)
    for path in paths:
        with out.status(f"{path.parent.name}/{path.stem} ...") if out.is_terminal else _quietly():
            outcome = reproduce_file(path)
        yield outcome


def _quietly() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def _list(paths: Sequence[Path], as_json: bool) -> int:
    """One line for each file."""
    from planner.studies.reproduce.published import read

    named = [(path.stem, read(path)) for path in paths]
    if as_json:
        keys = ("paper", "experiment", "kind", "figures", "about")
        values = [(p.paper, name, p.kind, len(p.published), p.experiment) for name, p in named]
        print_json([dict(zip(keys, each, strict=True)) for each in values])
        return exits.PLAN
    cells = [(p.paper, name, p.kind, str(len(p.published)), p.experiment) for name, p in named]
    console().print(
        table(("paper", "experiment", "kind", "figures", "about"), cells, right=["figures"], wrap=["about"])
    )
    return exits.PLAN


def _print(outcome: "ExperimentOutcome", *, is_first: bool) -> None:
    """The table of one experiment, with each reason once below it."""
    out = console()
    if not is_first:
        out.print()
    published = outcome.published
    out.print(f"{published.paper}/{outcome.name}   {plain(published.experiment)}", style="bold", soft_wrap=True)
    out.print(f"{plain(published.title)}; {plain(published.citation)}", style="dim", soft_wrap=True)
    notes = list(dict.fromkeys(row.reason for row in outcome.rows if row.reason))
    decimals = _decimals(outcome.rows)
    cells = [line for row in outcome.rows for line in _cells(row, notes, decimals[row.unit])]
    used = [k for k, name in enumerate(COLUMNS) if name != "note" or notes]
    rows = [[row[k] for k in used] for row in cells]
    out.print(table([COLUMNS[k] for k in used], rows, right=NUMBERS, wrap=WRAPPED))
    for number, note in enumerate(notes, 1):
        out.print(f"{number}  {plain(note)}", style="dim")


def _cells(row: "PublishedRow", notes: Sequence[str], decimals: int) -> "Iterator[tuple[str, ...]]":
    """The line of a figure, and one below it for each other reading."""
    verdict = BEST + row.verdict if row.verdict != "reproduced" else row.verdict
    if row.verdict == "outside" and not row.required:
        verdict += " (not required)"
    if not row.counts:
        verdict += ", not counted"
    note = str(notes.index(row.reason) + 1) if row.reason else ""
    ours = figure(row.ours, decimals)
    yield row.quantity, _published(row, decimals), ours, row.unit, row.tolerance, verdict, note, row.source
    for label, value in row.beside.items():
        yield f"  {label}", "", figure(value, decimals), row.unit, "", "", "", ""


def figure(value: float | None, decimals: int = 0) -> str:
    """A number with at least so many decimals and four significant digits, whole ones without; - for none."""
    if value is None:
        return "-"
    if decimals == 0 and value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    leading = math.floor(math.log10(abs(value))) + 1 if value else 4
    return f"{value:,.{max(decimals, min(4 - leading, 6))}f}"


def _published(row: "PublishedRow", decimals: int) -> str:
    """A number, an interval, or its one end."""
    if not isinstance(row.published, tuple):
        return f"{row.published:,.{decimals}f}"
    low, high = ("" if end is None else f"{end:,.{decimals}f}" for end in row.published)
    return f"{low} .. {high}" if low and high else f">= {low}" if low else f"<= {high}"


def _ends(row: "PublishedRow") -> list[float]:
    """The published number, or the ends of the interval."""
    ends = row.published if isinstance(row.published, tuple) else (row.published,)
    return [end for end in ends if end is not None]


def _decimals(rows: "Sequence[PublishedRow]") -> dict[str, int]:
    """Decimals that the published numbers of each unit are given with."""
    result: dict[str, int] = {}
    for row in rows:
        written = [f"{value:.6f}".rstrip("0").partition(".")[2] for value in _ends(row)]
        result[row.unit] = max(result.get(row.unit, 0), *map(len, written))
    return result


def _finish(rows: "Sequence[PublishedRow]", as_json: bool) -> None:
    """The summary line, or everything as JSON."""
    from planner.studies.reproduce.rows import tally, to_records

    failures = sum(row.is_failure for row in rows)
    if as_json:
        readings = sum(not row.counts for row in rows)
        content = {"rows": to_records(rows), "summary": tally(rows), "other_readings": readings}
        print_json(content | {"required_outside": failures})
        return
    out = console()
    out.print()
    told = {"paper": "figures that papers print", "independent": "references computed apart from them"}
    for origin, what in told.items():
        of_origin = [row for row in rows if row.origin == origin]
        own = [row for row in of_origin if row.counts]
        required = sum(row.is_failure for row in own)
        parts = [
            f"{count} {verdict}{f' ({required} required)' if verdict == 'outside' else ''}"
            for verdict, count in tally(own).items()
            if count
        ]
        if others := len(of_origin) - len(own):
            parts.append(f"and {others} other readings of them, not counted")
        if of_origin:
            out.print(f"{len(own)} {what}: {', '.join(parts)}", style="bold", soft_wrap=True)


def _require_folder(folder: Path) -> None:
    """InputError, before anything is computed, where figures cannot be written."""
    from planner.model.errors import InputError
    from planner.plotting import require_matplotlib

    go_on_without_output()
    require_matplotlib()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), "--plot", f"cannot be made: {error.strerror}; name another folder") from None


def _write_figures(folder: Path, outcomes: "Sequence[ExperimentOutcome]") -> None:
    from planner.plotting.reproduced import save_figures

    for path in save_figures(folder, outcomes):
        console(stderr=True).print(f"wrote {path}", soft_wrap=True)
