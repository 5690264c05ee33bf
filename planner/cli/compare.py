"""planner compare: policies side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planner.cli import exits
from planner.cli.inputs import (
    AsJson,
    Seed,
    TimeLimit,
    Workers,
    load_problem,
    require_policy,
    require_writable,
    write_text,
)
from planner.cli.output import BEST, console, number, percent, plain, print_json, quantity, seconds, table

if TYPE_CHECKING:
    from rich.table import Table

    from planner.compare import Row

DEFAULT_POLICIES = "cpsat,first_fit,best_fit,server_aligned,random_fit"
COLUMNS = (
    "policy", "value", "admitted", "devices", "energy", "power", "fragmentation", "gap", "violations", "time",
)  # fmt: skip


def compare(
    instances: Annotated[list[Path], typer.Argument(metavar="INSTANCE...", help="Instance files.")],
    policies: Annotated[str, typer.Option(metavar="A,B,C", help="Policies, by commas.")] = DEFAULT_POLICIES,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    workers: Workers = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as CSV.")] = None,
    out_json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rows as JSON.")] = None,
    as_json: AsJson = False,
) -> int:
    """Run several policies on each instance and print one table for each.

    The gap is to the best bound that any of the policies proved; heuristics prove none. The best figures of
    an instance are bold; energy, power and fragmentation only among plans of the best value. The time limit
    is that of each run.
    """
    require_writable(csv, "--csv")
    require_writable(out_json, "--out-json")
    names = _policies(policies)
    problems = [load_problem(path)[1] for path in instances]
    from planner.compare import compare as run
    from planner.compare import to_csv, to_records
    from planner.result import SolveOptions

    options = SolveOptions(time_limit_s=time_limit, seed=seed, workers=workers)
    rows = run(problems, names, options=options, on_start=_announce)
    if as_json:
        print_json(to_records(rows))
    else:
        _print_tables(rows, len(names))
    if csv is not None:
        write_text(csv, to_csv(rows))
    if out_json is not None:
        import json

        write_text(out_json, json.dumps(to_records(rows), indent=1, allow_nan=False) + "\n")
    return exits.VIOLATIONS if any(row.violations for row in rows) else exits.PLAN


def _policies(text: str) -> list[str]:
    """Known policies, each once."""
    from planner.errors import InputError

    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError("--policies", "", f"names no policy; give some, such as {DEFAULT_POLICIES}")
    return [require_policy(name, "--policies") for name in names]


def _announce(instance: str, policy: str) -> None:
    """Say on a terminal what runs now."""
    out = console(stderr=True)
    if out.is_terminal:
        out.print(plain(f"{instance}: {policy} ..."), style="dim")


def _print_tables(rows: "Sequence[Row]", num_policies: int) -> None:
    out = console()
    for start in range(0, len(rows), num_policies):
        group = rows[start : start + num_policies]
        first = group[0]
        bound = f"   {first.objective} is bounded by {number(first.bound)}" if first.bound is not None else ""
        jobs = f"{first.jobs} job{'' if first.jobs == 1 else 's'}"
        if start:
            out.print()
        title = f"{plain(first.instance)}   {jobs}   {first.devices_healthy} devices healthy{bound}"
        out.print(title, soft_wrap=True)
        out.print(comparison(group))


def comparison(rows: "Sequence[Row]") -> "Table":
    """The table of one instance."""
    cells = [_cells(row) for row in rows]
    for column, best in _best(rows).items():
        for index in best:
            cells[index][column] = BEST + cells[index][column]
    return table(COLUMNS, cells, right=COLUMNS[1:])


def _cells(row: "Row") -> list[str]:
    if row.value is None:
        return [row.policy, row.status, *["-"] * 7, seconds(row.wall_time_s)]
    return [
        row.policy,
        number(row.value),
        f"{row.admitted} of {row.jobs}",
        f"{row.devices_used} of {row.devices_healthy}",
        number(row.energy),
        quantity(row.power_w, "W"),
        number(row.fragmentation),
        percent(row.gap),
        number(row.violations),
        f"{row.wall_time_s:.2f} s",
    ]


def _best(rows: "Sequence[Row]") -> dict[int, list[int]]:
    """Rows with the best figure by column, of plans without violations."""
    sound = [i for i, row in enumerate(rows) if row.value is not None and not row.violations]
    if len(rows) < 2 or not sound:
        return {}
    value = {i: rows[i].value or 0.0 for i in sound}
    top = max(value.values())
    leaders = [i for i in sound if value[i] >= top - 1e-9 * abs(top)]
    most = max(rows[i].admitted for i in sound)
    best = {1: leaders, 2: [i for i in sound if rows[i].admitted == most]}
    for column, name in {4: "energy", 5: "power_w", 6: "fragmentation"}.items():
        best[column] = _least(rows, leaders, name)
    best[7] = _least(rows, sound, "gap")
    best[9] = _least(rows, sound, "wall_time_s")
    return best


def _least(rows: "Sequence[Row]", among: Sequence[int], name: str) -> list[int]:
    known: dict[int, float] = {i: getattr(rows[i], name) for i in among if getattr(rows[i], name) is not None}
    if not known:
        return []
    least = min(known.values())
    return [i for i, figure in known.items() if figure <= least + 1e-9 * abs(least)]
