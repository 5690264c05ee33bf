"""Jobs on a running Ray cluster: a placement group for each, on the nodes and GPUs that the planner chose.

Each node says which server it is: `ray start --labels photonplan.server=s3`. Ray hands out GPUs by number alone; which
ones a rank uses is in its environment. So all that runs on GPUs of these nodes must be planned.
"""

import hashlib
import re
import time
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from planner.controller.decisions import Start
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.controller.controller import Controller

LABEL = "photonplan.server"
"""of a node: the server that it is"""
PREFIX = "photonplan:"
"""of the names of groups that belong to the planner"""
LOOK_S = 0.05
"""between two looks at a group that is not there yet, or not gone yet"""


class RunningJob(Protocol):
    """A job where it runs: an `Assignment` of a plan, a `Start` or a `Move`."""

    @property
    def job(self) -> str: ...
    @property
    def devices(self) -> Sequence[str]:
        """Names in rank order, such as s3.t0."""
        ...


class BundlePlacement(NamedTuple):
    """The bundle and accelerator of one rank."""

    bundle: int
    server: str
    gpu: int
    """of its server"""


@dataclass(frozen=True)
class Layout:
    """Bundles of the placement group of one job, and the placement of each rank."""

    job: str
    placements: tuple[BundlePlacement, ...]
    """by rank"""
    cpus_per_rank: float

    @property
    def servers(self) -> tuple[str, ...]:
        """By bundle, in the order in which ranks meet them."""
        return tuple(dict.fromkeys(placement.server for placement in self.placements))

    @property
    def bundles(self) -> list[dict[str, float]]:
        """Resources that each server gives, bundle by bundle."""
        ranks = Counter(placement.bundle for placement in self.placements)
        return [{"GPU": ranks[i], "CPU": ranks[i] * self.cpus_per_rank} for i in range(len(ranks))]

    @property
    def label_selectors(self) -> list[dict[str, str]]:
        """Which node each bundle must be on."""
        return [{LABEL: server} for server in self.servers]

    @property
    def name(self) -> str:
        """Of the group: another one for the same job elsewhere, on other GPUs or in another order."""
        placements = " ".join(f"{placement.server}.{placement.gpu}" for placement in self.placements)
        return f"{PREFIX}{self.job}#{hashlib.sha256(f'{self.cpus_per_rank} {placements}'.encode()).hexdigest()[:12]}"

    def environment(self, rank: int) -> dict[str, str]:
        """Environment in which a rank sees its one GPU; Ray is told to leave it as it is."""
        return {
            "CUDA_VISIBLE_DEVICES": str(self.placements[rank].gpu),
            "RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES": "1",
        }


def layout(placed: RunningJob, *, cpus_per_rank: float = 1.0) -> Layout:
    """One bundle for each server of a job, and the placement of each rank."""
    places = [_parse(placed.job, name) for name in placed.devices]
    bundle = {server: i for i, server in enumerate(dict.fromkeys(server for server, _ in places))}
    return Layout(
        placed.job, tuple(BundlePlacement(bundle[server], server, gpu) for server, gpu in places), cpus_per_rank
    )


def _parse(job: str, device: str) -> tuple[str, int]:
    match = re.fullmatch(r"((?:r\d+\.)?s\d+)\.[a-z](\d+)", device)
    if match is None:
        raise InputError("ray", job, f"'{device}' is no accelerator; its name must be as s3.t0")
    return match[1], int(match[2])


@dataclass(frozen=True)
class PlacementGroup:
    """A placement group that is there: what the job holds on its nodes."""

    layout: Layout
    handle: Any

    def options(self, rank: int) -> dict[str, Any]:
        """For `Actor.options(**group.options(rank))`: the actor of a rank, on its node and its GPU."""
        bundle = self.layout.placements[rank].bundle
        strategy = _ray().util.scheduling_strategies.PlacementGroupSchedulingStrategy
        return {
            "num_gpus": 1,
            "num_cpus": self.layout.cpus_per_rank,
            "scheduling_strategy": strategy(self.handle, placement_group_bundle_index=bundle),
            "runtime_env": {"env_vars": self.layout.environment(rank)},
        }


def place(placed: RunningJob, *, timeout_s: float = 60.0, cpus_per_rank: float = 1.0) -> PlacementGroup:
    """The group of a job, which outlives its creator; InputError, and no group, where Ray cannot make it in time.

    A node that is missing or too small is told at once. Again for a job that is there: its group. `ray.init` must have
    been called.
    """
    wanted = layout(placed, cpus_per_rank=cpus_per_rank)
    groups, problems = _place_all([wanted], timeout_s)
    for problem in problems.values():
        raise problem
    return groups[wanted.job]


def release(job: str, *, timeout_s: float = 60.0) -> None:
    """Remove the group of a job, wherever it is, and end what runs in it; nothing happens where there is none."""
    _remove({name for name in _there() if job_of(name) == job}, timeout_s)


def job_of(name: str) -> str:
    """The job that a group of the planner belongs to."""
    return name.removeprefix(PREFIX).rpartition("#")[0]


