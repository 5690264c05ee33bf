"""More of servers joined by fibers: a server, fibers where light is short, tiles, peers, a faster switch."""

from collections.abc import Iterator
from functools import partial

from costmodel.fabrics import Lightpath
from costmodel.fabrics.lightpath import MAX_TILES
from costmodel.wording import counted
from planner.fabrics.joined_racks import more_links
from planner.fabrics.lightpath.more_fibers import (
    Pair,
    fibers_of_new_server,
    server_pairs,
    with_fibers,
    with_fibers_everywhere,
    with_joined_server,
)
from planner.fabrics.upgrades import Upgrade, Upgrades
from planner.model.edit import edited, with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan

MAX_PAIRS = 4
"""most ordered pairs of servers that are asked about, the fullest first"""
FULL = 0.75
"""share of its wavelengths in use from which a pair of servers counts as full"""
SWITCH_S = (1e-6, 0.0)
"""reconfiguration times of faster switches"""


class LightpathUpgrades(Upgrades):
    """What is offered depends on the plan: fibers are asked about where the plan uses most wavelengths."""

    bandwidth = "wavelength_bandwidth_bytes_per_s"
    bandwidth_name = "the bandwidth of a wavelength"

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        offers = list(self._of(instance, plan))
        yield from offers or [self.of_bandwidth(instance)]

    def _of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Lightpath)
        if fabric.servers > 1 or isinstance(fabric.fibers, int):
            yield self.of_server(instance)
        yield from _fibers(instance, fabric, plan)
        yield from _tiles(instance, fabric)
        yield from _peers(instance, fabric)
        yield from _switches(instance, fabric)
        yield from _modules(instance, fabric)
        yield from more_links.upgrades(instance)

    def with_server(self, instance: Instance) -> Instance:
        return with_joined_server(instance)

    def joined_by(self, instance: Instance) -> str:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Lightpath)
        count = fibers_of_new_server(fabric)
        fibers = counted(count, "fiber") if count else "no fibers"
        return f" with {fibers} to and from each other" if fabric.servers > 1 else ""


def _modules(instance: Instance, fabric: Lightpath) -> Iterator[Upgrade]:
    """One more in the pool of each server, or behind each tile, where its light leaves circuits a wavelength."""
    memory = fabric.memory
    if memory is not None and (memory.shared or memory.units < fabric.most_modules):
        more, where = edited(memory, units=memory.units + 1), "in the pool of each server"
        where = where if memory.shared else "behind each tile"
        yield Upgrade.of(f"one more memory module {where}", lambda: with_fabric(instance, memory=more))


def _fibers(instance: Instance, fabric: Lightpath, plan: Plan | None) -> Iterator[Upgrade]:
    if fabric.servers > 1:
        yield Upgrade.of("one more fiber between all servers", lambda: with_fibers_everywhere(instance, 1))
    for a, b in _full_pairs(instance, fabric, plan) if plan is not None else ():
        change = f"one more fiber {fabric.server_name(a)} -> {fabric.server_name(b)}"
        yield Upgrade.of(change, partial(with_fibers, instance, {(a, b): 1}))


def _full_pairs(instance: Instance, fabric: Lightpath, plan: Plan) -> list[Pair]:
    """Ordered pairs of servers with few free wavelengths in a plan, the fullest first."""
    used: dict[Pair, set[tuple[str, int]]] = {}
    for assignment in plan.assignments:
        for circuit in (c for held in assignment.circuits for c in held.circuits):
            for fiber in circuit.fibers:
                taken = {(fiber, w) for w in circuit.wavelengths}
                used.setdefault(fabric.parse_fiber(fiber)[:2], set()).update(taken)
    per_fiber = min(fabric.wavelengths_per_fiber, fabric.wavelengths_per_tile)
    load = {}
    for pair in server_pairs(fabric):
        capacity = per_fiber * len(instance.cluster.healthy_fibers(*pair))
        load[pair] = len(used.get(pair, ())) / capacity if capacity else 0.0
    full = [pair for pair in load if load[pair] >= FULL]
    return sorted(full, key=lambda pair: (-load[pair], pair))[:MAX_PAIRS]


def _tiles(instance: Instance, fabric: Lightpath) -> Iterator[Upgrade]:
    """A further tile in each row; not where residents hold circuits whose way through the tiles would change."""
    tiles = fabric.tiles_per_server + fabric.tile_rows
    if tiles <= MAX_TILES and not (fabric.slots_matter and instance.residents):
        count = "one more tile" if fabric.tile_rows == 1 else f"{fabric.tile_rows} more tiles"
        yield Upgrade.of(
            f"{count} per server",
            lambda: with_fabric(instance, tiles_per_server=tiles),
            is_addition=not fabric.slots_matter,
        )


def _peers(instance: Instance, fabric: Lightpath) -> Iterator[Upgrade]:
    for peers in sorted({fabric.max_peers + 1, 2 * fabric.max_peers}):
        if peers <= fabric.wavelengths_per_tile:
            change = f"max_peers {fabric.max_peers} -> {peers}"
            yield Upgrade.of(change, partial(with_fabric, instance, max_peers=peers), is_addition=False)


def _switches(instance: Instance, fabric: Lightpath) -> Iterator[Upgrade]:
    now_s = fabric.reconfiguration_s
    for faster_s in SWITCH_S:
        if faster_s < now_s:
            change = f"reconfiguration {now_s * 1e6:g} us -> {faster_s * 1e6:g} us"
            changed = partial(with_fabric, instance, reconfiguration_s=faster_s)
            yield Upgrade.of(change, changed, is_addition=False)
