"""Why a workload has no candidate on so many devices: the first of what listing asks for that nothing meets."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from costmodel.fabrics import FabricBase, GroupPlan, Split, racks_of
from costmodel.fabrics.across_racks import most_upper_links, rack_counts
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Bools, Dimension, Floats, Mappings, distinct_rows
from costmodel.pricing.collective_choices import PlanChoices
from costmodel.pricing.divided_mappings import group_degrees
from costmodel.pricing.laid_rows import DATA
from costmodel.pricing.layouts import ListedBlocks
from costmodel.pricing.limits import ANYWHERE, Limits
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.pinned import Pinned, lack_of_pinned, with_pinned
from costmodel.pricing.servers_by_rack import in_words, may_lie
from costmodel.pricing.too_slow import too_slow
from costmodel.serving.limits import ROUNDING
from costmodel.wording import counted
from costmodel.workloads import TransformerTraining, Workload

LackKind = Literal["limit", "division", "constraint", "groups", "memory", "waiting"]
KINDS: tuple[LackKind, ...] = ("limit", "division", "constraint", "groups", "memory", "waiting")
"""in the order in which listing asks: who lacks a later one is nearer to a candidate"""


FREE: Pinned = MappingProxyType({})
"""no degree is pinned"""


@dataclass(frozen=True)
class Lack:
    """What is missing, in words."""

    kind: LackKind
    text: str
    missing_bytes: float = 0.0
    """of memory, for each device"""
    where_it_fits: str = ""
    """what is missing where memory is not: the end of `text`"""
    excess: float = 0.0
    """time that users wait over its limit, of the candidate that misses it least"""


class _Divided(NamedTuple):
    """Mappings under one split of the I/O, columns of shape (M,)."""

    split: Split
    mappings: Mappings
    is_joined: Bools
    """whether some layout has plans along every dimension"""
    local_bytes: Floats
    tier_bytes: Floats
    """in a second tier"""
    missing_bytes: Floats
    """more than both have"""


def lack_of(
    workload: Workload, size: int, device: Device, fabric: FabricBase, limits: Limits = ANYWHERE, pinned: Pinned = FREE
) -> Lack | None:
    """What keeps every candidate on `size` devices with the pinned degrees from being listed; None where some are."""
    asked, limits = limits, limits.of_places
    if size > fabric.most_devices_of_a_job:
        where = "the cluster" if fabric.links_racks or fabric.upper_layer else "a rack"
        return Lack("limit", f"needs {_devices(size)}, {where} has {fabric.most_devices_of_a_job}")
    if fabric.upper_layer is not None and size > fabric.devices_per_rack and not any(rack_counts(fabric, size, size)):
        parts = f"{_devices(size)} make no equal parts of {fabric.racks} racks of {fabric.devices_per_rack} at most"
        return Lack("division", f"{parts}; try a number with more divisors")
    mappings = workload.mappings(size)
    if not len(mappings):
        factors = f"{size} is no product of degrees of parallelism that divide {workload.divided}"
        return Lack("division", f"{factors}; try a number with more divisors")
    chosen = with_pinned(mappings, pinned)
    if not len(chosen):
        return Lack("division", lack_of_pinned(mappings, size, pinned))
    mappings = chosen
    if fabric.pools_are_alike:
        mappings = mappings.take(mappings.prefill_tensor == 0)
        if not len(mappings):
            problem = f"on a fabric of kind {fabric.kind} both pools have the same degrees"
            return Lack("groups", f"{problem}; give prefill_tensor as decode_tensor, prefill_expert as expert")
    under = [_divided(workload, mappings, split, limits) for split in fabric.splits(device, workload)]
    if any((each.is_joined & (each.missing_bytes == 0)).any() for each in under):
        return _too_slow(workload, size, device, fabric, asked, pinned)
    if any(each.is_joined.any() for each in under):
        return _memory(workload, under)
    for name, fewer in limits.without_one().items():
        if any(_divided(workload, mappings, each.split, fewer).is_joined.any() for each in under):
            return Lack("constraint", _excluded(name, limits, size, fabric))
    return Lack("groups", _unjoined(workload, under, limits, size))


def _too_slow(
    workload: Workload, size: int, device: Device, fabric: FabricBase, limits: Limits, pinned: Pinned
) -> Lack | None:
    """By the candidates that would be listed if users waited as long as it takes."""
    if workload.limits is None:
        return None
    patient = workload.model_copy(update={"limits": None})
    candidates, scores = listed_and_priced(patient, [size], device, fabric, limits)
    rows = np.flatnonzero(candidates.mappings.where(dict(pinned))[candidates.mapping])
    candidates, scores = candidates.take(rows), scores.take(rows)
    excess = float(workload.limits.excess(scores.ttft_s, scores.tpot_s).min())
    if excess <= 1 + ROUNDING:
        return None
    return Lack("waiting", too_slow(candidates, scores, workload.limits), excess=excess)


def _divided(workload: Workload, mappings: Mappings, split: Split, limits: Limits) -> _Divided:
    if split.second_tiers:
        mappings = mappings.take(mappings.offload > 0)
    local_bytes, tier_bytes = workload.footprint(mappings)
    lacks = local_bytes - split.device.capacity_bytes, tier_bytes - split.device.tier_capacity_bytes
    missing = np.maximum(lacks[0], 0.0) + np.maximum(lacks[1], 0.0)
    joined = _joined(workload, mappings, split.fabric, limits)
    return _Divided(split, mappings, joined, local_bytes, tier_bytes, missing)


def _joined(workload: Workload, mappings: Mappings, fabric: FabricBase, limits: Limits) -> Bools:
    degrees = group_degrees(mappings)
    first, of = distinct_rows([*degrees, mappings.num_devices])
    blocks = ListedBlocks(limits.one_server, limits.per_server)
    choices = PlanChoices(workload, fabric, blocks, limits.collective, one_rack=limits.one_server)
    found = []
    for m in first:
        size = int(mappings.num_devices[m])
        rows, _ = choices.table([(tuple(degrees[:, m].tolist()), size)])
        numbered = tuple(choices.plans)
        some = ((row[0], [numbered[number] for number in row[2:]]) for row in rows.T.tolist())
        found.append(any(_lies_as_asked(limits, fabric, size, *row) for row in some))
    return np.array(found, np.bool_)[of]


def _lies_as_asked(limits: Limits, fabric: FabricBase, size: int, block: int, plans: Sequence[GroupPlan]) -> bool:
    """Whether each server gives so many devices, and each rack so many servers."""
    each, by_rack = limits.per_server, limits.servers_by_rack
    if each is None:
        return True
    is_even = fabric.share(block, plans) == each
    return is_even and (by_rack is None or may_lie(by_rack, size // each, racks_of(plans[DATA]), fabric))


def _memory(workload: Workload, under: Sequence[_Divided]) -> Lack:
    """By the division that lacks the least, of those that have plans; and what others lack that fit."""
    least = min((each for each in under if each.is_joined.any()), key=lambda each: _least(each)[1])
    row, missing = _least(least)
    m, tier = least.mappings, least.split.device.offload
    degrees = (f"{name} {getattr(m, name)[row]}" for name in ("tensor", "pipeline", "data", "context"))
    held = f"{least.local_bytes[row] / 1e9:.1f} GB"
    if tier is not None and least.tier_bytes[row]:
        held += f" and {least.tier_bytes[row] / 1e9:.1f} GB in {tier.name}"
    divided = " x ".join(each for each in degrees if not each.endswith(" 1"))
    at_best = f", at best ({divided})" if divided else ""
    text = f"each accelerator would hold {held}, {missing / 1e9:.1f} GB more than it has{at_best}"
    text += _equal_stages(workload, int(m.num_devices[0]))
    fitting = [each for each in under if (each.missing_bytes == 0).any()]
    where_it_fits = f"; where it fits, {_missing_groups(workload, fitting[0])}" if fitting else ""
    return Lack("memory", text + where_it_fits, missing, where_it_fits)


def _equal_stages(workload: Workload, size: int) -> str:
    """Where equal stages keep pipelines shorter than the layers would allow."""
    if not isinstance(workload, TransformerTraining) or workload.uneven_stages:
        return ""
    stages = int(workload.mappings(size).pipeline.max())
    uneven = workload.model_copy(update={"uneven_stages": True}).mappings(size)
    if int(uneven.pipeline.max(initial=1)) == stages:
        return ""
    layers = f"its {workload.shape.layers} layers"
    return f"; {layers} divide into {stages} equal stages at most" if stages > 1 else f"; {layers} make no equal stages"


def _least(under: _Divided) -> tuple[int, float]:
    """Row and bytes that are missing of the division that lacks the least memory, of those with plans."""
    row = int(np.argmin(np.where(under.is_joined, under.missing_bytes, np.inf)))
    return row, float(under.missing_bytes[row])


def _excluded(name: str, limits: Limits, size: int, fabric: FabricBase) -> str:
    """What a limit of the user excludes."""
    each, server = limits.per_server, fabric.devices_per_server
    if name == "one_server":
        return f"must lie in one server, which has {_devices(server)}{'' if size > server else ' that do not join so'}"
    if name == "collective":
        return f"no {limits.collective} all-reduce joins {_devices(size)} here"
    assert each is not None
    if name == "servers_by_rack":
        assert limits.servers_by_rack is not None
        racks = f"{counted(fabric.racks, 'rack')} of {counted(fabric.servers, 'server')}"
        equal = (
            "" if fabric.links_racks or fabric.racks == 1 else ", of which a job takes one, or equal parts of several"
        )
        asked = f"{counted(size // each, 'server')} with {each} each do not lie as {in_words(limits.servers_by_rack)}"
        return f"{asked}, on {racks}{equal}"
    if size % each or each > server:
        return f"{_devices(size)} do not come from servers that give {each} each, of {server}"
    return f"the job does not divide into blocks of {_devices(each)}, one on each server"


def _unjoined(workload: Workload, under: Sequence[_Divided], limits: Limits, size: int) -> str:
    some = next((each for each in under if len(each.mappings)), None)
    if some is None:
        return "the units of a second tier are of use to a workload that offloads alone: let it list offload"
    fabric, most = some.split.fabric, max(under, key=lambda each: len(each.mappings))
    if fabric.sizes and not (_are_apart(fabric, size) and [] in _layouts(workload, most)):
        return f"no slice has {_devices(size)} as the job divides; sizes of slices are {fabric.sizes}"
    if len(limits.without_one()) > 1:
        return f"{' and '.join(limits.without_one())} together leave no layout on {_devices(size)}"
    return _missing_groups(workload, most)


def _missing_groups(workload: Workload, under: _Divided) -> str:
    """Groups that the fabric joins by no collective, of the division that has the fewest of them; of those that fit in
    memory, where some do."""
    fabric, mappings = under.split.fabric, _fitting(under)
    layouts, size = _layouts(workload, under), int(mappings.num_devices[0])
    if not layouts:
        return _unlaid(fabric, mappings)
    fewest = min(layouts, key=len)
    if not fewest and _are_apart(fabric, size):
        assert fabric.upper_layer is not None
        rack, link = _devices(fabric.devices_per_rack), fabric.upper_layer.link_name
        return f"needs several racks of {rack}, and no {link} joins these"
    if not fewest:
        return "the collectives of its groups do not run together on the ports of an accelerator"
    pooled = " (with these, prompts and tokens have more replicas to meet than peers)" * bool(mappings.prefill.any())
    groups = " and ".join(f"{dimension} groups of {ranks}" for dimension, ranks in fewest)
    return f"the fabric has no collective for {groups}{pooled}"


def _fitting(under: _Divided) -> Mappings:
    """Those that fit in memory, where some do; else all."""
    fits = under.missing_bytes == 0
    return under.mappings.take(fits) if fits.any() else under.mappings


def _layouts(workload: Workload, under: _Divided) -> list[list[tuple[Dimension, int]]]:
    """Dimensions without a plan, and the ranks of their groups, of each layout of such mappings."""
    mappings, choices = _fitting(under), PlanChoices(workload, under.split.fabric, ListedBlocks(False, None), None)
    degrees = group_degrees(mappings)
    first, _ = distinct_rows([*degrees, mappings.num_devices])
    keys = [(tuple(degrees[:, m].tolist()), int(mappings.num_devices[m])) for m in first]
    return [missing for key in keys for missing in choices.missing(key)]


def _are_apart(fabric: FabricBase, size: int) -> bool:
    """Whether a job of so many devices spans racks that no link joins."""
    return fabric.upper_layer is not None and size > fabric.devices_per_rack and not most_upper_links(fabric)


def _unlaid(fabric: FabricBase, mappings: Mappings) -> str:
    """Why ranks lie nowhere, whatever plans join them."""
    least, server, rack = int(mappings.tensor.min()), fabric.devices_per_server, fabric.devices_per_rack
    if least > server:
        return f"tensor groups of {least} or more would leave their server of {_devices(server)}"
    if int(mappings.num_devices[0]) > rack:
        return f"its replicas make no equal parts in several racks of {_devices(rack)}"
    return f"needs several servers of {_devices(server)}, and nothing joins these"


def _devices(number: int) -> str:
    return counted(number, "accelerator")
