"""Jobs packed into servers by counts of accelerators and memory units: some servers at a time are filled anew.

Prices of what the pool shares say what each job should run as; what is left is to fill servers to the last accelerator
and unit, which is done exactly for one server after the other, where a job that goes on in the next ones may fill the
rest.
"""

import random
from collections.abc import Collection, Iterable, Mapping, Sequence

from planner.fabrics.sipam.bridges import best_bridge
from planner.fabrics.sipam.fill_server import Filling
from planner.fabrics.sipam.server_layout import Over, ServerLayout
from planner.fabrics.sipam.server_menus import REQUIRED, SLACK, Menu, ServerSpread
from planner.fabrics.sipam.spread_out import WayOver, shares_of, ways_over

FEW, LARGEST, MOST_WAITING = 30, 12, 6
"""jobs that one server chooses among, so many of them the largest; jobs without a place that join a move"""
LEAST_LOSS = 8
"""items of a job that one server chooses among: those that lose least"""
NUM_SERVERS = (2, 2, 2, 3)
"""that a move fills anew"""
OVER_SHARE = 0.25
"""of moves, those that lay a job over several servers"""
ZONE_SHARE, TOGETHER = 0.05, 8
"""of moves, those that fill servers of one zone anew, and so many of them"""
BRIDGES = 40
"""jobs of which one may go on in the next server"""
FORWARD = 0.1
"""of the price of what a job takes, or of its worth where that costs nothing, by which it is drawn forward at most"""
FLOOR = 0.1
"""of the price of a job, and of the mean waste of servers, by which those are drawn that lose nothing"""


