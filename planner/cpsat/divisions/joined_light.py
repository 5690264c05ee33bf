"""Light of one job over the fibers between its servers, there and back together, in all its configurations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from planner.cpsat.divisions.joined_servers import BOTH_WAYS, JoinedServers, Needs, OnServers, Places
from planner.cpsat.divisions.ways import JobWays, Way
from planner.formulation.step_one import PairLight
from planner.formulation.variables import Pair, total

Literals = Mapping[OnServers, cp_model.IntVar]
Light = tuple[Pair, cp_model.LinearExprT]


@dataclass(frozen=True)
class JoinedLight:
    """What is known of the light of a job that is divided over servers."""

    cp: cp_model.CpModel
    servers: JoinedServers
    lying: Literals
    parts: Mapping[tuple[int, int], cp_model.IntVar]
    """by ranks and server: so many ranks are there"""
    least: Mapping[int, int]
    """light of so many ranks that leaves their server, in any way"""
    across: Mapping[OnServers, Sequence[int]]
    """least light over every cut of the servers"""
    exchanged: Mapping[int, int]
    """most light of so many ranks and all others, there and back, in any way"""

    def light_up(self) -> Iterator[Light]:
        """Over two servers the fibers between them are lit, over more some of them are, as each server needs."""
        of_two = {on: literal for on, literal in self.lying.items() if len(on.servers) == 2 and on.needs.light}
        for on, literal in of_two.items():
            yield (on.servers[0], on.servers[1]), BOTH_WAYS * on.needs.light * literal
        several = {on: literal for on, literal in self.lying.items() if len(on.servers) > 2}
        lit = self._lit(several)
        yield from lit.items()
        for server in sorted({server for on in several for server in on.servers}):
            here = sum(light for pair, light in lit.items() if server in pair)
            needed = [BOTH_WAYS * on.needs.light * literal for on, literal in several.items() if server in on.servers]
            parts = [(ranks, part) for (ranks, on), part in self.parts.items() if on == server]
            also = [BOTH_WAYS * on.needs.light * literal for on, literal in of_two.items() if server in on.servers]
            self.cp.add(here >= sum(needed))
            self.cp.add(here <= sum(self.exchanged[ranks] * part for ranks, part in parts))
            self.cp.add(here + total(also) >= sum(BOTH_WAYS * self.least[ranks] * part for ranks, part in parts))
        self._cross(several, lit)
        self._part(several)

    def _lit(self, several: Literals) -> dict[Pair, cp_model.IntVar]:
        """Light of each pair of servers, none where the job does not lie on both."""
        inside: dict[Pair, list[cp_model.IntVar]] = {}
        for on, literal in several.items():
            for pair in self.servers.pairs(on.servers):
                inside.setdefault(pair, []).append(literal)
        most = {pair: BOTH_WAYS * self.servers.links.carried[pair] for pair in inside}
        lit = {pair: self.cp.new_int_var(0, amount, "") for pair, amount in most.items()}
        for pair, literals in inside.items():
            self.cp.add(lit[pair] <= most[pair] * sum(literals))
        return lit

    def _cross(self, several: Literals, lit: Mapping[Pair, cp_model.IntVar]) -> None:
        """Some servers of the job exchange light with its others over the pairs that join both.

        These are all fibers between them, and light of the job crosses no other server: they carry at least the least
        light that leaves any ranks that may lie there, and as much that enters them.
        """
        needed: dict[tuple[Pair, ...], list[cp_model.LinearExprT]] = {}
        for on, literal in several.items():
            for (_, pairs), least in zip(self.servers.cuts(on.servers), self.across[on], strict=True):
                needed.setdefault(pairs, []).append(BOTH_WAYS * least * literal)
        for pairs, terms in needed.items():
            self.cp.add(sum(lit[pair] for pair in pairs) >= sum(terms))

    def _part(self, several: Literals) -> None:
        """A server that alone joins sets of others has ranks enough to exchange light with each of them.

        All light between such a set and the others is that of this server; what its ranks send and receive in all
        configurations is no less than what leaves and enters every set.
        """
        needed: dict[int, dict[int, list[cp_model.IntVar]]] = {}
        for on, literal in several.items():
            for server, number in self.servers.apart(on.servers).items() if on.needs.across else ():
                needed.setdefault(server, {}).setdefault(on.needs.ranks[number - 2], []).append(literal)
        for server, literals in needed.items():
            for least in literals:
                few = [part for (ranks, on), part in self.parts.items() if on == server and ranks < least]
                many = [literal for ranks, those in literals.items() if ranks >= least for literal in those]
                self.cp.add_at_most_one([*few, *many])


def light_across(
    servers: JoinedServers, job: JobWays, ways: Mapping[Way, tuple[Needs, Places]]
) -> dict[OnServers, list[int]]:
    """Least light of any way of a job over every cut of its servers."""
    least: dict[OnServers, list[int]] = {}
    for way, (needs, places) in ways.items():
        light = servers.parting(way.division, job.options.shapes[way.row]).light
        for on, place in places.items():
            here = [min(light[ranks] for ranks in numbers) for numbers in place.beside]
            key = OnServers(job.job, needs, on)
            least[key] = [*map(min, least.get(key, here), here)]
    return least


def light_of(links: PairLight, job: JobWays, sizes: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """Least light that leaves so many ranks of a job, and most that they exchange, in any row that needs fibers."""
    least, most = dict[int, int](), dict.fromkeys(sizes, 0)
    for shape in {job.options.shapes[row] for rows in job.rows.values() for row in rows}:
        leaving, exchanged = links.leaving(shape), links.exchanged(shape)
        for ranks in sizes if shape.is_even or any(leaving.values()) else ():
            count = ranks // shape.part
            if ranks % shape.part == 0 and count in leaving:
                least[ranks] = min(least.get(ranks, leaving[count]), leaving[count])
                most[ranks] = max(most[ranks], exchanged[count])
    return least, most
