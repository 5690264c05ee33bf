"""Plans and a controller on a Ray cluster of three labelled nodes on the loopback interface; writes JSON.

Run by test_ray_groups.py in a process of its own: python -m tests.planner.controller.on_ray FILE
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

import ray
from ray.cluster_utils import Cluster

from planner import Instance, solve
from planner.integrations.ray_placement_groups import LABEL, PREFIX, Follower, PlacementGroup, place, release
from planner.model.errors import InputError
from planner.model.plan import Assignment
from tests.planner.controller.sites import controller, request
from tests.planner.simulate.grounds import BERT, FAT_TREE

SERVERS, GPUS = 3, 2
MOST_S = 60
"""for what comes at once on a machine that has nothing else to do"""
FABRIC = FAT_TREE | {"servers": SERVERS, "gpus_per_server": GPUS}


def instance() -> Instance:
    """Two jobs that fill the cluster and share a server."""
    jobs = [{"name": name, "workload": BERT, "accelerators": 3} for name in ("a", "b/c d")]
    cluster = {"device": "h100-sxm", "fabric": FABRIC}
    return Instance.parse({"schema_version": 2, "name": "ray", "cluster": cluster, "jobs": jobs})


@ray.remote
class Rank:
    """What a rank of a job sees."""

    def seen(self) -> str:
        node = ray.get_runtime_context().get_node_labels()[LABEL]
        return f"{node}.g{os.environ['CUDA_VISIBLE_DEVICES']}"


def seen(*groups: PlacementGroup) -> dict[str, list[str]]:
    """Node and GPU of each rank by job, in rank order."""
    asked = {
        g.layout.job: [Rank.options(**g.options(i)).remote().seen.remote() for i in range(len(g.layout.placements))]
        for g in groups
    }
    return {job: ray.get(ranks) for job, ranks in asked.items()}


def groups() -> dict[str, str]:
    """States of all groups by name, of those that are there."""
    table = ray.util.placement_group_table().values()
    return {group["name"]: group["state"] for group in table if group["state"] != "REMOVED"}


def refusal(devices: list[str], **options: Any) -> str:
    """What is said of a group that cannot be."""
    job = Assignment.model_validate({"job": "no", "configuration": {"micro_batch": 1}, "devices": devices})
    try:
        place(job, timeout_s=1.0, **options)
    except InputError as error:
        return str(error)
    return "it is there"


def planned() -> dict[str, Any]:
    """The groups of a plan, what their ranks see, and groups for which there is no place beside them."""
    plan = solve(instance(), time_limit_s=5).plan
    assert plan is not None
    made = [place(assignment) for assignment in plan.assignments]
    found: dict[str, Any] = {
        "wanted": {assignment.job: list(assignment.devices) for assignment in plan.assignments},
        "seen": seen(*made),
        "again": [place(a).handle.id == group.handle.id for a, group in zip(plan.assignments, made, strict=True)],
        "unlabelled": refusal(["s0.g0", "s9.g0", "s9.g1"]),
        "too small": refusal([f"s1.g{gpu}" for gpu in range(GPUS + 1)]),
        "few cores": refusal(["s1.g0"], cpus_per_rank=1000.0),
        "taken": refusal(["s0.g0", "s1.g0", "s2.g0"]),
        "there": groups(),
    }
    for group in made:
        release(group.layout.job)
        release(group.layout.job)
    found["after"] = groups()
    foreign = ray.util.placement_group([{"CPU": 1}], name="not the planner's")
    assert foreign.wait(MOST_S)
    return found


def followed() -> list[Any]:
    """A controller's jobs come, move and go: what it wants and what is there after each tick."""
    told = []
    with controller("fat_tree", servers=SERVERS, gpus_per_server=GPUS) as c:
        follower = Follower(c, timeout_s=MOST_S)

        def tick(by: Follower) -> dict[str, str]:
            by.tick()
            wanted = {job: list(running.device_names) for job, running in c.running.items()}
            placements = {job: group.layout.placements for job, group in by.groups.items()}
            there = {name for name in groups() if name.startswith(PREFIX)}
            told.append({
                "wanted": wanted, "names": sorted(group.layout.name for group in by.groups.values()) == sorted(there),
                "groups": {job: [f"{each.server}.g{each.gpu}" for each in of] for job, of in placements.items()},
                "problems": list(by.problems),
            })  # fmt: skip
            return {job: group.handle.id.hex() for job, group in by.groups.items()}

        c.submit(request("whole", 2))
        c.submit(request("half", 1))
        before = tick(follower)
        c.fail(c.running["whole"].device_names[0])
        after = tick(follower)
        moved = {"kept": before["half"] == after["half"], "new": before["whole"] != after["whole"]}
        moved["seen"] = seen(follower.groups["whole"])["whole"] == list(c.running["whole"].device_names)
        restarted = Follower(c, timeout_s=MOST_S)
        moved["restarted"] = tick(restarted) == after
        c.cancel("whole")
        c.finish("half")
        tick(restarted)
    return [*told, moved]


def lacking() -> dict[str, Any]:
    """What a follower says where the cluster of its controller has a server that Ray does not know."""
    with controller("fat_tree", servers=SERVERS + 1, gpus_per_server=GPUS) as c:
        c.submit_all([request(f"j{i}", GPUS) for i in range(SERVERS + 1)])
        follower = Follower(c, timeout_s=MOST_S)
        follower.tick()
        [lost] = [job for job, running in c.running.items() if running.servers == (SERVERS,)]
        found = {"lost": lost, "groups": sorted(follower.groups), "there": len(groups())}
        found["problems"] = {job: str(problem) for job, problem in follower.problems.items()}
        for job in list(c.running):
            c.finish(job)
        follower.tick()
    return found


def main(path: Path) -> None:
    head = {"num_cpus": 16, "num_gpus": GPUS, "labels": {LABEL: "s0"}, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for server in range(1, SERVERS):
        cluster.add_node(num_cpus=16, num_gpus=GPUS, labels={LABEL: f"s{server}"})
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error", include_dashboard=False)
    found = {**planned(), "followed": followed(), "lacking": lacking(), "left": groups()}
    path.write_text(json.dumps(found), encoding="utf-8")
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