class Packing:
    """A layout that gets better move by move."""

    def __init__(self, empty: ServerLayout, zones: Sequence[Sequence[int]], draw: random.Random) -> None:
        """`zones`: servers that one job may use together."""
        self._zones, self._draw = zones, draw
        self._menus: Sequence[Menu] = empty.menus
        self._zone = {server: number for number, zone in enumerate(zones) for server in zone}
        self._able = [j for j in sorted(empty.waiting) if self._menus[j].spreads and self._menus[j].worth > 0]
        ways = ways_over(empty)
        needed = [(j, way) for j, way in ways if self._is_worth_more(j, way.spread)]
        starts = [self._start(empty.copy(), needed)]
        if len(needed) < len(ways):
            starts.append(self._start(empty, ways))
        self.best = max(starts, key=lambda layout: (-self._num_unmet(layout), layout.value))

    def move(self) -> bool:
        """Fill some servers anew, keep what is worth no less; whether it is worth more."""
        layout = self.best.copy()
        is_zone, waiting = self._draw.random() < ZONE_SHARE, sorted(layout.waiting)
        if is_zone:
            servers = self._clear_zone(layout)
        elif self._able and self._draw.random() < OVER_SHARE:
            servers = self._lay_anew(layout, self._job_to_lay())
        else:
            servers = self._servers()
            for j in self._within(layout, servers):
                if self._draw.random() < 0.5:
                    layout.lift(j)
        if not servers:
            return False
        joining = waiting if is_zone else self._draw.sample(waiting, min(MOST_WAITING, len(waiting)))
        freed = {j for server in servers for j in layout.clear(server)}
        lifted = self.best.over.keys() - layout.over.keys()
        self._draw.shuffle(servers)
        self._fill(layout, servers, freed | lifted | set(joining), is_end=True)
        gain = layout.value - self.best.value
        if gain < -SLACK:
            return False
        self.best = layout
        return gain > SLACK

    def _clear_zone(self, layout: ServerLayout) -> list[int]:
        """Servers of a zone, rather one with much waste, without the jobs that lie over these alone."""
        wastes = [sum(layout.waste[server] for server in zone) for zone in self._zones]
        least = FLOOR * sum(wastes) / len(wastes) + SLACK
        zone = self._draw.choices(self._zones, [waste + least for waste in wastes])[0]
        servers = self._draw.sample(zone, min(TOGETHER, len(zone)))
        for j in self._within(layout, servers):
            layout.lift(j)
        return servers

    def _job_to_lay(self) -> int:
        """A job that may lie over several servers: rather one that is large, or loses much."""
        weights = [self.best.loss(j) + FLOOR * self._menus[j].price + SLACK for j in self._able]
        return self._draw.choices(self._able, weights)[0]

    def _servers(self) -> list[int]:
        """Some servers: one rather with much waste, and any others."""
        every = range(len(self.best.room))
        least = FLOOR * sum(self.best.waste) / len(every) + SLACK
        first = self._draw.choices(every, [waste + least for waste in self.best.waste])[0]
        others = self._draw.sample(every, min(self._draw.choice(NUM_SERVERS), len(every)))
        return [first, *(server for server in others[1:] if server != first)]

    def _within(self, layout: ServerLayout, servers: Collection[int]) -> list[int]:
        """Jobs that lie over some of these servers, and no other."""
        return [j for j, (_, over) in layout.over.items() if all(server in servers for server, _ in over)]

    def _is_worth_more(self, j: int, spread: ServerSpread) -> bool:
        """Whether a job is worth more over servers than on the accelerators of one."""
        return spread.value > max((item.value for item in self._menus[j].items), default=0.0)

    def _num_unmet(self, layout: ServerLayout) -> int:
        """Of jobs that must run, and have no place."""
        return sum(self._menus[j].is_required for j in layout.waiting)

    def _start(self, layout: ServerLayout, ways: Sequence[tuple[int, WayOver]]) -> ServerLayout:
        """Jobs over several servers, then all servers filled beside them."""
        for j, way in ways:
            self._begin_over(layout, j, way)
        self._fill(layout, range(len(layout.room)), layout.waiting, is_end=False)
        return layout

    def _begin_over(self, layout: ServerLayout, j: int, way: WayOver) -> None:
        """Lay a job over any servers of one zone that hold the largest of its shares."""
        for zone in self._draw.sample(self._zones, len(self._zones)):
            servers = self._draw.sample(zone, len(zone))
            able = [server for server in servers if layout.most(way.spread, server) >= max(way.shares)]
            if len(able) >= len(way.shares):
                layout.lay(j, way.spread, tuple(sorted(zip(able, way.shares, strict=False))))
                return

    def _lay_anew(self, layout: ServerLayout, j: int) -> list[int]:
        """Servers over which a job now lies in one of its ways, and those that it left; none where there is no room."""
        left = {layout.place[j]} if j in layout.place else set()
        left |= {server for server, _ in layout.lift(j)} if j in layout.over else set()
        spread, zone = self._draw.choice(self._menus[j].spreads), self._draw.choice(self._zones)
        over = self._over(layout, spread, self._draw.sample(zone, len(zone)))
        if not over:
            return []
        servers = left | {server for server, _ in over}
        for server in servers:
            layout.clear(server)
        layout.lay(j, spread, over)
        return sorted(servers)

    def _over(self, layout: ServerLayout, spread: ServerSpread, servers: Sequence[int]) -> Over:
        """Equal shares for the first of these servers with uplinks and room beside other jobs that lie over several; as
        many servers as are drawn, none where there is no room."""
        able = [server for server in servers if layout.most(spread, server)]
        fewest = next((n for n in range(2, len(able) + 1) if _holds(layout, spread, able[:n])), None)
        if fewest is None:
            return ()
        number = self._draw.randint(fewest, max(fewest, min(2 * fewest, len(able), spread.blocks)))
        if not _holds(layout, spread, able[:number]):
            number = fewest
        return tuple(sorted(zip(able, shares_of(spread, number), strict=False)))

    def _fill(self, layout: ServerLayout, servers: Sequence[int], jobs: Iterable[int], *, is_end: bool) -> None:
        """Fill servers, which are empty, one after the other with some of the jobs; `is_end`: no other server is there
        for those that are left."""
        waiting = [(j, self._menus[j]) for j in sorted(jobs) if j in layout.waiting]
        forward = {j: FORWARD * self._draw.random() * (menu.price or menu.worth) for j, menu in waiting}
        for place, server in enumerate(servers):
            is_last = is_end and place == len(servers) - 1
            some = self._some([j for j in forward if j in layout.waiting], forward)
            gains = [self._gains(j, 0.0 if is_last else forward[j], is_last=is_last) for j in some]
            filling = Filling.of([self._menus[j].items[:LEAST_LOSS] for j in some], gains, layout.room[server])
            if not is_last:
                self._bridge(layout, filling, some, forward, servers[place:])
            taken = filling.within(layout.room[server])
            layout.put(server, {some[number]: item for number, item in taken})

    def _bridge(
        self,
        layout: ServerLayout,
        filling: Filling,
        filled: Sequence[int],
        forward: Mapping[int, float],
        servers: Sequence[int],
    ) -> None:
        """Lay a job over the first of these servers and some of its zone that are filled next, where the first then is
        filled better."""
        near = [server for server in servers if self._zone[server] == self._zone[servers[0]]]
        able = [j for j in forward if j in layout.waiting and self._menus[j].spreads]
        if len(near) > 1 and able:
            drawn = {j: forward[j] for j in self._draw.sample(able, min(BRIDGES, len(able)))}
            if found := best_bridge(layout, filling, filled, drawn, near):
                bridge, over = found
                layout.lay(bridge.job, bridge.spread, over)

    def _some(self, jobs: list[int], forward: dict[int, float]) -> list[int]:
        """Few of many jobs: those that are drawn forward most, and others."""
        if len(jobs) <= FEW:
            return jobs
        first = sorted(jobs, key=lambda j: -forward[j])[:LARGEST]
        others = self._draw.sample(sorted(set(jobs) - set(first)), FEW - LARGEST)
        return [*first, *others]

    def _gains(self, j: int, forward: float, *, is_last: bool) -> list[float]:
        """Of each item of a job: its value, less what the job is worth elsewhere."""
        menu = self._menus[j]
        less = 0.0 if is_last else menu.worth - forward
        more = REQUIRED if menu.is_required else 0.0
        return [item.value - less + more for item in menu.items[:LEAST_LOSS]]


def _holds(layout: ServerLayout, spread: ServerSpread, servers: Sequence[int]) -> bool:
    """Whether servers hold equal shares, in this order."""
    shares = shares_of(spread, len(servers))
    return shares[-1] > 0 and all(layout.most(spread, s) >= share for s, share in zip(servers, shares, strict=True))
