"""What users, parts and the process of a controller may do, as rules of a machine."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import (
    precondition,
    rule,
)

from planner.controller import Controller, Decision
from planner.model.edit import edited
from planner.model.errors import InputError
from tests.planner.controller.replaying import RULES, Replaying
from tests.planner.controller.sites import request

STEPS, RUNS = 100, {"lightpath": 8, "fat_tree": 8, "ocs_rail": 3, "torus": 3}
"""steps of one controller, and controllers for each seed of the random numbers"""
PARTS = {
    "lightpath": ["s1", "s0.t1", "s3.t7", "s1.t2:port", "s2.t0:port", "s0>s1#0", "s2>s3#0", "s1.t4:w2", "s0.t0:rx:w1"],
    "fat_tree": ["s1", "s0.g1", "s3.g7", "s1.g2:port", "s2.g0:port"],
    "ocs_rail": ["s1", "s0.g1", "s1.g2:port", "q3#1", "q0#0"],
    "torus": ["s1", "s0.c1", "s1.c2:port", "x0"],
}
DRAINED = ["s0", "s1", "s2"]
KEEPERS = st.sampled_from(["", "nodes"])
CROWDS = st.lists(st.sampled_from([1, 2, 2]), min_size=2, max_size=4)
GROUPED = st.lists(st.sampled_from([1, 2, 4]), min_size=1, max_size=3)


class Machine(Replaying):
    """What users, parts and the process itself may do."""

    @rule(
        size=st.sampled_from([1, 1, 2, 2, 4, 4, 8, 8, 8, 16, [4, 8]]), priority=st.sampled_from([0, 0, 0, 1, 5]),
        tenant=st.sampled_from("aaabc"), limit_s=st.sampled_from([None, 20, 100, 400]), is_fixed=st.integers(0, 3),
        gap_s=st.sampled_from([0, 1, 10, 50]), one_server=st.booleans(),
    )  # fmt: skip
    def submit(
        self,
        size: Any,
        priority: int,
        tenant: str,
        limit_s: float | None,
        is_fixed: int,
        gap_s: float,
        one_server: bool,
    ) -> None:
        assume(size != 16 or tenant == "a")
        name, now_s = f"j{self.number}", self.tick(gap_s)
        self.number += 1
        job = request(
            name, size, priority=priority, tenant=tenant, duration_s=limit_s, movable=is_fixed != 1,
            preemptible=is_fixed != 2, constraints={"one_server": one_server and size == 8},
        )  # fmt: skip
        self.wanted.add(name)
        decisions = self.do(lambda c, key: c.submit(job, key=key, at_s=now_s))
        told = {decision.job for decision in decisions}
        assert name in told, "a user is told that the job starts, or why it waits"

    @rule(
        asked=st.lists(
            st.tuples(st.sampled_from([1, 2, 4, 8, [4, 8]]), st.sampled_from("abc"), st.sampled_from([0, 0, 1])),
            min_size=2, max_size=6,
        ),
        one_server=st.booleans(), share=st.sampled_from([0, 2, 3]),
    )  # fmt: skip
    def submit_batch(self, asked: list[tuple[Any, str, int]], one_server: bool, share: int) -> None:
        """Jobs arrive together, sometimes after nobody waits any more and one job in `share` has ended."""
        for name in (*self.controller.waiting, *list(self.controller.running)[::share]) if share else ():
            self.leave(name, 1)
        names, now_s = [f"j{self.number + i}" for i in range(len(asked))], self.tick(1)
        self.number += len(asked)
        jobs = [
            request(n, size, tenant=t, priority=p, duration_s=100, constraints={"one_server": one_server and size == 8})
            for n, (size, t, p) in zip(names, asked, strict=True)
        ]
        self.wanted.update(names)
        told = {d.job for d in self.do(lambda c, key: c.submit_all(jobs, key=key, at_s=now_s))}
        assert told >= set(names)

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), is_whole=st.booleans())
    def group(self, data: st.DataObject, is_whole: bool) -> None:
        """Several events with one write to disk; where the block ends in an error none of them has happened."""
        c, before, state, now_s = self.controller, self.controller.seq, self.controller.state(), self.tick(1)
        jobs = [request(f"j{self.number + i}", size) for i, size in enumerate(data.draw(GROUPED))]
        told: list[tuple[Decision, ...]] = []
        gone = data.draw(st.sampled_from(sorted(self.wanted)))

        def act() -> None:
            with c.group():
                told.extend(c.submit(job, at_s=now_s) for job in jobs)
                with pytest.raises(InputError):
                    c.finish("nobody")
                told.append(c.cancel(gone, at_s=now_s))
                told.append(c.submit(jobs[0], at_s=now_s, key=f"g{self.number}"))
                if not is_whole:
                    raise KeyError

        if not is_whole:
            with pytest.raises(KeyError):
                act()
            assert (c.seq, c.state()) == (before, state)
            return
        act()
        self.number += len(jobs)
        self.wanted.update(job.name for job in jobs)
        self.wanted.discard(gone)
        self.follow(before, told)

    @precondition(lambda self: self.wanted)
    @rule(data=st.data(), gap_s=st.sampled_from([1, 10, 50]))
    def end(self, data: st.DataObject, gap_s: float) -> None:
        """A job ends if it runs, or is cancelled if it waits."""
        self.leave(data.draw(st.sampled_from(sorted(self.wanted))), gap_s)

    def leave(self, name: str, gap_s: float) -> None:
        now_s = self.tick(gap_s)
        self.wanted.discard(name)
        if name in self.controller.running:
            self.do(lambda c, key: c.finish(name, key=key, at_s=now_s))
        else:
            self.do(lambda c, key: c.cancel(name, key=key, at_s=now_s))

    @rule(data=st.data())
    def break_or_mend(self, data: st.DataObject) -> None:
        """One part in all is down for most of the time, so that jobs find places."""
        now_s, down = self.tick(1), self.controller.down
        if down and data.draw(st.integers(0, 2)):
            part = data.draw(st.sampled_from(down))
            if part in self.naive.drained and data.draw(st.booleans()):
                keeper = self.naive.keepers["drained"].get(part, "") and data.draw(KEEPERS)
                self.do(lambda c, key: c.undrain(part, keeper=keeper, key=key, at_s=now_s))
            else:
                keeper = self.naive.keepers["failed"].get(part, "") and data.draw(KEEPERS)
                self.do(lambda c, key: c.repair(part, keeper=keeper, key=key, at_s=now_s))
        elif data.draw(st.booleans()):
            part, keeper = data.draw(st.sampled_from(PARTS[self.fabric])), data.draw(KEEPERS)
            self.do(lambda c, key: c.fail(part, keeper=keeper, key=key, at_s=now_s))
        else:
            server, keeper = data.draw(st.sampled_from(DRAINED)), data.draw(KEEPERS)
            self.do(lambda c, key: c.drain(server, keeper=keeper, key=key, at_s=now_s))

    @precondition(lambda self: hasattr(self, "controller") and self.controller.running)
    @rule(data=st.data(), size=st.sampled_from([2, 4, 8, 16, [3, 6], [2, 12]]), waits=st.booleans())
    def resize(self, data: st.DataObject, size: Any, waits: bool) -> None:
        """A running job asks for more, or waits for them, or asks for fewer of its own; what cannot be changes
        nothing."""
        c, now_s = self.controller, self.tick(1)
        name = data.draw(st.sampled_from(sorted(c.running)))
        held = c.running[name].device_names
        wanted = edited(c.job(name).request, accelerators=size)
        before, state = c.seq, c.state()

        def resized(c: Controller, key: str) -> tuple[Decision, ...]:
            if isinstance(size, list) or size > len(held):
                return c.grow(wanted, waits=waits, key=key, at_s=now_s)
            return c.shrink(wanted, held[:size], key=key, at_s=now_s)

        try:
            self.do(resized)
        except InputError:
            assert (c.seq, c.state()) == (before, state)

    @precondition(lambda self: hasattr(self, "controller") and self.growing())
    @rule(data=st.data())
    def want_no_more(self, data: st.DataObject) -> None:
        """A job that waits to grow asks for what it has: it waits no more."""
        c, now_s = self.controller, self.tick(1)
        name = data.draw(st.sampled_from(self.growing()))
        self.do(lambda c, key: c.grow(c.job(name).request, key=key, at_s=now_s))
        assert c.job(name).growth is None

    def growing(self) -> list[str]:
        return [job.request.name for job in self.controller.view().running if job.growth is not None]

    @rule(data=st.data(), priority=st.integers(0, 1))
    def want_a_whole_server(self, data: st.DataObject, priority: int) -> None:
        """Small jobs fill the cluster, some end, then a job wants all of a server: others move for it, or stop."""
        c = self.controller
        for name in c.waiting:
            self.leave(name, 1)
        small = [self.come(2, duration_s=100) for _ in range(c.num_free // 2)]
        if len(small) > 4:
            for name in data.draw(st.lists(st.sampled_from(small), min_size=4, max_size=8, unique=True)):
                self.leave(name, 1)
        self.come(8, priority=priority, duration_s=100, constraints={"one_server": True})

    @precondition(lambda self: self.fabric in ("lightpath", "fat_tree") and len(self.wanted) < 8)
    @rule(data=st.data(), beside=st.sampled_from([(4, 1, 6), (4, 2, 6), (4, 6), (6, 1, 4)]))
    def serve_a_crowd(self, data: st.DataObject, beside: tuple[int, ...]) -> None:
        """One job ends, and several start at once that stood at its tenant's quota; then others move for the next."""
        for name in sorted(self.wanted):
            self.leave(name, 1)
        self.come(8, movable=False)
        for size in beside:
            self.come(size, movable=False, tenant="b" if size == 4 else "a", preemptible=False)
        holder = self.come(8, tenant="b", constraints={"one_server": True})
        for size in data.draw(CROWDS):
            self.come(size, tenant="b")
        self.come(8, constraints={"one_server": True})
        self.leave(holder, 1)

    def come(self, size: int, **fields: Any) -> str:
        """A job arrives: its name."""
        job, now_s = request(f"j{self.number}", size, **fields), self.tick(1)
        self.number += 1
        self.wanted.add(job.name)
        self.do(lambda c, key: c.submit(job, key=key, at_s=now_s))
        return job.name

    @rule()
    def replan(self) -> None:
        now_s = self.tick(1)
        self.do(lambda c, key: c.replan(0.1, key=key, at_s=now_s))

    @precondition(lambda self: self.calls)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        """An event that comes again under its key, while that is kept, is answered as before and not applied."""
        key, call, decisions = data.draw(st.sampled_from(self.calls[-5:]))
        assume(self.controller.seq - self.numbers[key] < RULES["keep_events"])
        c, before, state = self.controller, self.controller.seq, self.controller.state()
        assert [d.body() for d in call(c, key)] == [d.body() for d in decisions]
        with pytest.raises(InputError, match="given to another event"):
            c.submit(request("another"), key=key)
        assert (c.seq, c.state()) == (before, state)

    @rule(which=st.integers(0, 10))
    def ask_wrongly(self, which: int) -> None:
        """What cannot be is refused, and nothing changes."""
        c, name = self.controller, next(iter(sorted(self.wanted)), None)
        wrong: list[Callable[[], object]] = [
            lambda: c.cancel("nobody"),
            lambda: c.finish("nobody"),
            lambda: c.fail("s9.t99"),
            lambda: c.repair("s1.t1"),
            lambda: c.drain("s77"),
            lambda: c.undrain("s3"),
            lambda: c.repair(self.naive.failed[0] if self.naive.failed else "s1.t1", keeper="somebody"),
            lambda: c.undrain(self.naive.drained[0] if self.naive.drained else "s3", keeper="somebody"),
            lambda: c.submit(request("large", 4096)),
            lambda: c.submit(request("greedy", 16, tenant="b")),
            lambda: c.submit(request(name or "x", 1, tenant="other")) if name else c.cancel("nobody"),
        ]
        before, state = c.seq, c.state()
        with pytest.raises(InputError):
            wrong[which]()
        assert (c.seq, c.state()) == (before, state)

    @precondition(lambda self: self.naive.events % 3 == 1)
    @rule(how=st.sampled_from(["crash", "close"]))
    def restart(self, how: str) -> None:
        """The process dies, or is closed; what it knew is in the journal."""
        state, circuits = self.controller.state(), self.controller.circuits()
        self.count()
        if how == "close":
            self.controller.close()
        else:
            self.controller._durable.journal.close()
        self.controller = Controller(journal=self.path)
        assert self.controller.state() == state
        assert self.controller.circuits() == circuits
