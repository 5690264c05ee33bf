"""Placement groups by label on a real Ray cluster of three nodes: what is planned is what ranks see."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from planner.controller import Start
from planner.integrations.ray_placement_groups import PREFIX, BundlePlacement, Follower, job_of, layout, place
from planner.model.errors import InputError
from tests.alone import alone
from tests.paths import ROOT
from tests.planner.controller.sites import controller, request

MOST_S = 480.0


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What happened on the cluster, in one process that no warning or setting of the tests reaches."""
    path = tmp_path_factory.mktemp("ray") / "found.json"
    command = [sys.executable, "-m", "tests.planner.controller.on_ray", str(path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with alone("ray"):
        done = subprocess.run(
            command, cwd=ROOT, env=environment, start_new_session=True, capture_output=True, text=True, timeout=MOST_S
        )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(path.read_text("utf-8"))


def _job(name: str, *devices: str) -> Any:
    return SimpleNamespace(job=name, devices=devices)


def test_one_bundle_for_each_server_in_the_order_of_ranks() -> None:
    found = layout(_job("a", "r1.s2.g7", "r1.s0.g1", "r1.s2.g0"), cpus_per_rank=4)
    assert found.placements == (
        BundlePlacement(0, "r1.s2", 7),
        BundlePlacement(1, "r1.s0", 1),
        BundlePlacement(0, "r1.s2", 0),
    )
    assert found.bundles == [{"GPU": 2, "CPU": 8}, {"GPU": 1, "CPU": 4}]
    assert found.label_selectors == [{"photonplan.server": "r1.s2"}, {"photonplan.server": "r1.s0"}]
    assert [found.environment(rank)["CUDA_VISIBLE_DEVICES"] for rank in range(3)] == ["7", "1", "0"]


def test_a_start_of_a_controller_is_laid_out_as_its_place_says() -> None:
    with controller("lightpath") as c:
        [start] = c.submit(request("a", 16))
        assert isinstance(start, Start)
        placements = layout(start).placements
        assert [(f"s{server}", slot) for server, slot in start.place.devices] == [(s.server, s.gpu) for s in placements]


def test_another_place_is_another_group() -> None:
    jobs = [
        ("a", "s0.g0", "s0.g1"),
        ("a", "s0.g1", "s0.g0"),
        ("a", "s0.g0", "s0.g2"),
        ("a", "s1.g0", "s1.g1"),
        ("b#c", "s0.g0"),
    ]
    names = [layout(_job(*job)).name for job in jobs]
    assert len(set(names)) == len(jobs)
    assert [job_of(name) for name in names] == [job[0] for job in jobs]
    assert names[0] == layout(_job(*jobs[0])).name
    assert names[0] != layout(_job(*jobs[0]), cpus_per_rank=2).name
    assert all(name.startswith(PREFIX) for name in names)


def test_what_is_no_accelerator_is_refused() -> None:
    with pytest.raises(InputError, match=r"'s0\.m1\.u2' is no accelerator"):
        layout(_job("a", "s0.m1.u2"))


def test_without_ray_it_says_what_to_install() -> None:
    with patch.dict(sys.modules, {"ray": None}), pytest.raises(InputError, match=r"photonplan\[ray\]"):
        place(_job("a", "s0.g0"))


@pytest.mark.slow
def test_ranks_of_a_plan_see_the_planned_nodes_and_gpus(found: Any) -> None:
    assert found["seen"] == found["wanted"]
    servers = [{name.partition(".")[0] for name in devices} for devices in found["seen"].values()]
    assert servers[0] & servers[1], "two jobs share a node"
    together = [name for devices in found["seen"].values() for name in devices]
    assert len(set(together)) == len(together), "and no GPU"


def test_a_group_is_made_once_and_goes_at_the_end(found: Any) -> None:
    assert found["again"] == [True, True]
    assert sorted(map(job_of, found["there"])) == ["a", "b/c d"], "those refused left nothing behind"
    assert set(found["there"].values()) == {"CREATED"}
    assert found["after"] == {}
    assert found["left"] == {"not the planner's": "CREATED"}


def test_a_group_that_cannot_be_says_why(found: Any) -> None:
    assert "has the label photonplan.server=s9; start it with `ray start --labels" in found["unlabelled"]
    assert "the node of s1 has 2 GPU, and 3 are needed there" in found["too small"]
    assert "the node of s1 has 16 CPU, and 1000 are needed there" in found["few cores"]
    assert "too little is free on s0, s1, s2: groups of a, b/c d are on them" in found["taken"]


def test_groups_follow_a_controller(found: Any) -> None:
    *ticks, moved = found["followed"]
    assert [sorted(tick["wanted"]) for tick in ticks] == [["half", "whole"]] * 3 + [[]]
    assert ticks[0]["wanted"]["whole"] != ticks[1]["wanted"]["whole"], "it moved"
    for tick in ticks:
        assert tick["groups"] == tick["wanted"]
        assert tick["names"]
        assert tick["problems"] == []
    assert moved == {"kept": True, "new": True, "seen": True, "restarted": True}


def test_a_follower_places_what_it_can_and_says_what_it_cannot(found: Any) -> None:
    lacking = found["lacking"]
    assert lacking["groups"] == sorted({"j0", "j1", "j2", "j3"} - {lacking["lost"]})
    assert lacking["there"] == 3 + 1, "and the one that is not the planner's"
    assert list(lacking["problems"]) == [lacking["lost"]]
    assert "photonplan.server=s3" in lacking["problems"][lacking["lost"]]


def test_a_follower_of_nothing_needs_ray_all_the_same() -> None:
    with controller() as c, patch.dict(sys.modules, {"ray": None}), pytest.raises(InputError, match="not installed"):
        Follower(c).tick()
