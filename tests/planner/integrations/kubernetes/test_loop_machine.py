"""Any order of what users, nodes, Kueue, the scheduler and the API do: pods land whole, as planned, nothing twice."""

from collections.abc import Sequence
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from planner.controller.view import JobState
from planner.integrations.kubernetes.pods import Pod
from planner.model.cluster import Cluster
from tests.planner.controller.sites import quick_folder
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.holders_cases import ALLOWED
from tests.planner.integrations.kubernetes.items import holds, node, pod_set
from tests.planner.integrations.kubernetes.objects import NODES, PODS, WORKLOADS
from tests.planner.integrations.kubernetes.world import World
from tests.planner.integrations.slices.cubes import CLUSTER, FABRIC

Shape = tuple[int, int]
"""pods, accelerators of each"""
SHAPES = st.runner().flatmap(lambda machine: st.sampled_from(machine.shapes))
EDITS = [what for what in ALLOWED if "owner" not in what]
"""owners tell Kueue's pods apart here"""


class Machine(RuleBasedStateMachine):
    fabric: str | Cluster = "fat_tree"
    shared_by = 1
    elastic_each = 8
    """accelerators of a pod of an elastic Job"""
    shapes: Sequence[Shape] = ((1, 1), (1, 8), (2, 4), (4, 2), (2, 8), (3, 3), (4, 8), (2, 0), (1, 9))

    @staticmethod
    def may_run(shape: Shape) -> bool:
        """Whether pods that take any accelerators can ever run."""
        return shape[1] <= 8

    def __init__(self) -> None:
        super().__init__()
        self._folder: TemporaryDirectory[str] = quick_folder()
        self.server = Server()
        self.world = World(self.server, Path(self._folder.name), self.fabric, self.shared_by)
        self.queue = self.world.queue()
        self.queue.leftover_s = inf
        self.workloads: dict[str, tuple[int, int]] = {}
        self.gangs: dict[str, tuple[int, int]] = {}
        self.elastic = set[str]()
        self.names = iter(range(10**6))
        self.broken: set[str] = set()
        """parts that an operator has said are down"""

    @property
    def emulator(self) -> Any:
        return self.world.emulator

    @rule(shape=SHAPES, priority=st.sampled_from([0, 0, 50]), movable=st.booleans())
    def submit(self, shape: tuple[int, int], priority: int, movable: bool) -> None:
        name = f"w{next(self.names)}"
        self.world.workload(name, pod_set(*shape, movable=str(movable).lower()), priority=priority)
        self.workloads[name] = shape

    @rule(shape=SHAPES)
    def gang(self, shape: tuple[int, int]) -> None:
        name = f"g{next(self.names)}"
        for i in range(shape[0]):
            self.world.pod(f"{name}-{i}", shape[1], name, shape[0])
        self.gangs[name] = shape

    @rule(pods=st.integers(1, 3), finishes=st.sampled_from(["first", "last", "late"]))
    def elastic_job(self, pods: int, finishes: str) -> None:
        name = f"e{next(self.names)}"
        self.world.elastic.submit(name, pods, self.elastic_each)
        self.world.elastic.finishes = finishes
        self.elastic.add(name)

    @precondition(lambda self: self.elastic)
    @rule(data=st.data(), pods=st.integers(1, 4))
    def scale(self, data: st.DataObject, pods: int) -> None:
        self.world.elastic.scale(data.draw(st.sampled_from(sorted(self.elastic))), pods)

    @precondition(lambda self: self.elastic)
    @rule(data=st.data())
    def delete_slice(self, data: st.DataObject) -> None:
        """The last one, before it is admitted."""
        slices = self.world.elastic.slices(data.draw(st.sampled_from(sorted(self.elastic))))
        if slices and not holds(slices[-1]["status"], "Admitted"):
            self.world.elastic.delete(slices[-1]["metadata"]["name"])

    @precondition(lambda self: self.elastic)
    @rule(data=st.data())
    def end_elastic(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.elastic)))
        self.elastic.remove(name)
        self.world.elastic.finish(name)

    @precondition(lambda self: self.workloads)
    @rule(data=st.data(), is_deleted=st.booleans())
    def end_workload(self, data: st.DataObject, is_deleted: bool) -> None:
        name = data.draw(st.sampled_from(sorted(self.workloads)))
        if is_deleted:
            for pod in self.world.pods(f"team/{name}"):
                self.emulator.drop(PODS, "team", pod["metadata"]["name"])
            self.emulator.drop(WORKLOADS, "team", name)
        elif holds(self.world.status(name), "Admitted"):
            self.world.finish(name)
        else:
            return
        del self.workloads[name]

    @precondition(lambda self: self.gangs)
    @rule(data=st.data(), phase=st.sampled_from(["Succeeded", "Failed", ""]))
    def end_gang(self, data: st.DataObject, phase: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.gangs)))
        for pod in map(Pod, self.world.pods()):
            if pod.name.startswith(f"{name}-"):
                if phase:
                    self.emulator.change(PODS, "team", pod.name, status={"phase": phase})
                else:
                    self.emulator.drop(PODS, "team", pod.name)
        del self.gangs[name]

    @rule(number=st.integers(0, 7), is_cordoned=st.booleans(), is_ready=st.sampled_from([True, True, False]))
    def node(self, number: int, is_cordoned: bool, is_ready: bool) -> None:
        ready = [{"type": "Ready", "status": str(is_ready)}]
        parts = {"spec": {"unschedulable": is_cordoned}, "status": {"conditions": ready}}
        self.emulator.change(NODES, None, f"n{number % (4 * self.shared_by)}", **parts)

    @rule(number=st.integers(0, 7), is_away=st.booleans())
    def node_made_anew(self, number: int, is_away: bool) -> None:
        name = f"n{number % (4 * self.shared_by)}"
        self.emulator.drop(NODES, None, name)
        if is_away:
            self.world.loop.tick()
            self.world.restart()
        self.emulator.put(NODES, node(name))

    @rule(number=st.integers(0, 3), slot=st.integers(0, 7))
    def part(self, number: int, slot: int) -> None:
        name = self.world.cluster.fabric.device_name(number, slot)
        if name in self.broken:
            self.world.controller.repair(name)
        else:
            self.world.controller.fail(name)
        self.broken ^= {name}

    @rule(is_down=st.booleans())
    def api(self, is_down: bool) -> None:
        self.emulator.is_down = is_down

    @rule()
    def forget(self) -> None:
        self.emulator.forget()

    @precondition(lambda self: self.workloads)
    @rule(data=st.data(), writes=st.integers(0, 3))
    def conflict(self, data: st.DataObject, writes: int) -> None:
        """Somebody changes a Workload just before a write of the planner."""
        name = data.draw(st.sampled_from(sorted(self.workloads)))
        about = {"labels": {"seen": str(self.emulator.version)}}

        def meddle() -> None:
            if self.emulator.get(WORKLOADS, "team", name) is not None:
                self.emulator.change(WORKLOADS, "team", name, metadata=about)

        self.emulator.before_write += [lambda: None] * writes + [meddle]

    @precondition(lambda self: self.world.pods())
    @rule(data=st.data(), what=st.sampled_from(EDITS))
    def tamper(self, data: st.DataObject, what: str) -> None:
        """A user edits a pod of theirs that runs."""
        bound = [pod.name for pod in map(Pod, self.world.pods()) if pod.node]
        if bound:
            ALLOWED[what](self.world, data.draw(st.sampled_from(bound)))

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @rule(seconds=st.sampled_from([1, 6, 200]))
    def wait(self, seconds: int) -> None:
        self.world.now_s += seconds

    @rule(rounds=st.integers(1, 3))
    def go_on(self, rounds: int) -> None:
        for _ in range(rounds):
            self.world.kueue()
            self.world.loop.tick()
            self.queue.step()

    @rule()
    def kueue(self) -> None:
        self.world.kueue()

    @rule()
    def tick(self) -> None:
        self.world.loop.tick()

    @invariant()
    def sound(self) -> None:
        self.world.require_sound()

    def teardown(self) -> None:
        try:
            self._require_an_end()
        finally:
            self.world.close()
            self.server.close()
            self._folder.cleanup()

    def _require_an_end(self) -> None:
        """When nothing happens any more, all that has a place is there, and the rest is told why it waits."""
        self.emulator.is_down = False
        self.emulator.before_write.clear()
        for number in range(4 * self.shared_by):
            self.node(number, False, True)
        for part in self.broken:
            self.world.controller.repair(part)
        for _ in range(3):
            self.world.now_s += 300
            self.world.settle(5, self.queue)
        self.world.settle(12, self.queue)
        assert self.world.loop.trouble == ""
        assert self.world.controller.down == ()
        assert self.world.controller.check() == []
        jobs = self.world.jobs()
        live = {f"team/{name}" for name, shape in self.workloads.items() if shape[1] and self.may_run(shape)}
        live |= {f"team/pods/{name}" for name in self.gangs if f"team/pods/{name}" in jobs}
        elastic = {
            name: job for key, job in jobs.items() if (name := key.partition("/")[2].partition("~")[0]) in self.elastic
        }
        assert {key for key in jobs if "~" not in key} == live
        assert len(elastic) == sum("~" in key for key in jobs)
        for name in self.elastic:
            self._require_grown(name, elastic.get(name))
        for name, (pods, each) in self.workloads.items():
            state = self.world.check(name)["state"]
            has_place = each == 0 or (self.may_run((pods, each)) and jobs[f"team/{name}"].place is not None)
            assert (state == "Ready") == has_place, self.world.check(name)
            found = [Pod(pod).node for pod in self.world.pods(f"team/{name}")]
            assert not has_place or (len(found) == pods and all(found)), self.queue.unschedulable
        for name, (pods, _) in self.gangs.items():
            live_pods = [pod for pod in map(Pod, self.world.pods()) if pod.name.startswith(f"{name}-")]
            if len(live_pods) == pods and (job := jobs.get(f"team/pods/{name}")) is not None and job.place is not None:
                assert all(pod.node for pod in live_pods), self.queue.unschedulable

    def _require_grown(self, name: str, job: JobState | None) -> None:
        """A slice that is Ready has all its pods, and one that waits says why, while pods of before run on."""
        pods, last = [Pod(pod) for pod in self.world.elastic.pods(name)], self.world.elastic.slices(name)[-1]
        check, count = last["status"]["admissionChecks"][0], last["spec"]["podSets"][0]["count"]
        held = set() if job is None or job.place is None else set(map(self.world.seat, job.place.devices))
        seats = {(pod.node, index) for pod in pods if pod.node for index in pod.indices}
        assert seats <= held
        if check["state"] == "Ready":
            assert len(seats) == len(held) == count * self.elastic_each
        else:
            assert (seats, bool(check["message"])) == (held, True), "it runs on"


