"""Candidates that can still matter in racks with pooled memory."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Sipam
from costmodel.parallelism.mappings import distinct_rows
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.divided_mappings import group_degrees
from planner.fabrics.dominance import Dominance
from planner.fabrics.problem import JobOptions
from planner.fabrics.sipam.demand import asked_across, ports_of_each
from planner.fabrics.sipam.placeable import are_placeable
from planner.fabrics.sipam.published_loop import loop_rows, rows_of_loop
from planner.model.instance import Instance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Places = NDArray[np.uint16] | NDArray[np.int32]
CHUNK, FEW = 256, 32
"""rows compared at once with those before them, and the last of these that they are compared with first"""
EARLIER = np.triu(np.ones((CHUNK, CHUNK), np.bool_), 1)
"""of rows in a chunk, those before each one"""


class PoolDominance(Dominance):
    """Rows are compared by what they ask of each server; the rows of the published loop are kept beside them. Rows that
    no servers have uplinks for are dropped where others are left: what they replace asks for as many."""

    holds_in_step_two = False

    def kept_rows(self, options: JobOptions, instance: Instance) -> Ints:
        return self.comparison(options, instance)(np.arange(len(options)))

    def comparison(self, options: JobOptions, instance: Instance) -> Callable[[Ints], Ints]:
        cluster, job, candidates = instance.cluster, options.job, options.candidates
        names = [objective.name for objective in instance.objectives]
        kept_of = undominated(options, names, rows_of_loop(cluster, job, candidates))
        assert isinstance(options.fabric, Sipam)
        placeable = are_placeable(candidates, options.fabric)

        def of_sizes(rows: Ints) -> Ints:
            of_loop = rows[loop_rows(cluster, job, candidates.take(rows))]
            kept = kept_of(rows, of_loop)
            always = np.isin(kept, of_loop) | (kept == options.current)
            some = kept[placeable[kept] | always]
            return some if len(some) else kept

        return of_sizes


def undominated(options: JobOptions, objectives: Iterable[str], by_loop: Ints) -> Callable[[Ints, Ints], Ints]:
    r"""Of some rows those that no other of them replaces in every placement at no loss in any objective, ascending, and
    of a few of these, which are in `by_loop`, those that no other of the few replaces.

    Row k' replaces k if it has no less value and (where that is an objective) no more energy, no more ranks, memory
    units and memory I/Os of a rank, no more I/Os of a rank in all and no more of them on spine rails, and no more
    uplinks in each server; and both stay in one server, or neither need, the blocks of k' then dividing those of k.
    Rows over several racks replace those over as many, with no more links between them: what follows is of the part in
    each rack, and k' lies in the racks of k.

    Proof. Let k have x_s ranks in server s. Give k' at most x_s there, in whole blocks, until it has all: then every
    count of accelerators, units N x, ports m x and uplinks shrinks or stays, and so does (N - m) x, since N - m grows
    with N. Of rails: let k keep n local rails of s free of memory and have c_q circuits on rail q, c_q <= x_s, all c_q
    together m x_s. Because of I/Os in all, k' keeps at most n + m - m' rails free; let it take those of k and then
    those with the least c_q. What is left has at least m x_s - (m - m') x_s = m' x_s circuits, and min(x'_s, c_q) >=
    c_q x'_s / x_s, so that m' x'_s circuits find room within the c_q. Where phases differ, step 1 asks for the units,
    ports and rails of the phase with more memory, N, m and n; and of each server for rails enough in each phase, which
    is m, and the most I/Os in any phase less those on spine rails. A row in one server is not replaced by one that
    may leave it: that one may need spine rails which do not work there. Rows of step 1 therefore hold for k' wherever
    they hold for k; what step 2 refutes beyond them is no proof over the rows dropped here (`Search.is_exact`). A
    resident's current row always stays.
    """
    columns = [-options.value, *([options.energy] if "energy" in objectives else [])]
    costs = np.stack(columns)
    of_loop = by_loop[_best_of_equals(_demand_keys(options.candidates.take(by_loop)), costs[:, by_loop])]
    current = np.array([] if options.current is None else [options.current], np.int64)
    first = np.unique(np.concatenate([_best_of_equals(_demand_keys(options.candidates), costs), of_loop, current]))
    table = _table(options.candidates.take(first), costs[:, first])
    every, alike = _best_of_alike(table, np.arange(len(first))), _best_of_alike(table, np.searchsorted(first, of_loop))

    def kept_of(rows: Ints, few: Ints) -> Ints:
        some, always = (each[np.isin(first[each], of)] for each, of in ((every, rows), (alike, few)))
        kept = np.union1d(_kept(some, table), _kept(always, table))
        return np.union1d(first[kept], current)

    return kept_of


def _best_of_equals(keys: Sequence[Ints], costs: Floats) -> Ints:
    """Rows that none with the same keys equals in all costs, shape (costs, C); ascending."""
    demand = distinct_rows(keys)[1]
    order = np.lexsort((*costs[::-1], demand))
    is_first = np.diff(demand[order], prepend=-1) != 0
    if len(costs) == 1:
        return np.sort(order[is_first])
    place = np.unique(costs[1], return_inverse=True)[1][order]
    energy = place - len(order) * np.cumsum(is_first)  # all of one demand below those of the demand before
    is_less = np.diff(np.minimum.accumulate(energy), prepend=1) < 0
    return np.sort(order[is_less])


def _demand_keys(candidates: Candidates) -> list[Ints]:
    """Columns (C,), none below 0, that are equal for rows which ask for the same of every server."""
    return [candidates.num_devices.astype(np.int64), *_io_of(candidates), *_network_keys(candidates)]


def _io_of(candidates: Candidates) -> Ints:
    """Of a rank memory units and memory I/Os in the phase with more of them, I/Os in all in that phase, and the most of
    them in any phase, shape (4, C)."""
    phases = [candidates.in_first_phase(), candidates.in_last_phase()]
    units, memory_io = (
        np.array([getattr(split, name) or 0 for split in candidates.splits], np.int64)
        for name in ("memory_units", "memory_io")
    )
    io = np.stack([memory_io[each.split] + _ports(each) for each in phases])
    richer = np.where(units[phases[0].split] > units[phases[1].split], 0, 1)
    split = np.where(richer == 0, phases[0].split, phases[1].split)
    return np.stack([units[split], memory_io[split], io[richer, np.arange(len(split))], io.max(axis=0)])


def _ports(candidates: Candidates) -> Ints:
    """I/Os of a rank that serve the network, shape (C,)."""
    return np.asarray(ports_of_each(candidates.plans)[candidates.plan].sum(axis=0))


def _network_keys(candidates: Candidates) -> list[Ints]:
    """Columns (C,): block, racks, links between these, and for rows that may leave a server degrees and plans."""
    leaves = ~_stay_in_server(candidates)
    mappings, of, first = candidates.mappings, candidates.mapping, candidates.in_first_phase()
    columns = [column[of] for column in group_degrees(mappings)[:5]] + [*candidates.plan]
    columns += [*first.plan] if first is not candidates else []
    alone = [candidates.block.astype(np.int64), candidates.racks, candidates.links]
    return [*alone, *(np.where(leaves, column + 1, 0) for column in columns)]


def _stay_in_server(candidates: Candidates) -> Bools:
    """Whether a row is one block in each of its racks, shape (C,)."""
    return np.asarray(candidates.block.astype(np.int64) * candidates.racks == candidates.num_devices)


class _Table(NamedTuple):
    """What rows cost and ask for, all the better if smaller."""

    costs: Floats
    """shape (costs, rows)"""
    places: Places
    """of each column of costs and amounts the place of each row in its order, shape (costs + amounts, rows)"""
    kind: Ints
    """racks of a row, less than 0 where it is one block in each: rows of one kind are compared"""
    blocks: Ints


def _table(candidates: Candidates, costs: Floats) -> _Table:
    """Costs, and what is asked of servers."""
    blocks, ranks = candidates.block.astype(np.int64), candidates.num_devices.astype(np.int64)
    whole = _stay_in_server(candidates)
    asked = np.zeros((2, len(candidates)), np.int64)
    asked[:, ~whole] = asked_across(candidates.take(np.flatnonzero(~whole)))
    columns = [*costs, ranks, *_io_of(candidates), *asked, candidates.links]
    return _Table(costs, _places(columns), np.where(whole, -candidates.racks, candidates.racks), blocks)


def _places(columns: Sequence[Floats | Ints]) -> Places:
    """Of each column the place of each row in its order, equal ones in one place."""
    every = np.stack([np.unique(column, return_inverse=True)[1] for column in columns])
    return every.astype(np.uint16) if every.shape[1] < 1 << 16 else every.astype(np.int32)


def _best_of_alike(table: _Table, rows: Ints) -> Ints:
    """Of some rows, ascending, those that none which asks for the same equals in all costs."""
    amounts = table.places[len(table.costs) :, rows].astype(np.int64)
    keys = [*amounts, table.kind[rows] - table.kind.min(initial=0), table.blocks[rows]]
    return rows[_best_of_equals(keys, table.costs[:, rows])]


def _kept(rows: Ints, table: _Table) -> Ints:
    """Of some rows those that no other of them replaces; of rows that replace each other the first."""
    _, places, kind, blocks = table
    order = rows[np.lexsort(places[::-1, rows])]
    kept = [np.zeros(0, np.int64)]
    for each in np.unique(kind[order]).tolist():
        mine, rivals, alone = order[kind[order] == each], np.zeros(0, np.int64), each < 0
        columns, at = _that_differ(places[:, mine]), np.arange(len(mine))
        blocks_of = blocks[mine]
        for start in range(0, len(mine), CHUNK):
            few, last = at[start : start + CHUNK], len(rivals)
            while last and len(few):
                some = rivals[max(last - (FEW if last == len(rivals) else CHUNK), 0) : last]
                few = few[~_replaces(some, few, columns, blocks_of, alone=alone).any(axis=0)]
                last -= len(some)
            later = _replaces(few, few, columns, blocks_of, alone=alone) & EARLIER[: len(few), : len(few)]
            rivals = np.concatenate([rivals, few[~later.any(axis=0)]])
        kept.append(mine[rivals])
    return np.sort(np.concatenate(kept))


def _that_differ(places: Places) -> list[Places]:
    """Columns of places of rows that are in order, each once, without the first, in which no row is before one after
    it, and those in which all are alike."""
    return list(
        {column.tobytes(): column for column in places[1:] if len(column) and (column != column[0]).any()}.values()
    )


def _replaces(rivals: Ints, rows: Ints, places: Sequence[Places], blocks: Ints, *, alone: bool) -> Bools:
    """Whether each rival, none of which stands behind a row, asks for no more than each row, shape (rivals, rows)."""
    found = np.ones((len(rivals), len(rows)), np.bool_)
    for column in places:
        found &= column[rivals][:, None] <= column[rows]
    if not alone:
        found &= blocks[rows] % blocks[rivals][:, None] == 0
    return found
