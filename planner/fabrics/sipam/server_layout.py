"""Which jobs lie in which servers, by counts: alone in one server, or block by block over several."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from planner.fabrics.sipam.server_menus import Menu, ServerSpread

Over = tuple[tuple[int, int], ...]
"""(server, blocks), ascending"""


@dataclass
class ServerLayout:
    """A layout of all servers, which moves change; `copy` keeps one to go back to."""

    menus: Sequence[Menu]
    room: list[tuple[int, int]]
    """accelerators and memory units of each server beside jobs that lie over several"""
    uplinks: list[int]
    """that are free of each server, on every one of its rails"""
    inside: list[Mapping[int, int]]
    """by server: item of each job that lies there alone"""
    place: dict[int, int]
    """server of each job that lies in one"""
    over: dict[int, tuple[ServerSpread, Over]]
    """of each job that lies over several"""
    waste: list[float]
    """of each server: what its jobs lose against their best rows, and the price of what nobody takes"""
    prices: tuple[float, float]
    """of an accelerator, and of a memory unit"""
    waiting: set[int]
    value: float = 0.0

    @classmethod
    def empty(
        cls,
        menus: Sequence[Menu],
        room: Iterable[tuple[int, int]],
        uplinks: Iterable[int],
        prices: tuple[float, float],
    ) -> Self:
        """All jobs wait; `room` and `uplinks`: what is free."""
        free = list(room)
        waiting = {j for j, menu in enumerate(menus) if menu.items or menu.spreads}
        return cls(menus, free, list(uplinks), [{} for _ in free], {}, {}, [0.0] * len(free), prices, waiting)

    def copy(self) -> Self:
        """The same, to change apart."""
        return replace(
            self,
            room=[*self.room],
            uplinks=[*self.uplinks],
            inside=[*self.inside],
            place={**self.place},
            over={**self.over},
            waste=[*self.waste],
            waiting={*self.waiting},
        )

    def put(self, server: int, jobs: Mapping[int, int]) -> None:
        """Items of waiting jobs into a server in which no job lies alone."""
        self.inside[server] = jobs
        ranks, units = self.room[server]
        lost = 0.0
        for j, number in jobs.items():
            item = self.menus[j].items[number]
            self.place[j] = server
            self.value += item.value
            ranks, units, lost = ranks - item.ranks, units - item.units, lost + item.loss
        self.waste[server] = lost + ranks * self.prices[0] + units * self.prices[1]
        self.waiting.difference_update(jobs)

    def clear(self, server: int) -> Iterable[int]:
        """Jobs that lay there alone, which then wait."""
        jobs, self.inside[server] = self.inside[server], {}
        for j, item in jobs.items():
            del self.place[j]
            self.value -= self.menus[j].items[item].value
        self.waiting.update(jobs)
        return jobs

    def loss(self, j: int) -> float:
        """What a job loses against its best row."""
        if j in self.over:
            return self.over[j][0].loss
        return self.menus[j].items[self.inside[self.place[j]][j]].loss if j in self.place else self.menus[j].worth

    def lay(self, j: int, spread: ServerSpread, over: Over) -> None:
        """A waiting job over servers with room."""
        self.over[j] = spread, over
        self.value += spread.value
        self.waiting.discard(j)
        self._change(spread, over, -1)

    def lift(self, j: int) -> Over:
        """Where a job lay over several servers; it then waits."""
        spread, over = self.over.pop(j)
        self.value -= spread.value
        self.waiting.add(j)
        self._change(spread, over, 1)
        return over

    def _change(self, spread: ServerSpread, over: Over, sign: int) -> None:
        for server, blocks in over:
            ranks, units = self.room[server]
            self.room[server] = ranks + sign * blocks * spread.ranks, units + sign * blocks * spread.units
            self.uplinks[server] += sign * spread.uplinks

    def most(self, spread: ServerSpread, server: int) -> int:
        """Blocks for which a server has uplinks, and room beside jobs that lie over several."""
        ranks, units = self.room[server]
        if self.uplinks[server] < spread.uplinks:
            return 0
        return min(ranks // spread.ranks, units // spread.units if spread.units else ranks)
