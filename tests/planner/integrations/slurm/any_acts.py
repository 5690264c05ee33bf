"""A Slurm, its users and the daemon as one object: each method is something that may happen."""

import contextlib
import json
from collections import Counter
from pathlib import Path

import pytest

from planner.controller import Controller, Settings
from planner.integrations.slurm.allocations import AllocationStore, Order
from planner.integrations.slurm.commands import SlurmDownError
from planner.integrations.slurm.loop import Loop
from planner.integrations.switch_drivers.file_driver import FileDriver
from planner.integrations.switch_drivers.parts import taken
from tests.planner.controller.sites import quick_folder
from tests.planner.integrations.slurm.fake import GPUS, HOLDING, CrashError
from tests.planner.integrations.slurm.fragile import NODES, RULES, FragileDriver, FragileTellings, site
from tests.planner.integrations.slurm.watched import WatchedSlurm

SHAPES = ((1, 1), (2, 1), (4, 1), (1, 2), (2, 2), (4, 2), (2, 3), (4, 4), (1, 4))


class Cluster:
    """One site, its daemon, and the rest of the world."""

    def __init__(self) -> None:
        self.folder = quick_folder()
        root = Path(self.folder.name)
        self.state, self.bindings = root / "state", root / "bindings"
        for path in (self.state, self.bindings, self.state / "driver"):
            path.mkdir(mode=0o700)
        (self.state / "hooks.json").write_text(json.dumps({"kind": "file"}))
        self.site = site(self.state, self.bindings)
        self.slurm = WatchedSlurm(NODES, self.state, self.bindings)
        self.driver = FileDriver(self.state / "driver")
        self.now_s, self.number, self.said = 1e6, 0, Counter[str]()
        self.changed: set[int] = set()
        """arrays whose limit was changed"""
        self.start_daemon()

    def start_daemon(self) -> None:
        store = FragileTellings(self.state, self.bindings)
        store.slurm = self.slurm
        self.controller = Controller(self.site.cluster, self.state / "journal.db", Settings.model_validate(RULES))
        self.loop = Loop(
            self.site, self.controller, self.slurm, FragileDriver(self.driver, self.slurm), store, self.log,
            1, lambda: self.now_s,
        )  # type: ignore[arg-type] # fmt: skip
        store.sweep()

    def log(self, what: str, **details: object) -> None:
        self.said[what] += 1

    def kill_daemon(self) -> None:
        """Memory is lost, files stay."""
        self.controller._durable.journal.close()
        self.slurm.dies_in = None
        self.start_daemon()

    def new_number(self) -> int:
        self.number = max((self.number, *self.slurm.jobs_by_number)) + 1
        return self.number

    def some(self, pick: int, *states: str) -> int | None:
        jobs = [number for number, job in self.slurm.jobs_by_number.items() if job.state in states]
        return jobs[pick % len(jobs)] if jobs else None

    # The daemon

    def tick(self, pick: int = 0) -> None:
        self.now_s += 1
        before = self.controller.seq
        self.loop.tick()
        self.slurm.require_true_ends(self.controller, before)

    def moment(self, pick: int) -> None:
        """A tick, after which Slurm starts what it may."""
        self.tick()
        for number in list(self.slurm.jobs_by_number):
            self.slurm.start(number)
        for number, job in self.slurm.jobs_by_number.items():
            if job.state == "CONFIGURING":
                self.slurm.go_on(number)

    def death(self, pick: int) -> None:
        """In the middle of a tick, or after it."""
        self.now_s += 1
        self.slurm.dies_in, before = pick % 60, self.controller.seq
        with contextlib.suppress(CrashError):
            self.loop.tick()
        self.kill_daemon()
        self.slurm.require_true_ends(self.controller, before)

    def away(self, pick: int) -> None:
        """slurmctld does not answer."""
        self.slurm.is_reachable = False
        with pytest.raises(SlurmDownError):
            self.loop.tick()
        self.slurm.is_reachable = True

    # Users

    def submit(self, pick: int) -> None:
        for each in range(1 + pick % 3):
            gpus, nodes = SHAPES[(pick // 3 + 5 * each) % len(SHAPES)]
            after = self.some(pick, "PENDING", "RUNNING") if pick % 7 == 0 else None
            self.slurm.submit(self.new_number(), gpus, (nodes, nodes), can_requeue=pick % 4 > 0, after=after)

    def submit_array(self, pick: int) -> None:
        """Of one task, or of more than fit on all nodes; some with a limit."""
        gpus, nodes = SHAPES[pick % 5]
        tasks = tuple(range(pick % 3, pick % 3 + 1 + pick // 5 % 6))
        self.slurm.submit_array(self.new_number(), gpus, nodes, tasks, pick // 7 % 4)

    def change_limit(self, pick: int) -> None:
        """Of all tasks of an array, as its user may."""
        jobs = self.slurm.jobs_by_number.values()
        arrays = sorted({job.array for job in jobs if job.array})
        for job in jobs:
            if arrays and job.array == arrays[pick % len(arrays)]:
                job.most_tasks = pick // 7 % 4
                self.changed.add(job.array)

    def nonsense(self, pick: int) -> None:
        self.slurm.submit(self.new_number(), 1, (1, 1), comment="workload=$(rm) -rf")

    def cancel(self, pick: int) -> None:
        if (job := self.some(pick, "PENDING", "CONFIGURING", "RUNNING")) is not None:
            self.slurm.cancel(job)

    def requeue(self, pick: int) -> None:
        """By the user, or held by an administrator."""
        job = self.some(pick, "RUNNING")
        if job is not None and self.slurm.jobs_by_number[job].can_requeue:
            self.slurm.requeue(job, is_held=pick % 2 == 0)

    # Administrators

    def hold_or_release(self, pick: int) -> None:
        if (number := self.some(pick, "PENDING")) is not None:
            job, is_release = self.slurm.jobs_by_number[number], pick % 2 == 0
            job.is_held, job.reason = not is_release, "None" if is_release else "JobHeldAdmin"
            job.is_freed |= is_release

    def drain(self, pick: int) -> None:
        if self.has_room():
            self.slurm.drained[f"n{pick % NODES}"] = "by hand"

    def node_fails(self, pick: int) -> None:
        if self.has_room():
            self.slurm.fail_node(f"n{pick % NODES}")

    def resume(self, pick: int) -> None:
        self.slurm.drained.pop(f"n{pick % NODES}", None)
        self.slurm.down.discard(f"n{pick % NODES}")

    def stranger(self, pick: int) -> None:
        if self.has_room():
            self.slurm.stranger(self.new_number(), f"n{pick % NODES}", 1 + pick % GPUS)

    def has_room(self) -> bool:
        """At most one node is out."""
        slurm = self.slurm
        taken = {node for job in slurm.jobs_by_number.values() if job.is_foreign for node in job.nodes}
        return len({*slurm.down, *slurm.drained, *taken}) < 2

    # Light

    def fault(self, pick: int) -> None:
        a, b = pick % NODES, pick // NODES % NODES
        self.set_faults([f"s{a}>s{b}#0"] if a != b else [])

    def tile_fails(self, pick: int) -> None:
        """Or all tiles of a server."""
        store, server = AllocationStore(self.state, self.bindings), pick % NODES
        for tile in range(GPUS) if pick % 5 == 0 and self.has_room() else [pick // NODES % GPUS]:
            store.order(Order("fail", f"s{server}.t{tile}"))

    def repair(self, pick: int) -> None:
        self.set_faults([])
        store = AllocationStore(self.state, self.bindings)
        for part in self.controller.view().failed:
            if "." in part or ">" in part:
                store.order(Order("repair", part))

    def set_faults(self, parts: list[str]) -> None:
        (self.state / "driver" / "faults.json").write_text(json.dumps(parts))

    def epilogs(self, pick: int) -> None:
        """Get lost, or not any more."""
        self.slurm.loses_epilogs = pick % 2 == 0

    # Slurm

    def start(self, pick: int) -> None:
        if (job := self.some(pick, "PENDING")) is not None:
            self.slurm.start(job)

    def go_on(self, pick: int) -> None:
        if (job := self.some(pick, *HOLDING)) is not None:
            self.slurm.go_on(job)

    # What always holds

    def nothing_is_used_twice(self) -> None:
        used: dict[tuple[str, int], int] = {}
        for job in self.slurm.jobs_by_number.values():
            if job.state in ("RUNNING", "COMPLETING"):
                for node, indices in job.sees.items():
                    for index in indices:
                        assert used.setdefault((node, index), job.number) == job.number, (used, job)

    def runs_see_what_they_count(self) -> None:
        for job in self.slurm.jobs_by_number.values():
            if job.state == "RUNNING" and job.gpus and not job.is_foreign:
                assert set(job.sees) == set(job.nodes), job
                assert all(len(indices) == job.gpus for indices in job.sees.values()), job

    def locks_are_disjoint(self) -> None:
        owner: dict[str, int] = {}
        for number, allocation in AllocationStore(self.state, self.bindings).all().items():
            assert all(owner.setdefault(lock, number) == number for lock in allocation.locks), (owner, allocation)

    def light_is_used_once(self) -> None:
        owner: dict[str, str] = {}
        for job, circuits in self.driver.applied().items():
            assert all(owner.setdefault(light, job) == job for light in taken(circuits))

    def limits_hold(self) -> None:
        """No task has accelerators that Slurm will not start."""
        jobs = self.slurm.jobs_by_number
        placed = Counter(jobs[job].array for job in self.loop.desired().places if job in jobs)
        for job in jobs.values():
            is_kept = job.array not in self.changed and job.most_tasks > 0
            assert not is_kept or placed[job.array] <= job.most_tasks, (job, placed)

    def require_sound(self) -> None:
        self.nothing_is_used_twice()
        self.runs_see_what_they_count()
        self.locks_are_disjoint()
        self.light_is_used_once()
        self.limits_hold()

    def close(self) -> None:
        self.controller._durable.journal.close()
        self.folder.cleanup()

    def require_good_end(self) -> None:
        """All is repaired, and goes on until nothing changes: everything has run, and nothing is left."""
        slurm, loop, controller = self.slurm, self.loop, self.controller
        store = AllocationStore(self.state, self.bindings)
        self.repair_everything()
        for _ in range(300):
            self.repair(0)
            for job in slurm.jobs_by_number.values():
                if job.state == "PENDING" and job.reason == "JobHeldAdmin":
                    job.is_held, job.reason, job.is_freed = False, "None", True
            self.now_s += 30
            loop.tick()
            self.require_sound()
            for number in list(slurm.jobs_by_number):
                slurm.start(number)
                slurm.go_on(number)
            if not slurm.left():
                break
        assert not slurm.left(), (slurm.left(), loop.desired(), store.all(), loop._memory)
        for _ in range(4):
            loop.tick()
        assert not store.all()
        assert not list(self.bindings.iterdir())
        assert self.driver.applied() == {}
        assert (*controller.running, *controller.waiting, *controller.down, *slurm.drained) == ()
        for job in slurm.jobs_by_number.values():
            assert job.runs or job.state != "COMPLETED" or job.is_foreign or job.is_freed, job

    def repair_everything(self) -> None:
        slurm = self.slurm
        slurm.loses_epilogs = False
        slurm.down.clear()
        for number, job in slurm.jobs_by_number.items():
            job.comment = ""
            if job.is_foreign:
                slurm.cancel(number)
        by_hand = [node for node, reason in slurm.drained.items() if not reason.startswith("photonplan:")]
        for node in by_hand:
            del slurm.drained[node]
