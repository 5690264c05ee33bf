"""Slices of cubes over HTTP: those of jobs that run now, and no cube in two."""

from pathlib import Path
from typing import Any

from planner.controller import Controller, Settings
from planner.integrations.kubernetes.loop import KubernetesLoop
from planner.integrations.slices.objects import base_name
from planner.integrations.slices.partitions import LABEL
from planner.model.cluster import Cluster
from tests.planner.controller.sites import controller as small_controller
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.objects import NODES
from tests.planner.integrations.kubernetes.published import require_published
from tests.planner.integrations.kubernetes.world import World
from tests.planner.integrations.slices.cubes import HOSTS, PARTITIONS, divided, host_of, nodes
from tests.planner.service.running import running
from tests.planner.simulate.grounds import BERT

CUBES = {
    "kind": "torus", "servers": 8, "sides": [4, 4, 4], "link_bandwidth": "50 GB/s", "alpha": "1 us",
    "link_energy": "10 pJ/b", "switches": {"ports": 136, "energy": "20 pJ/b"},
}  # fmt: skip


def test_running_jobs_of_whole_cubes_are_slices() -> None:
    cluster = Cluster.model_validate({"device": "tpu-v7", "fabric": CUBES})
    rules = Settings.model_validate({"greedy_budget_s": 60, "repair_budget_s": 1})
    with running(Controller(cluster, settings=rules)) as site:
        assert site.get("/v1/slices") == {"seq": 0, "slices": []}
        for name, chips in (("a", 128), ("b", 256), ("c", 16)):
            site.submit(name, chips, workload=BERT | {"global_batch": 1024})
        found = site.get("/v1/slices")
        assert found["seq"] == 3
        assert [each["metadata"]["name"] for each in found["slices"]] == [base_name("a"), base_name("b")]
        cubes = [cube for each in found["slices"] for cube in each["spec"]["partitionIds"]]
        assert len(cubes) == len({*cubes}) == 6
        site.client.post("/v1/jobs/a/finish").raise_for_status()
        assert [each["metadata"]["name"] for each in site.get("/v1/slices")["slices"]] == [base_name("b")]


class Still:
    """A loop of a planner that looks when it is told to."""

    period_s = 3600.0

    def __init__(self, loop: KubernetesLoop) -> None:
        self.loop, self.slice_names = loop, loop.slice_names

    def tick(self) -> None:
        pass


def test_jobs_inside_cubes_are_slices_by_the_labels_of_the_nodes(tmp_path: Path) -> None:
    server, cluster = Server(), divided()
    world = World(server, tmp_path, cluster, HOSTS, kueue=None, slices={"partitions": PARTITIONS})
    for each in nodes():
        world.emulator.change(NODES, None, each["metadata"]["name"], metadata={"labels": each["metadata"]["labels"]})
    label = {(one["metadata"]["name"], key): text for one in nodes() for key, text in one["metadata"]["labels"].items()}
    rules = Settings.model_validate({"greedy_budget_s": 60, "repair_budget_s": 0})
    with running(Controller(cluster, settings=rules), control_loops=[Still(world.loop)]) as site:
        sizes = {"a": 64, "b": 4, "c": 8, "d": 16, "e": 32, "f": 4}
        for name, chips in sizes.items():
            site.submit(name, chips, workload=BERT | {"global_batch": 1024})
        refused = site.client.get("/v1/slices")
        assert refused.status_code == 409
        assert "not known yet" in refused.json()["problem"]
        world.loop.tick()
        found: dict[str, Any] = {each["metadata"]["name"]: each for each in site.get("/v1/slices")["slices"]}
        assert {*found} == {*map(base_name, sizes)}
        for name, chips in sizes.items():
            each = found[base_name(name)]
            require_published(each)
            places = site.controller.running[name].devices
            key = LABEL.format(each["spec"]["topology"])
            if chips < 64:
                assert {label[host_of(*place), key] for place in places} == {*each["spec"]["partitionIds"]}
            else:
                assert each["spec"]["partitionIds"] == [PARTITIONS[f"s{places[0][0]}"]]
        world.emulator.change(NODES, None, host_of(*site.controller.running["d"].devices[0]), metadata={"labels": None})
        world.loop.tick()
        refused = site.client.get("/v1/slices")
        assert refused.status_code == 409
        assert "job d: nodes" in refused.json()["problem"]
    world.close()
    server.close()


def test_a_cluster_without_such_cubes_has_none() -> None:
    with running(small_controller("fat_tree")) as site:
        site.submit("a", 16)
        refused = site.client.get("/v1/slices")
        assert refused.status_code == 409
        assert "is no device of Slices" in refused.json()["problem"]
