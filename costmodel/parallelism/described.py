"""What a configuration of a file stands for on a fabric: its split of the I/O, and its plans."""

from collections.abc import Sequence

from costmodel.fabrics import FabricBase, GroupPlan, Split
from costmodel.fabrics.across_racks import links_of, plans_across, rack_counts
from costmodel.fabrics.pool_plans import paired
from costmodel.fabrics.turns import Turns
from costmodel.parallelism.configuration import Collective, Configuration
from costmodel.parallelism.degrees import Degrees
from costmodel.parallelism.mappings import DIMENSIONS, Dimension
from costmodel.workloads import Workload


def plans_of(fabric: FabricBase, degrees: Degrees, dimension: Dimension, block: int) -> Sequence[GroupPlan]:
    """Plans of the groups along a dimension, laid out in such blocks."""
    if degrees.prefill_tensor and fabric.pools_are_alike:
        return ()
    ranks, together = degrees.ranks(dimension), degrees.ranks_together(dimension, block)
    if dimension == "data" and degrees.prefill:
        decode = degrees.data - degrees.prefill
        return fabric.transfers(degrees.prefill, decode, one_server=together == ranks, each=degrees.ranks_of_caches)
    found = fabric.plans(dimension, ranks, one_server=together == ranks, per_server=together)
    if not degrees.prefill_tensor or dimension not in ("tensor", "expert"):
        return found
    prompts = degrees.of_prompts
    return paired(plans_of(fabric, prompts, dimension, min(block, prompts.num_devices)), found)


def setting_of(
    configuration: Configuration, workload: Workload, fabric: FabricBase, splits: Sequence[Split]
) -> tuple[int, list[GroupPlan]]:
    """Number of the split, and the plan along each of DIMENSIONS; ValueError where there is none such."""
    number = _split_of(configuration, splits)
    plans = [_plan_of(configuration, d, workload.sends(d), splits[number].fabric) for d in DIMENSIONS]
    if not splits[number].fabric.combines(plans):
        raise ValueError("its collectives cannot run together on this fabric")
    return number, plans


def division_of(split: Split) -> tuple[int | None, int | None, int | None, Turns]:
    """What a configuration says of a split, as `Configuration.division`."""
    return split.memory_units, split.memory_io, split.tier_units, split.fabric.turns


def _split_of(configuration: Configuration, splits: Sequence[Split]) -> int:
    for number, split in enumerate(splits):
        if division_of(split) == configuration.division:
            return number
    units, io, behind, turns = configuration.division
    if turns and not any(split.fabric.turns == turns for split in splits):
        raise ValueError(f"turns: circuits take no turns {' | '.join(turns)} on this fabric; leave them out")
    tier = "" if behind is None else f" with tier_units {behind}"
    raise ValueError(f"memory_units, memory_io: {units} and {io}{tier} are no split that this fabric has")


def _plan_of(configuration: Configuration, dimension: Dimension, is_sent: bool, fabric: FabricBase) -> GroupPlan:
    collective: Collective = getattr(configuration, f"{dimension}_collective")
    if collective.racks > 1:
        return _plan_across(configuration, dimension, is_sent, fabric)
    if is_sent:
        options = plans_of(fabric, configuration.all_degrees, dimension, configuration.block)
    else:
        options = fabric.plans(dimension, 1, one_server=True)
    ranks = configuration.all_degrees.ranks(dimension) if is_sent else 1
    listed = (plan for plan in options if Collective.of(plan) == collective)
    if plan := next(listed, None) or fabric.plan_kept(dimension, collective.described(ranks)):
        return plan
    names = ", ".join(plan.name for plan in options[:8])
    raise ValueError(f"{dimension}_collective is none that {ranks} ranks have on this fabric; some are: {names}")


def _plan_across(configuration: Configuration, dimension: Dimension, is_sent: bool, fabric: FabricBase) -> GroupPlan:
    """The plan of data groups that lie in several racks; ValueError where there is none such."""
    c, collective = configuration, configuration.data_collective
    replicas, racks = c.data // c.expert, collective.racks
    if dimension != "data" or c.prefill or racks not in rack_counts(fabric, replicas, c.num_devices):
        raise ValueError(f"{dimension}_collective.racks: no group of {replicas} replicas lies in {racks} racks here")
    part = c.model_copy(
        update={"data": c.data // racks, "data_collective": collective.model_copy(update={"racks": 1, "links": 0})}
    )
    inner = _plan_of(part, dimension, is_sent, fabric)
    found = plans_across(fabric, (inner,), racks, part.num_devices, is_sent=is_sent)
    if plan := next((each for each in found if links_of(each) == collective.links), None):
        return plan
    raise ValueError(f"data_collective.links: a job has no {collective.links} links between {racks} racks here")