class SharedServers(Machine):
    """Each server is two nodes of four accelerators; jobs ask for whole servers."""

    shared_by = 2
    elastic_each = 4
    shapes = ((2, 4), (4, 2), (4, 4), (8, 1), (8, 4), (12, 2), (2, 0), (1, 4), (3, 3), (1, 5))

    @staticmethod
    def may_run(shape: Shape) -> bool:
        return shape[1] in (1, 2, 4) and shape[0] * shape[1] % 8 == 0


class Partitions(Machine):
    """Each server is a cube of 2 x 2 x 2 chips, of two hosts that jobs take whole."""

    fabric = Cluster.model_validate(
        CLUSTER | {"fabric": FABRIC | {"sides": [2, 2, 2], "partitions": [[2, 2, 1]]}, "device": "h100-sxm"}
    )
    shared_by = 2
    elastic_each = 4
    shapes = ((1, 4), (2, 2), (4, 1), (2, 4), (4, 2), (4, 4), (8, 4), (2, 0), (1, 2), (3, 3), (1, 5))

    @staticmethod
    def may_run(shape: Shape) -> bool:
        return shape[1] in (1, 2, 4) and shape[0] * shape[1] % 4 == 0


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=6, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
)

TestSharedServers = SharedServers.TestCase
TestSharedServers.settings = settings(TestMachine.settings, max_examples=3)

TestPartitions = Partitions.TestCase
TestPartitions.settings = settings(TestMachine.settings, max_examples=3)
