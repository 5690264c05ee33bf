"""Slices of cubes over HTTP: those of jobs that run now, and no cube in two."""

from planner.controller import Controller, Settings
from planner.model.cluster import Cluster
from tests.planner.controller.sites import controller as small_controller
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
        assert [each["metadata"]["name"] for each in found["slices"]] == ["a", "b"]
        cubes = [cube for each in found["slices"] for cube in each["spec"]["partitionIds"]]
        assert len(cubes) == len({*cubes}) == 6
        site.client.post("/v1/jobs/a/finish").raise_for_status()
        assert [each["metadata"]["name"] for each in site.get("/v1/slices")["slices"]] == ["b"]


def test_a_cluster_without_such_cubes_has_none() -> None:
    with running(small_controller("fat_tree")) as site:
        site.submit("a", 16)
        refused = site.client.get("/v1/slices")
        assert refused.status_code == 409
        assert "is no device of Slices" in refused.json()["problem"]