@dataclass
class Follower:
    """Placement groups as a controller wants them: each tick removes and places what differs."""

    controller: "Controller"
    cpus_per_rank: float = 1.0
    timeout_s: float = 10.0
    """for the groups of one tick"""
    period_s: float = 1.0
    """between ticks"""
    groups: dict[str, PlacementGroup] = field(default_factory=dict)
    """by job"""
    problems: dict[str, InputError] = field(default_factory=dict)
    """jobs whose group Ray could not make; the next tick tries again"""

    def tick(self) -> None:
        """First all groups go that are not wanted, those of jobs that moved too, then those come that are."""
        layouts = [self._layout(job) for job in self.controller.running.items()]
        _remove(_there().keys() - {wanted.name for wanted in layouts}, self.timeout_s)
        self.groups, self.problems = _place_all(layouts, self.timeout_s)

    def _layout(self, running: tuple[str, Any]) -> Layout:
        return layout(Start(*running), cpus_per_rank=self.cpus_per_rank)


def _ray() -> Any:
    try:
        import ray.util.scheduling_strategies
    except ImportError:
        raise InputError("ray", "", 'Ray is not installed; run `pip install "photonplan[ray]"`') from None
    return ray


def _place_all(layouts: Sequence[Layout], timeout_s: float) -> tuple[dict[str, PlacementGroup], dict[str, InputError]]:
    """Groups by job, and why those that are not there within this time, and are removed, could not be made."""
    lacks = {wanted.job: _lack(wanted) for wanted in layouts}
    there = _there()
    groups = {w.job: PlacementGroup(w, there.get(w.name) or _make(w)) for w in layouts if lacks[w.job] is None}
    late = _await({group.layout.name for group in groups.values()}, timeout_s)
    whys = {w.job: lacks[w.job] or _beside(w) for w in layouts if lacks[w.job] or w.name in late}
    _remove({wanted.name for wanted in layouts if wanted.job in whys}, timeout_s)
    problems = {job: InputError("ray", job, why) for job, why in whys.items()}
    return {job: group for job, group in groups.items() if job not in problems}, problems


def _await(names: Set[str], timeout_s: float) -> Set[str]:
    """Names of groups that are still not made after this time."""
    until_s = time.monotonic() + timeout_s
    while late := names - {group["name"] for group in _table() if group["state"] == "CREATED"}:
        if time.monotonic() > until_s:
            break
        time.sleep(LOOK_S)
    return late


def _make(wanted: Layout) -> Any:
    selectors = wanted.label_selectors
    make = _ray().util.placement_group
    return make(wanted.bundles, name=wanted.name, bundle_label_selector=selectors, lifetime="detached")


def _table() -> list[dict[str, Any]]:
    """Groups of the planner that are there, or on their way."""
    table = _ray().util.placement_group_table().values()
    return [group for group in table if group["name"].startswith(PREFIX) and group["state"] != "REMOVED"]


def _there() -> dict[str, Any]:
    """Handles of the planner's groups by name."""
    table, number = _table(), _ray().PlacementGroupID
    from ray.util.placement_group import PlacementGroup

    return {group["name"]: PlacementGroup(number(bytes.fromhex(group["placement_group_id"]))) for group in table}


def _remove(names: Set[str], timeout_s: float) -> None:
    """Remove groups, and return when they are gone."""
    handles = _there() if names else {}
    for name in names & handles.keys():
        _ray().util.remove_placement_group(handles[name])
    until_s = time.monotonic() + timeout_s
    while left := {group["name"] for group in _table()} & names:
        if time.monotonic() > until_s:
            raise InputError("ray", ", ".join(map(job_of, sorted(left))), f"is not gone after {timeout_s:g} s")
        time.sleep(LOOK_S)


def _lack(wanted: Layout) -> str | None:
    """Why no time would make a group: the first of a label that no node has, and a node that is too small."""
    nodes = _nodes()
    missing = [server for server in wanted.servers if server not in nodes]
    if missing:
        labels = ", ".join(f"{LABEL}={server}" for server in missing)
        return f"no node that is alive has the label {labels}; start it with `ray start --labels {LABEL}={missing[0]}`"
    for server, bundle in zip(wanted.servers, wanted.bundles, strict=True):
        for part, needed in bundle.items():
            has = nodes[server]["Resources"].get(part, 0)
            if has < needed:
                return f"the node of {server} has {has:g} {part}, and {needed:g} are needed there"
    return None


def _beside(wanted: Layout) -> str:
    """The holders of resources that a group waits for, in words."""
    nodes = _nodes()
    mine = {nodes[server]["NodeID"] for server in wanted.servers if server in nodes}
    others = sorted(
        job_of(group["name"])
        for group in _table()
        if group["name"] != wanted.name and mine & set(group["bundles_to_node_id"].values())
    )
    beside = f"groups of {', '.join(others)} are on them" if others else "something that is not planned is on them"
    return f"too little is free on {', '.join(wanted.servers)}: {beside}"


def _nodes() -> dict[str, Any]:
    """Nodes that are alive, by their label."""
    return {node["Labels"].get(LABEL): node for node in _ray().nodes() if node["Alive"]}
