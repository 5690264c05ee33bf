"""Servers that fibers join are filled together as one: all ranks of a job that needs fibers lie on some of them.

Sums of such jobs and of other parts then bound what a set of servers holds: if all are even, of 21 devices one stays
empty, however they are divided.
"""

from collections.abc import Mapping

from ortools.sat.python import cp_model

from planner.cpsat.divisions.filled_servers import FilledServers, parts_of
from planner.cpsat.divisions.joined_servers import JoinedServers, Needs, OnServers
from planner.cpsat.divisions.ways import Way
from planner.formulation.variables import total


def fill_joined_sets(
    cp: cp_model.CpModel,
    servers: JoinedServers,
    rooms: Mapping[int, int],
    literals: Mapping[Way, cp_model.IntVar],
    needs: Mapping[Way, Needs],
    lying: Mapping[OnServers, cp_model.IntVar],
) -> None:
    """State it of ways, some of which need fibers; parts of those that may lie apart are like parts that need none."""
    sets = servers.joined_sets
    of_set = {number: sum(rooms[server] for server in on) for number, on in enumerate(sets)}
    whole = {way for way, needed in needs.items() if not needed.may_part}
    ways: dict[tuple[int, int], list[cp_model.IntVar]] = {}
    for way in whole:
        ways.setdefault((way.job, sum(way.division)), []).append(literals[way])
    parts = {(*key, number): cp.new_bool_var("") for key in sorted(ways) for number in of_set}
    for key, those in ways.items():
        cp.add(sum(parts[*key, number] for number in of_set) == sum(those))
    for job in sorted({job for job, _ in ways}):
        for number, on in enumerate(sets):
            here = [part for (of, _, at), part in parts.items() if (of, at) == (job, number)]
            there = [literal for at, literal in lying.items() if at.job == job and {*at.servers} <= {*on}]
            cp.add(sum(here) <= total(there))
    wanted = parts_of({way: literal for way, literal in literals.items() if way not in whole})
    FilledServers(cp, of_set, parts, wanted, is_tight=True)
