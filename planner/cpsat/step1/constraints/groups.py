"""The table of constraint groups of every fabric, each with its twin rule."""

from planner.checks.admission import check_admission
from planner.checks.placement import check_placement
from planner.checks.rack import check_rack
from planner.checks.servers_by_rack import check_servers_by_rack
from planner.cpsat.step1.constraints.admission import admission
from planner.cpsat.step1.constraints.placement import placement
from planner.cpsat.step1.constraints.rack import rack
from planner.cpsat.step1.constraints.servers_by_rack import servers_by_rack
from planner.fabrics.plugin import FabricPlugin
from planner.formulation.group import Group

ON_EVERY_FABRIC: tuple[Group, ...] = (
    Group(
        "admission",
        "A job runs in one configuration at most; required jobs and residents run.",
        admission,
        check_admission,
    ),
    Group(
        "placement",
        "Each rank has a healthy accelerator of its own, with a working port where the job has several.",
        placement,
        check_placement,
    ),
    Group(
        "rack",
        "A job lies in one rack, or in equal parts in several that are joined, unless the fabric links racks.",
        rack,
        check_rack,
    ),
    Group(
        "servers_by_rack",
        "A job that asks for numbers of servers takes so many of its racks.",
        servers_by_rack,
        check_servers_by_rack,
    ),
)


def are_known_to_free_states(plugin: FabricPlugin) -> bool:
    """Whether all that step 1 states is obeyed by what free states give, too."""
    return not any(group.is_of_step_one_alone for group in groups_of(plugin).values())


def groups_of(plugin: FabricPlugin) -> dict[str, Group]:
    """Groups of one kind of fabric by name, those of every fabric first."""
    return {group.name: group for group in (*ON_EVERY_FABRIC, *plugin.step_one.groups)}
