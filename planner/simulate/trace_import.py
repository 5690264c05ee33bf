"""A trace from the table of another program: which of its columns is what, and what became of rows that fit no job."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from planner.model.errors import InputError
from planner.model.job import MOST_ACCELERATORS
from planner.simulate.trace import DEFAULT_TENANT, REQUIRED, Trace
from planner.tables import computed_columns

NAMES = ("tenant",)
EXAMPLE = "--map 'duration_s=end - start'"


def mapping_of(pairs: Sequence[str]) -> dict[str, str]:
    """What each column of a trace is computed from, of texts such as `num_gpus=gpus`; InputError where one is wrong."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, source = (part.strip() for part in pair.partition("="))
        if not equals or not source or name not in (*REQUIRED, *NAMES):
            known = ", ".join((*REQUIRED, *NAMES))
            raise InputError("--map", pair, f"names no column of a trace; they are {known}, such as {EXAMPLE}")
        if name in found:
            raise InputError("--map", pair, f"{name} is given twice; keep one")
        found[name] = source
    return {name: name for name in REQUIRED} | found


def import_trace(path: Path, mapping: Mapping[str, str]) -> tuple[Trace, list[str]]:
    """Jobs of a CSV or Parquet file of any columns, in the order of arrival from 0 on; what was left out or rounded.

    A share of an accelerator counts as a whole one. Rows without an arrival, a duration or an accelerator are left out.
    """
    numbers = {name: source for name, source in mapping.items() if name not in NAMES}
    columns, line = computed_columns(path, numbers, {name: mapping[name] for name in NAMES if name in mapping})
    arrival_s, duration_s, asked = (columns[name] for name in REQUIRED)
    sizes = np.ceil(np.nan_to_num(asked))
    left_out = {
        "have no arrival": ~np.isfinite(arrival_s),
        "have no duration above 0": ~(np.isfinite(duration_s) & (duration_s > 0)),
        "ask for no accelerator": ~(sizes >= 1),
        f"ask for more than {MOST_ACCELERATORS:,}": sizes > MOST_ACCELERATORS,
    }
    is_job, notes = np.ones(len(line), bool), []
    for words, is_out in left_out.items():
        number = int((is_job & is_out).sum())
        notes += [f"{number:,} of {len(line):,} rows {words}: left out"] if number else []
        is_job &= ~is_out
    if not is_job.any():
        raise InputError(str(path), "--map", f"no row is a job: {'; '.join(notes)}; map other columns, {EXAMPLE}")
    shares = int((is_job & (asked != sizes)).sum())
    notes += [f"jobs that ask for a share of an accelerator, rounded up: {shares:,}"] if shares else []
    order = np.flatnonzero(is_job)[np.argsort(arrival_s[is_job], kind="stable")]
    tenant = columns.get("tenant", np.full(len(line), DEFAULT_TENANT))[order]
    return Trace(
        name=str(path),
        arrival_s=arrival_s[order] - arrival_s[order[0]],
        duration_s=duration_s[order],
        num_gpus=sizes[order].astype(np.int64),
        tenant=np.where(tenant == "", DEFAULT_TENANT, tenant),
        workload=np.full(len(order), ""),
        priority=np.zeros(len(order), np.int64),
        line=line[order],
    ), notes
