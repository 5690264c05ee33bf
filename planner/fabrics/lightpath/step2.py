"""Step 2 on fibers: routing and wavelength assignment (RWA) of the jobs of a pattern.

Jobs that share no light are independent: each group is tried by first fit, then exactly.
"""

from collections.abc import Sequence
from math import gcd, inf

import networkx as nx

from costmodel.fabrics import Lightpath
from planner.fabrics.free_slots import FreeSlots
from planner.fabrics.free_state import FreeState
from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.step2_ranks import Layouts, Ranks
from planner.fabrics.lightpath.step2_rwa import ExactRwa
from planner.fabrics.pattern import Pattern, route_pattern
from planner.fabrics.problem import Problem
from planner.fabrics.renamed import renamed
from planner.formulation.nogood import MostLit
from planner.formulation.step_two import Answer, Realized, StepTwo, StepTwoLimits, answer
from planner.model.clock import Clock
from planner.model.cluster import Cluster
from planner.model.plan import Assignment

RANKS_SHARE = 0.25
"""share of the limits for placing blocks before fibers and wavelengths are searched"""
ALONE_SHARE = 0.2
"""share of the limits for one job beside others"""
MOST_ORDERS = 4
"""orders in which jobs are placed one beside the other"""
MOST_USES = 60_000
"""of fibers and wavelengths by circuits, up to which the exact model is built"""
MOST_PATHS = 6_000
"""pairs of slots of all circuits, where slots matter, up to which the exact model is built: each pair has a clause for
every boundary and wavelength, and more would take longer to write down than to search"""


class LightpathStepTwo(StepTwo):
    """First blocks to servers, then ranks, routes and wavelengths, group by group."""

    def realize(
        self, problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None
    ) -> Realized:
        staying = {j: problem.options[j].staying() for j, choice in pattern.items() if choice.stays}
        assignments: list[Assignment] = []
        for group in _groups(problem, pattern):
            part = {j: pattern[j] for j in (*staying, *group)}
            found = route_pattern(problem, part, most_lit)
            if found is not None:
                assignments += [a for a in found if a not in staying.values()]
                continue
            outcome = _search(problem, pattern, group, [*staying.values()], limits, most_lit)
            if outcome.found is None:
                return Realized(nogood=(*group, *staying) if outcome.is_impossible else ())
            assignments += outcome.found
        return Realized(tuple(_reslotted(problem, [*staying.values()], assignments)))

    def is_beyond_search(self, problem: Problem, pattern: Pattern) -> bool:
        """Only where slots matter."""
        return problem.cluster.fabric.slots_matter and any(
            _num_paths(problem, pattern, group) > MOST_PATHS for group in _groups(problem, pattern)
        )


def _groups(problem: Problem, pattern: Pattern) -> list[list[int]]:
    """Newly placed jobs, grouped where they could meet: on fibers, or on servers whose slots are not alike.

    Circuits that may cross third servers could meet all others of their rack.
    """
    cluster, fabric = problem.cluster, problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    uneven = _uneven(cluster)
    graph: nx.Graph[object] = nx.Graph()
    for j, choice in pattern.items():
        if choice.stays:
            continue
        graph.add_node(j)
        servers = [server for server, _ in choice.blocks]
        graph.add_edges_from((j, ("server", server)) for server in servers if fabric.slots_matter or server in uneven)
        if len(servers) > 1 and fabric.most_hops > 1:
            first = fabric.rack_of(servers[0]) * fabric.servers
            graph.add_edges_from((j, ("server", server)) for server in range(first, first + fabric.servers))
        else:
            graph.add_edges_from((j, ("pair", a, b)) for a in servers for b in servers if a < b)
    return [sorted(n for n in component if isinstance(n, int)) for component in nx.connected_components(graph)]


def _uneven(cluster: Cluster) -> set[int]:
    """Servers some of whose devices cannot use all wavelengths: all jobs there are placed together."""
    return {server for server, _ in (*cluster.failed_lasers, *cluster.failed_receivers)}


def _search(
    problem: Problem,
    pattern: Pattern,
    group: Sequence[int],
    staying: Sequence[Assignment],
    limits: StepTwoLimits,
    most_lit: MostLit | None,
) -> Answer[list[Assignment]]:
    """Assignments of some jobs beside residents that stay."""
    if problem.cluster.fabric.slots_matter and _num_paths(problem, pattern, group) > MOST_PATHS:
        return Answer()
    spanning = [j for j in group if len(pattern[j].blocks) > 1]
    ranks = Ranks(problem, pattern, spanning, staying)
    blocks = answer(limits.solver(share=RANKS_SHARE), ranks.cp, ranks.layouts)
    if blocks.is_impossible:
        return Answer(is_impossible=True)
    if blocks.found is not None:
        part = {j: choice for j, choice in pattern.items() if choice.stays or j in group}
        found = route_pattern(problem, part, most_lit, blocks.found)
        if found is not None:
            return Answer([a for a in found if a not in staying])
    if _num_paths(problem, pattern, group) > MOST_PATHS:
        return Answer()
    one_by_one = _one_by_one(problem, pattern, group, staying, limits, most_lit, blocks.found or {})
    if one_by_one is not None:
        return Answer(one_by_one)
    if _num_uses(problem, pattern, group) > MOST_USES:
        return Answer()
    rwa = ExactRwa(problem, pattern, group, staying, most_lit)
    return answer(limits.solver(), rwa.cp, rwa.assignments)


