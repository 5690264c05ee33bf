"""Candidates: every way in which a job may run, one row each, with all that its score depends on."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase, GroupPlan, Split, plans_by_pool
from costmodel.hardware.device import Device
from costmodel.parallelism.configuration import Collective, Configuration, PhaseSetting
from costmodel.parallelism.degrees import RANK_ORDERS, confined
from costmodel.parallelism.described import setting_of
from costmodel.parallelism.mappings import CHOICES, DIMENSIONS, Mappings, distinct_rows
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.collective_choices import PlanChoices, plan_choices
from costmodel.pricing.divided_mappings import DividedMappings
from costmodel.pricing.laid_rows import DATA
from costmodel.pricing.layouts import BlocksOf, Key, ListedBlocks
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.plan_racks import PlanRacks
from costmodel.pricing.servers_by_rack import ServersByRack, may_lie
from costmodel.workloads import Workload

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Candidates:
    """Configurations of one workload, columns of shape (C,); `mapping` indexes `mappings`, `split` indexes `splits`.

    `plan` has shape (5, C): the row of `plans` used along each of DIMENSIONS. `first_plan` and `first_split` are those
    of the first phase of the workload; None where no row has a setting of its own there.
    """

    workload: Workload
    mappings: Mappings
    mapping: Ints
    block: Ints
    order: Ints
    """which of RANK_ORDERS"""
    plan: Ints
    plans: tuple[GroupPlan, ...]
    split: Ints
    splits: tuple[Split, ...]
    first_plan: Ints | None = None
    first_split: Ints | None = None

    def __len__(self) -> int:
        return len(self.mapping)

    @cached_property
    def num_devices(self) -> Ints:
        return np.asarray(self.mappings.num_devices[self.mapping])

    @cached_property
    def racks(self) -> Ints:
        """Racks in which each row lies, shape (C,)."""
        return np.asarray(PlanRacks.of(self.plans).racks[self.plan[DATA]])

    @cached_property
    def links(self) -> Ints:
        """Links between racks that each row holds of every part of the upper layer, shape (C,)."""
        return np.asarray(PlanRacks.of(self.plans).links[self.plan[DATA]])

    def row_plans(self, row: int) -> list[GroupPlan]:
        """Plans along each of DIMENSIONS."""
        return [self.plans[plan] for plan in self.plan[:, row]]

    def configuration(self, row: int) -> Configuration:
        """The row as it is written in a plan."""
        if row not in self._configurations:
            self._configurations[row] = self._configuration(row)
        return self._configurations[row]

    @cached_property
    def _configurations(self) -> dict[int, Configuration]:
        """Those asked for."""
        return {}

    def _configuration(self, row: int) -> Configuration:
        first = PhaseSetting(**self.in_first_phase()._setting(row)) if self.has_phases[row] else None
        choice, order = self.mappings.choice(int(self.mapping[row])), RANK_ORDERS[self.order[row]]
        laid = {"block": int(self.block[row]), "rank_order": order}
        return Configuration.of_choice(choice, self._menus, first_phase=first, **laid, **self._setting(row))

    @cached_property
    def _menus(self) -> dict[str, tuple[int, ...]]:
        return self.workload.menus()

    def _setting(self, row: int) -> dict[str, Any]:
        """Fields of a configuration that say how the I/O is divided and used."""
        split, names = self.splits[self.split[row]], (f"{dimension}_collective" for dimension in DIMENSIONS)
        collectives = dict(zip(names, map(Collective.of, self.row_plans(row)), strict=True))
        tier = {} if split.tier_units is None else {"tier_units": split.tier_units}
        turns = {"turns": split.fabric.turns} if split.fabric.turns else {}
        return {"memory_units": split.memory_units, "memory_io": split.memory_io, **tier, **turns, **collectives}

    @cached_property
    def has_phases(self) -> Bools:
        """Whether a row has a setting of its own in the first phase, shape (C,)."""
        if self.first_plan is None or self.first_split is None:
            return np.zeros(len(self), np.bool_)
        return np.asarray((self.first_plan != self.plan).any(axis=0) | (self.first_split != self.split))

    def in_first_phase(self) -> "Candidates":
        """The rows with their setting of the first phase as their only one."""
        if self.first_plan is None or self.first_split is None:
            return self
        return replace(self, plan=self.first_plan, split=self.first_split, first_plan=None, first_split=None)

    def in_last_phase(self) -> "Candidates":
        """The rows with their setting of the last phase as their only one."""
        return replace(self, first_plan=None, first_split=None)

    def take(self, rows: Ints | slice) -> "Candidates":
        """The given rows, in this order."""
        return replace(
            self,
            mapping=self.mapping[rows],
            block=self.block[rows],
            order=self.order[rows],
            plan=self.plan[:, rows],
            split=self.split[rows],
            first_plan=None if self.first_plan is None else self.first_plan[:, rows],
            first_split=None if self.first_split is None else self.first_split[rows],
        )

    def of_prompts(self) -> "Candidates":
        """The rows with the degrees and plans of the pool that runs prompts, where it has its own."""
        if (own := self.mappings.of_prompts()) is self.mappings:
            return self
        return replace(self, mappings=own, plans=tuple(plans_by_pool(plan)[0] for plan in self.plans))

    def part(
        self, rows: Ints | slice, device: Device, calibrations: Calibrations | None = None
    ) -> tuple["Candidates", OpGraph]:
        """Some rows with their own mappings alone, and what these execute; numbers as wide as indices are."""
        part = self.take(rows)
        order = np.arange(len(part)) if np.all(part.mapping[1:] >= part.mapping[:-1]) else np.argsort(part.mapping)
        in_order = part.mapping[order]
        is_first = np.concatenate([np.ones(min(1, len(part)), np.bool_), in_order[1:] > in_order[:-1]])
        mapping = np.empty(len(part), np.intp)
        mapping[order] = np.cumsum(is_first) - 1
        mappings = self.mappings.take(in_order[is_first])
        graph = self.workload.op_graph(mappings, device, calibrations)
        return replace(part, mappings=mappings, mapping=mapping, plan=part.plan.astype(np.intp)), graph

    def is_confined(self, axes: Container[int]) -> Bools:
        """Whether groups along these DIMENSIONS, or their parts by rack, surely lie in one server, shape (5, C)."""
        found = confined(self.mappings, self.mapping, self.block, self.order, axes)
        found[DATA] |= (self.racks > 1) & (self.block * self.racks == self.num_devices)
        return found


def enumerate_candidates(
    workload: Workload,
    sizes: Sequence[int],
    device: Device,
    fabric: FabricBase,
    *,
    one_server: bool = False,
    per_server: int | None = None,
    collective: str | None = None,
    servers_by_rack: ServersByRack | None = None,
    mappings: Mappings | None = None,
) -> Candidates:
    """Every mapping of the workload on each size, or of these, that fits in memory, under every plan of the fabric.

    `one_server` keeps the whole job in one server; `per_server` devices are what each server gives that the job uses;
    `collective` keeps only plans of that kind along the dimensions that all-reduce; `servers_by_rack`, of rows with
    `per_server`, those whose servers may lie so.
    """
    every = workload.mappings(*sizes) if mappings is None else mappings
    blocks = ListedBlocks(one_server, per_server)
    listed = list_candidates(workload, every, device, fabric, blocks=blocks, collective=collective, one_rack=one_server)
    if per_server is None:
        return listed
    shared = _with_share(listed, fabric, per_server)
    return shared if servers_by_rack is None else _in_racks(shared, fabric, per_server, servers_by_rack)


def _with_share(listed: Candidates, fabric: FabricBase, per_server: int) -> Candidates:
    """Rows with which each server gives so many devices."""
    first, of = distinct_rows([listed.block, *listed.plan])
    shares = [fabric.share(int(listed.block[row]), listed.row_plans(row)) for row in first.tolist()]
    return listed.take(np.flatnonzero(np.array(shares, np.int64)[of] == per_server))


def _in_racks(listed: Candidates, fabric: FabricBase, per_server: int, asked: ServersByRack) -> Candidates:
    """Rows whose servers may lie in racks as is asked."""
    ways, of = distinct_rows([listed.num_devices, listed.racks])
    number, racks = listed.num_devices[ways] // per_server, listed.racks[ways]
    may = [may_lie(asked, *each, fabric) for each in zip(number.tolist(), racks.tolist(), strict=True)]
    return listed.take(np.flatnonzero(np.array(may, np.bool_)[of]))


def list_candidates(
    workload: Workload,
    mappings: Mappings,
    device: Device,
    fabric: FabricBase,
    *,
    blocks: BlocksOf,
    collective: str | None = None,
    one_rack: bool = False,
) -> Candidates:
    """Every plan of the given mappings that fit in memory, under every split of the I/O; `blocks` lists the blocks of
    some degrees, `one_rack` leaves out what spans racks."""
    splits, plans = tuple(fabric.splits(device, workload)), dict[GroupPlan, int]()
    fabrics = {id(split.fabric): split.fabric for split in splits}
    choices = {key: plan_choices(workload, each, blocks, collective, one_rack) for key, each in fabrics.items()}
    divided = DividedMappings.of(workload, mappings, splits)
    fitting = [divided.under(number) for number in range(len(splits))]
    listed = [
        _list_split(keys, of, choices[id(split.fabric)], plans)
        for (_, keys, of), split in zip(fitting, splits, strict=True)
    ]
    first = np.cumsum([0, *(len(rows) for rows, _, _ in fitting)])
    every = divided.mappings
    return Candidates(
        workload=workload,
        mappings=every if len(splits) == 1 else every.take(np.concatenate([rows for rows, _, _ in fitting])),
        mapping=np.concatenate([start + mapping for start, (mapping, _) in zip(first, listed, strict=False)]),
        block=np.concatenate([table[0] for _, table in listed]),
        order=np.concatenate([table[1] for _, table in listed]),
        plan=np.concatenate([table[2:] for _, table in listed], axis=1),
        plans=tuple(plans),
        split=np.repeat(np.arange(len(splits), dtype=np.int32), [len(mapping) for mapping, _ in listed]),
        splits=splits,
    )


def _list_split(keys: Sequence[Key], of: Ints, choices: PlanChoices, plans: dict[GroupPlan, int]) -> tuple[Ints, Ints]:
    """Of mappings with these keys the mapping of each row, and its block, order and numbers among `plans`, shape
    (7, rows)."""
    table, number = choices.table(keys)
    start, repeats = np.cumsum(number) - number, number[of]
    mapping = np.repeat(np.arange(len(of), dtype=np.int32), repeats)
    place = np.arange(len(mapping)) + np.repeat(start[of] - (np.cumsum(repeats) - repeats), repeats)
    table[2:] = choices.renumbered(table[2:], plans)
    return mapping, np.take(table, place, axis=1)


def candidates_of(
    configurations: Sequence[Configuration], workload: Workload, device: Device, fabric: FabricBase
) -> Candidates:
    """Rows for given configurations, such as those that residents and plans name.

    Raises ValueError where the workload or the fabric has no such configuration.
    """
    menus = workload.menus()
    choices = [configuration.choice(menus) for configuration in configurations]
    mappings = Mappings.of(**{name: np.array([c[name] for c in choices], np.int64) for name in CHOICES})
    device.matrix_flops_per_s(workload.precision)
    splits, plans = tuple(fabric.splits(device, workload)), dict[GroupPlan, int]()
    split = np.zeros((2, len(configurations)), dtype=np.int32)
    plan = np.zeros((2, len(DIMENSIONS), len(configurations)), dtype=np.int32)
    for row, configuration in enumerate(configurations):
        _require_mapping(configuration, choices[row], workload)
        if configuration.first_phase is not None and (not workload.phases or fabric.resetting_s is None):
            raise ValueError(f"first_phase: a {workload.kind} has one setting here; leave it out")
        settings = [setting_of(each, workload, fabric, splits) for each in configuration.by_phase]
        split[:, row] = [number for number, _ in settings]
        plan[..., row] = [[plans.setdefault(each, len(plans)) for each in used] for _, used in settings]
    block = np.array([c.block for c in configurations], dtype=np.int32)
    order = np.array([RANK_ORDERS.index(c.rank_order) for c in configurations], dtype=np.int32)
    rows = Candidates(
        workload,
        mappings,
        np.arange(len(block), dtype=np.int32),
        block,
        order,
        plan[-1],
        tuple(plans),
        split[-1],
        splits,
        plan[0],
        split[0],
    )
    return rows if rows.has_phases.any() else rows.in_last_phase()


def _require_mapping(configuration: Configuration, choice: dict[str, int], workload: Workload) -> None:
    if not workload.mappings(configuration.num_devices).where(choice).any():
        raise ValueError(f"{configuration.degrees} does not divide the workload")
