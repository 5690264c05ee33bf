"""Steps of one device tick by tick, products and networks counted by hand: written apart from the model."""

from collections import deque
from dataclasses import dataclass, field
from math import ceil


def product_ns(m: int, n: int, k: int, count: int, a: int, b: int, c: int) -> float:
    """1024 elements of 125 multipliers at 1 GHz, 900 bytes a nanosecond, tiles of 2048 x 2048, 100 ns of latency."""
    arithmetic = ceil(count * m * n / 1024) * ceil(k / 125)
    traffic = a * ceil(n / 2048) + b * ceil(m / 2048) + c
    return max(arithmetic, traffic / 900) + 100


def collective_us(
    gigabytes_per_s: float, size: int, devices: int, hops: int, alpha_us: float, all_reduce: bool
) -> float:
    gather = (devices - 1) / devices * size / gigabytes_per_s * 1e-3 + (devices - 1) * alpha_us * hops / devices
    return (2 if all_reduce else 1) * gather


ALEXNET = [
    # output side, outputs, window, inputs a group
    (55, 96, 11, 3), (27, 256, 5, 48), (13, 384, 3, 256), (13, 384, 3, 192), (13, 256, 3, 192),
    (1, 4096, 6, 256), (1, 4096, 1, 4096), (1, 1000, 1, 4096),
]  # fmt: skip
VGG_E = [
    *[(224, 64, 3, c) for c in (3, 64)],
    *[(112, 128, 3, c) for c in (64, 128)],
    *[(56, 256, 3, c) for c in (128, 256, 256, 256)],
    *[(28, 512, 3, c) for c in (256, 512, 512, 512)],
    *[(14, 512, 3, c) for c in (512, 512, 512, 512)],
    (1, 4096, 7, 512), (1, 4096, 1, 4096), (1, 1000, 1, 4096),
]  # fmt: skip


def macs(layers: list[tuple[int, int, int, int]]) -> int:
    total = 0
    for side, outputs, window, inputs in layers:
        total += side * side * outputs * window * window * inputs
    return total


@dataclass
class Away:
    """A tensor's absence; times in ticks."""

    after: int
    before: int
    ticks: list[int]
    """on each link, there as well as back"""
    remade: int | None = None
    """time of making it again"""
    sources: list[int] = field(default_factory=list)
    """absences of what it is made from"""
    left: int = 0
    back: int = 0
    """parts that arrived there, and here"""
    needed: int = 0


@dataclass
class Job:
    """Something in the queue of a link or of the collectives."""

    ticks: int
    away: int | None = None
    is_return: bool = False
    end: int | None = None


class Ticks:
    """One step; every queue is served in order, one job at a time."""

    def __init__(
        self,
        operators: list[int],
        exchanges: list[tuple[int, bool]],
        aways: list[Away],
        links: int,
        lookahead: int,
        most_leaving: int | None,
        shared: list[int],
    ) -> None:
        self.operators, self.exchanges, self.aways = operators, exchanges, aways
        self.queues: list[deque[Job]] = [deque() for _ in range(links)]
        self.collectives: deque[Job] = deque()
        self.lookahead, self.most_leaving, self.shared = lookahead, most_leaving, shared
        self.now, self.next_operator, self.running_until = 0, 0, None if operators else 0
        self.leaving: list[int] = []
        self.awaited: list[Job] = []
        self.postponed: list[int] = []
        self.ended = -1
        for away in aways:
            away.needed = away.before
        for away in aways:
            for source in away.sources if away.remade is not None else []:
                aways[source].needed = min(aways[source].needed, away.before)
        moved = [a for a, away in enumerate(aways) if away.remade is None and sum(away.ticks)]
        self.users = sorted({aways[a].needed for a in moved})
        self.moved = sorted(moved, key=lambda a: (aways[a].needed, -aways[a].after, a))

    def run(self) -> int:
        self.ask(range(self.lookahead))
        while True:
            while self.settle():
                pass
            idle = not any(self.queues) and not self.collectives
            if self.next_operator == len(self.operators) and self.running_until is None and idle:
                return self.now
            self.now += 1
            assert self.now < 10_000, "nothing moves any more"

    def settle(self) -> bool:
        """Whatever can end or start now; whether anything did."""
        moved = False
        for queue in (*self.queues, self.collectives):
            if queue and queue[0].end is not None and queue[0].end <= self.now:
                job = queue.popleft()
                if job.away is not None and job.is_return:
                    self.aways[job.away].back += 1
                elif job.away is not None:
                    self.aways[job.away].left += 1
                moved = True
        if self.running_until is not None and self.running_until <= self.now:
            self.running_until = None
            self.end_operator(self.next_operator - 1)
            moved = True
        for queue in self.queues:
            if queue and queue[0].end is None and queue[0].away is not None and self.may_start(queue[0]):
                queue[0].end = self.now + queue[0].ticks
                moved = True
        if self.collectives and self.collectives[0].end is None:
            job = self.collectives[0]
            if all(self.queues[link][0] is job for link in self.shared):
                job.end = self.now + job.ticks
                moved = True
        if self.running_until is None and self.next_operator < len(self.operators) and self.may_run():
            self.start_operator()
            moved = True
        return moved

    def parts(self, a: int) -> int:
        return sum(1 for ticks in self.aways[a].ticks if ticks)

    def may_start(self, job: Job) -> bool:
        assert job.away is not None
        return not job.is_return or self.aways[job.away].left == self.parts(job.away)

    def may_run(self) -> bool:
        here = all(
            self.aways[a].back == self.parts(a) for a in self.moved if self.aways[a].needed == self.next_operator
        )
        done = all(job.end is not None and job.end <= self.now for job in self.awaited)
        held = self.leaving[: -self.most_leaving] if self.most_leaving else []
        return here and done and all(self.aways[a].left == self.parts(a) for a in held)

    def start_operator(self) -> None:
        number = self.next_operator
        self.next_operator += 1
        again = sum(away.remade for away in self.aways if away.remade is not None and away.before == number)
        self.running_until = self.now + again + self.operators[number]
        if number in self.users:
            self.ask([self.users.index(number) + self.lookahead])

    def ask(self, ranks: object) -> None:
        """For what the users of these ranks need; what has not left yet waits until it has."""
        wanted = [self.users[r] for r in ranks if r < len(self.users)]  # type: ignore[attr-defined]
        for a in self.moved:
            if self.aways[a].needed in wanted:
                if self.aways[a].after > self.ended:
                    self.postponed.append(a)
                else:
                    self.copy(a, is_return=True)

    def end_operator(self, number: int) -> None:
        self.ended = number
        ticks, is_awaited = self.exchanges[number]
        if ticks:
            job = Job(ticks)
            self.collectives.append(job)
            for link in self.shared:
                self.queues[link].append(job)
            if is_awaited:
                self.awaited.append(job)
        for a in sorted(a for a in self.moved if self.aways[a].after == number):
            self.leaving.append(a)
            self.copy(a, is_return=False)
        for a in [a for a in self.postponed if self.aways[a].after == number]:
            self.postponed.remove(a)
            self.copy(a, is_return=True)

    def copy(self, a: int, *, is_return: bool) -> None:
        for link, ticks in enumerate(self.aways[a].ticks):
            if ticks:
                self.queues[link].append(Job(ticks, a, is_return))