def _num_uses(problem: Problem, pattern: Pattern, group: Sequence[int], *, is_laid: bool = False) -> int:
    """Fibers x wavelengths that the circuits of jobs could take; `is_laid` where the server of each block is known."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    pairs = [(a, b) for a in range(fabric.num_servers) for b in range(fabric.num_servers)]
    fibers = max(fabric.num_fibers(a, b) for a, b in pairs)
    total = 0
    for j in group:
        shape, servers = problem.options[j].shapes[pattern[j].row], len(pattern[j].blocks)
        ways = 1 if is_laid else servers * (servers - 1)
        total += ways * sum(len(circuits) for _, circuits in shape.configurations)
    return total * fibers * fabric.wavelengths_per_fiber


def _grain(problem: Problem, pattern: Pattern, group: Sequence[int]) -> int:
    """Greatest common measure of the light of jobs whose circuits need wavelengths, and of what fibers and tiles carry;
    1 where light has failed."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    if problem.cluster.has_failed_light:
        return 1
    lit = [j for j in group if fabric.slots_matter or len(pattern[j].blocks) > 1]
    shapes = [problem.options[j].shapes[pattern[j].row] for j in lit]
    widths = {width for shape in shapes for _, circuits in shape.configurations for *_, width in circuits}
    return gcd(fabric.wavelengths_per_fiber, fabric.wavelengths_per_tile, *widths)


def _one_by_one(
    problem: Problem,
    pattern: Pattern,
    group: Sequence[int],
    staying: Sequence[Assignment],
    limits: StepTwoLimits,
    most_lit: MostLit | None,
    layouts: Layouts,
) -> list[Assignment] | None:
    """Each job by first fit, else exactly, beside those before it; first those with the most circuits, then those that
    found no light."""
    grain = _grain(problem, pattern, group)
    shapes = {j: problem.options[j].shapes[pattern[j].row] for j in group}
    order = sorted(group, key=lambda j: -sum(len(circuits) for _, circuits in shapes[j].configurations))
    clock = Clock.of(limits.time_limit_s) if limits.deterministic_limit is None else Clock(inf)
    for _ in range(MOST_ORDERS):
        free, placed = FreeState.empty(problem.cluster, most_lit), list[Assignment]()
        for assignment in staying:
            free.take_named(assignment)
        for j in order:
            found = free.assign(problem.options[j], pattern[j].row, pattern[j].blocks)
            if found is None:
                if clock.is_over or _num_uses(problem, pattern, [j], is_laid=j in layouts) > MOST_USES:
                    return None
                rwa = ExactRwa(problem, pattern, [j], [*staying, *placed], most_lit, grain, layouts)
                found = next(iter(answer(limits.solver(share=ALONE_SHARE), rwa.cp, rwa.assignments).found or ()), None)
                if found is None:
                    break
                free.take_named(found)
            placed.append(found)
        else:
            return placed
        if order[0] == j:
            return None
        order.remove(j)
        order.insert(0, j)
    return None


def _num_paths(problem: Problem, pattern: Pattern, group: Sequence[int]) -> int:
    """Ways between slots, or servers where slots do not matter, that the circuits of some jobs could take.

    0 where neither slots matter nor servers are crossed.
    """
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    ways = Routes(problem.cluster)
    if not fabric.slots_matter and not ways.may_cross:
        return 0
    slots = FreeSlots(problem.cluster)
    total = 0
    for j in group:
        shape, servers = problem.options[j].shapes[pattern[j].row], [server for server, _ in pattern[j].blocks]
        places = len(servers)
        if fabric.slots_matter:
            places = sum(len(slots.free(server, single=shape.is_single)) for server in servers)
        crossed = [ways.most_routes(a, b) for a in servers for b in servers if a != b] if ways.may_cross else []
        total += max(crossed, default=1) * places**2 * sum(len(circuits) for _, circuits in shape.configurations)
    return total


def _reslotted(problem: Problem, staying: Sequence[Assignment], assignments: Sequence[Assignment]) -> list[Assignment]:
    """Groups were placed apart: deal out the slots of each server once more, where they are alike."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    if fabric.slots_matter:
        return [*staying, *assignments]
    slots = FreeSlots(problem.cluster)
    for assignment in staying:
        slots.take(map(fabric.parse_device, assignment.devices))
    result = list(staying)
    for assignment in assignments:
        names: dict[str, str] = {}
        for name in assignment.devices:
            server, slot = fabric.parse_device(name)
            if server not in _uneven(problem.cluster):
                slot = slots.free(server, single=assignment.configuration.num_devices == 1)[0]
            slots.take([(server, slot)])
            names[name] = fabric.device_name(server, slot)
        result.append(renamed(assignment, names))
    return result
