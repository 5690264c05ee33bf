"""Scores of rows of several workloads: serving jobs that are much alike are priced as rows of one table."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from costmodel.fabrics import FabricBase, GroupPlan, Split
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.joined_serving import JoinedServing, joining_key


def score_together(tables: Sequence[Candidates], device: Device, fabric: FabricBase) -> list[Scores]:
    """`score` of each table, as if it were alone up to the last digits: those of a few rows take hardly longer together
    than one of them."""
    alike: dict[object, list[int]] = {}
    for number, table in enumerate(tables):
        workload = table.workload
        key = joining_key(workload) if isinstance(workload, TransformerInference) else ""
        alike.setdefault(key or number, []).append(number)
    found: dict[int, Scores] = {}
    for numbers in alike.values():
        some = [tables[number] for number in numbers]
        scores = score(some[0] if len(some) == 1 else _one_table(some, device, fabric), device, fabric)
        ends = np.cumsum([len(each) for each in some])
        found |= {
            number: scores.take(slice(int(end) - len(each), int(end)))
            for number, each, end in zip(numbers, some, ends, strict=True)
        }
    return [found[number] for number in range(len(tables))]


def _one_table(tables: Sequence[Candidates], device: Device, fabric: FabricBase) -> Candidates:
    """The rows of serving jobs with one `joining_key`, one job after the other."""
    together = JoinedServing.of([each.workload for each in tables if isinstance(each.workload, TransformerInference)])
    splits, plans = tuple(fabric.splits(device, together)), dict[GroupPlan, int]()
    place = {_key(split): number for number, split in enumerate(splits)}
    start, parts = 0, list[Candidates]()
    for number, each in enumerate(tables):
        split_of = np.array([place[_key(split)] for split in each.splits], np.int32)
        plan_of = np.array([plans.setdefault(plan, len(plans)) for plan in each.plans], np.int32)
        first_plan, first_split = each.in_first_phase().plan, each.in_first_phase().split
        parts.append(
            replace(
                each,
                mappings=replace(each.mappings, job=np.full_like(each.mappings.job, number)),
                mapping=each.mapping + start,
                plan=plan_of[each.plan],
                split=split_of[each.split],
                first_plan=plan_of[first_plan],
                first_split=split_of[first_split],
            )
        )
        start += len(each.mappings)
    return _concatenated(parts, together, splits, tuple(plans))


def _concatenated(
    parts: Sequence[Candidates], workload: JoinedServing, splits: tuple[Split, ...], plans: tuple[GroupPlan, ...]
) -> Candidates:
    """Rows that number the same splits and plans."""
    rows = Candidates(
        workload=workload,
        mappings=Mappings.concatenate([part.mappings for part in parts]),
        mapping=np.concatenate([part.mapping for part in parts]),
        block=np.concatenate([part.block for part in parts]),
        order=np.concatenate([part.order for part in parts]),
        plan=np.concatenate([part.plan for part in parts], axis=1),
        plans=plans,
        split=np.concatenate([part.split for part in parts]),
        splits=splits,
        first_plan=np.concatenate([part.in_first_phase().plan for part in parts], axis=1),
        first_split=np.concatenate([part.in_first_phase().split for part in parts]),
    )
    return rows if rows.has_phases.any() else rows.in_last_phase()


def _key(split: Split) -> tuple[int | None, int | None, int | None]:
    """What tells the splits of a job, or of several jobs, from each other."""
    return split.memory_units, split.memory_io, split.tier_units
