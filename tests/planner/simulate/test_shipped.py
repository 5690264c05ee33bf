"""Shipped clusters: as many accelerators each, and jobs that offload run where there is memory to offload to."""

import pytest

from planner.checks import check
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.pipeline import solve
from planner.prices import Prices
from planner.simulate.run_one import SimulationRun, replay
from planner.simulate.study import prepare_study
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, mix
from tests.planner.simulate.shipped_cases import FOLDER, shipped

CLUSTERS = sorted(FOLDER.glob("*256.yaml"))


def test_clusters_have_as_many_accelerators_and_a_price() -> None:
    clusters = {path.stem: files.load(Cluster, path) for path in CLUSTERS}
    assert len(clusters) == 7
    assert {of.fabric.num_devices for of in clusters.values()} == {256}
    prices = files.load(Prices, FOLDER / "prices.yaml")
    with_rings = {name: 1.0 for name in clusters if name.startswith("memory_ring")}
    filled = prices.model_copy(update={"clusters": with_rings}).filled(clusters, "p")
    assert all(filled.clusters[name] > 0 for name in clusters)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "policy"), [("sipam256", "sipam_loop"), ("memory_ring256", "first_fit")])
def test_a_short_replay_on_shipped_racks(name: str, policy: str) -> None:
    study = prepare_study(SMALL_DEMAND, mix(), {name: shipped(name)}, jobs=150, samples=0)
    figures = replay(study, SimulationRun(name, policy, 0.3, 0)).figures
    assert figures["offered"] == pytest.approx(0.3)
    assert figures["admitted"] is not None
    assert figures["admitted"] > 0.95
    assert figures["utilization"] == pytest.approx(0.3, rel=0.3)


def test_a_plan_on_rings_passes_the_checks() -> None:
    workload = {
        "kind": "transformer_training", "model": "gpt3-22b", "global_batch": 96, "sequence": 2048, "micro_batch": 1,
        "offload": ["none", "optimizer"],
    }  # fmt: skip
    jobs = tuple(Job(name=f"j{size}", workload=workload, accelerators=size) for size in (4, 8, 16))  # type: ignore[arg-type]
    instance = Instance(schema_version=2, name="i", cluster=cluster("memory_ring"), jobs=jobs)
    found = solve(instance, policy="first_fit")
    assert found.plan is not None
    assert len(found.plan.assignments) == 3
    assert found.plan.assignments[0].configuration.offload == "optimizer"
    assert check(instance, found.plan, starts=True) == []
