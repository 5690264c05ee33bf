"""Shortages that a count of the instance shows: devices, memory, divisibility, and limits of the job itself."""

from collections.abc import Sequence

import numpy as np

from costmodel.fabrics import FabricBase
from costmodel.pricing.servers_by_rack import in_words
from costmodel.wording import counted
from planner.candidates import unlisted
from planner.candidates.expand import list_options
from planner.fabrics.asked_racks import shared, with_room
from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import JobOptions
from planner.model.edit import edited, with_job
from planner.model.instance import Instance
from planner.model.job import Job, JobConstraints
from planner.model.phrases import accelerators, listed


def usable(free: FreeState, size: int) -> Sequence[int]:
    """Free devices by server for a job of some size: only a single device needs no port."""
    return free.any if size == 1 else free.lit


def why_unlisted(instance: Instance, name: str, size: int) -> str | None:
    """Why a job has no way to run on so many devices at all; None if it has one."""
    cluster = instance.cluster
    if cluster.num_healthy < size <= cluster.fabric.most_devices_of_a_job:
        return f"needs {accelerators(size)}, {cluster.num_healthy} work"
    return unlisted.why_unlisted(cluster, edited(instance.job(name), accelerators=size))


def has_ways(instance: Instance, name: str, size: int, constraints: JobConstraints) -> bool:
    """True if a job would have a configuration on so many devices under other constraints."""
    changed = with_job(instance, name, accelerators=size, constraints=constraints)
    return bool(len(list_options(changed, changed.job(name))))


def why_too_few(instance: Instance, size: int) -> str | None:
    """Free devices that a job of some size lacks beside the residents, in words; None where there are enough."""
    state = FreeState.beside_residents(instance)
    here = usable(state, size)
    free = [sum(here[server] for server in rack) for rack in state.together]
    most = max(free) if instance.cluster.fabric.upper_layer is None else most_in_equal_parts(free, size)
    if most >= size:
        return None
    where = "" if len(free) == 1 else " in any one rack"
    where = where if instance.cluster.fabric.upper_layer is None else " in one rack, or in equal parts in several"
    dark = sum(state.any) - sum(state.lit) if size > 1 else 0
    ports = f", and {dark} more without a working port" if dark else ""
    return f"needs {size}, {most} {'is' if most == 1 else 'are'} free{where}{ports}"


def most_in_equal_parts(free: Sequence[int], size: int) -> int:
    """The most of `size` that racks with so many free devices give, as many each, of any number of them."""
    ordered = sorted(free, reverse=True)
    parts = [min(ordered[racks - 1] * racks, size) for racks in range(1, len(free) + 1) if size % racks == 0]
    return max(parts)


def why_no_block(instance: Instance, name: str, size: int) -> str | None:
    """Blocks for which the free devices are too scattered over servers, in words; None where they are not."""
    state, fabric = FreeState.beside_residents(instance), instance.cluster.fabric
    here = usable(state, size)
    options = list_options(instance, with_job(instance, name, accelerators=size).job(name))
    blocks = {shape.part if shape.is_even else shape.block for shape in options.shapes}
    most = 1 if options.shapes[0].is_even else size
    if options.shapes[0].servers_by_rack is not None and fabric.links_racks:
        return _why_not_in_racks(options.shapes[0], here, fabric)
    if any(_num_blocks(here, rack, block, most) * block >= size for rack in state.together for block in blocks):
        return None
    if any(shape.racks > 1 for shape in options.shapes):
        return None
    block = min(blocks)
    possible = max(_num_blocks(here, rack, block, most) for rack in state.together)
    fullest = max(range(fabric.num_servers), key=here.__getitem__)
    best = f"most is {here[fullest]} on {fabric.server_name(fullest)}"
    if block == size:
        return f"no server has {size} free; {best}"
    asked = "on a server of its own" if most == 1 else "in one server"
    return (
        f"needs {size // block} times {accelerators(block)} free {asked}; "
        f"there {'is' if possible == 1 else 'are'} {possible}, {best}"
    )


def _why_not_in_racks(demand: Demand, free: Sequence[int], fabric: FabricBase) -> str | None:
    """Numbers of servers that racks lack, in words; None where they have them."""
    assert demand.servers_by_rack is not None
    fits = [count >= demand.part for count in free]
    racks = [len(servers) for servers in with_room(fits, range(len(fits)), fabric)]
    if shared(demand, racks) is not None:
        return None
    have = f"racks have {listed([*map(str, sorted(racks, reverse=True))])} such servers"
    asked = f"{counted(demand.num_parts, 'server')} with {accelerators(demand.part)} free"
    return f"needs {asked}, {in_words(demand.servers_by_rack)}; {have}"


def _num_blocks(free: Sequence[int], rack: Sequence[int], block: int, most: int) -> int:
    """Blocks for which a rack has free devices, so many of them at most in one server."""
    return sum(min(free[server] // block, most) for server in rack)


def told_sizes(instance: Instance, job: Job, most: int = 4) -> tuple[int, ...]:
    """Sizes to speak of: all of a few, else the ends and some between, of those that can be listed if any."""
    options: JobOptions = list_options(instance, job)
    listed_sizes = sorted({int(n) for n in options.candidates.num_devices}) or list(job.sizes)
    known = listed_sizes if len(job.sizes) > most else list(job.sizes)
    if len(known) <= most:
        return tuple(known)
    picks = np.linspace(0, len(known) - 1, most).round().astype(int)
    return tuple(known[i] for i in sorted(set(picks.tolist())))


def sizes_phrase(sizes: Sequence[int]) -> str:
    """2, 4 or 8 accelerators"""
    return listed([str(size) for size in sizes[:-1]] + [accelerators(sizes[-1])], "or")
