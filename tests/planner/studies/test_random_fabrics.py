"""Fabrics by kind have as many accelerators as asked for, and say what numbers they could have instead."""

import pytest

from planner.fabrics import fabrics
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.studies.random_fabrics import PEERS, random_fabric


def _cluster(kind: str, accelerators: int, seed: int = 0) -> Cluster:
    data = {"device": "h100-sxm", "fabric": random_fabric(kind, accelerators, seed)}
    return files.validate(Cluster, data, "random")


@pytest.mark.parametrize("kind", sorted(fabrics()))
@pytest.mark.parametrize("accelerators", [64, 1024, 65536])
def test_they_have_as_many_as_asked(kind: str, accelerators: int) -> None:
    assert _cluster(kind, accelerators).fabric.num_devices == accelerators


@pytest.mark.parametrize(("kind", "racks"), [("lightpath", 4096), ("fat_tree", 1024), ("torus", 256), ("sipam", 4096)])
def test_a_million_are_many_racks(kind: str, racks: int) -> None:
    fabric = _cluster(kind, 2**20).fabric
    assert (fabric.racks, fabric.num_devices) == (racks, 2**20)


@pytest.mark.parametrize(("accelerators", "pods", "cubes"), [(4096, 1, 64), (8192, 2, 64), (9216, 1, 144)])
def test_pods_of_cubes_are_those_that_switches_join(accelerators: int, pods: int, cubes: int) -> None:
    fabric = _cluster("torus", accelerators).fabric
    assert (fabric.racks, fabric.servers) == (pods, cubes)


def test_light_is_drawn_by_the_seed() -> None:
    drawn = [random_fabric("lightpath", 64, seed) for seed in range(20)]
    assert drawn == [random_fabric("lightpath", 64, seed) for seed in range(20)]
    assert {fabric["max_peers"] for fabric in drawn} == set(PEERS)


@pytest.mark.parametrize(("accelerators", "radix"), [(1024, 136), (65536, 256)])
def test_lightpath_racks_are_joined_where_a_job_is_larger(accelerators: int, radix: int) -> None:
    """Beside that they are the same; no rack alone is joined."""
    alone, joined = (random_fabric("lightpath", accelerators, 3, most=most) for most in (256, 257))
    assert joined.pop("upper")["radix"] == radix
    assert joined == alone
    data = {"device": "h100-sxm", "fabric": random_fabric("lightpath", accelerators, 3, most=1024)}
    assert files.validate(Cluster, data, "random").fabric.most_devices_of_a_job == accelerators
    assert "upper" not in random_fabric("lightpath", 256, 3, most=1024)


@pytest.mark.parametrize(
    ("kind", "accelerators", "remedy"),
    [
        ("lightpath", 300, "give a multiple of 256, such as 256 or 512, or of 8 up to 256"),
        ("torus", 32, "give 64"),
        ("torus", 150 * 64, "such as 8192 or 12288"),
        ("sipam", 40, "give 32 or 64"),
        ("ocs_rail", 2**20, "ask for no more"),
        ("mesh", 64, "kinds are lightpath, "),
    ],
)
def test_other_numbers_are_refused_with_those_that_are_near(kind: str, accelerators: int, remedy: str) -> None:
    with pytest.raises(InputError, match=remedy):
        random_fabric(kind, accelerators, 0)
