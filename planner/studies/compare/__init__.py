"""Several policies on several variants of instances: one row for each run, all judged by the same check."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, product
from typing import NamedTuple

from planner.candidates.expand import expand
from planner.candidates.named_errors import naming
from planner.fabrics.problem import Problem
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.policies import origin_of
from planner.studies.compare.grid import Variant
from planner.studies.compare.reference import measured_alike
from planner.studies.compare.rows import PolicyRow, row_of, with_bound
from planner.sweep.run import Interrupted, OnCell, Where, run_cells
from planner.sweep.store import Document, Store, key_of
from planner.sweep.types import ShouldStop
from planner.sweep.versions import code


class Cell(NamedTuple):
    """One run."""

    variant: int
    policy: str
    seed: int


@dataclass(frozen=True)
class Grid:
    """Inputs that all runs share."""

    variants: tuple[Variant, ...]
    options: SolveOptions
    _expanded: dict[int, Problem] = field(default_factory=dict, compare=False)
    """the variant that this process works on"""

    def problem(self, number: int) -> Problem:
        """A variant with its scored candidates."""
        if number not in self._expanded:
            self._expanded.clear()
            variant = self.variants[number]
            with naming(variant.where, variant.instance):
                self._expanded[number] = expand(variant.instance)
        return self._expanded[number]


@dataclass(frozen=True)
class Comparison:
    """Rows by variant, policy and seed, and how many runs were asked for; Ctrl-C leaves some out."""

    rows: list[PolicyRow]
    runs: int


def compare(
    variants: Sequence[Variant],
    policies: Sequence[str],
    *,
    seeds: int = 1,
    options: SolveOptions | None = None,
    store: Store | None = None,
    where: Where | None = None,
    on_cell: OnCell | None = None,
) -> Comparison:
    """Every policy on every variant with seeds from that of the options on; after Ctrl-C what there is by then.

    Jobs of several variants are measured against one reference each: see `measured_alike`.
    """
    options = options or SolveOptions()
    grid = Grid(tuple(measured_alike(variants)), options)
    cells = [
        Cell(number, policy, options.seed + seed)
        for number, policy, seed in product(range(len(variants)), policies, range(seeds))
    ]
    keys = _keys(grid, cells)
    try:
        found = run_cells(_run, grid, keys, store=store, where=where, on_cell=on_cell)
    except Interrupted as stop:
        found = stop.found
    rows: list[PolicyRow] = []
    for number, group in groupby(found, key=lambda cell: cell.variant):
        parameters = grid.variants[number].parameters
        rows += with_bound([replace(PolicyRow(**found[cell]), parameters=parameters) for cell in group])
    return Comparison(rows, len(cells))


def _run(grid: Grid, cell: Cell, should_stop: ShouldStop) -> Document:
    """The row of one run."""
    problem = grid.problem(cell.variant)
    options = replace(grid.options, seed=cell.seed, should_stop=should_stop)
    started = time.perf_counter()
    result = solve(problem, policy=cell.policy, options=options)
    wall_time_s = time.perf_counter() - started
    return asdict(row_of(problem, grid.variants[cell.variant].parameters, cell.policy, result, wall_time_s))


def _keys(grid: Grid, cells: Sequence[Cell]) -> dict[Cell, str]:
    """The key of each run in a store."""
    options, versions, layout = grid.options, code(), list(PolicyRow.__dataclass_fields__)
    limits = options.time_limit_s, options.deterministic_limit, options.workers
    instances = [variant.instance.model_dump(mode="json") for variant in grid.variants]
    origins = {policy: origin_of(policy) for policy in {cell.policy for cell in cells}}
    return {
        cell: key_of(versions, layout, limits, instances[cell.variant], cell.policy, origins[cell.policy], cell.seed)
        for cell in cells
    }
