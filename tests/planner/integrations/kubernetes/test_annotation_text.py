"""Annotations of large jobs: packed where they are long, and refused before the start where no object holds them."""

import base64
import gzip
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.integrations.kubernetes.annotation_text import MOST_PLAIN, num_bytes, packed, unpacked
from planner.integrations.kubernetes.config import Kubernetes, KubernetesSite
from planner.integrations.kubernetes.pod_assignment import ASSIGNMENT, DEVICES, devices_in, updates_of, written
from planner.integrations.kubernetes.pod_groups import PodGroup, PodGroupError, PodSet
from planner.placement.placement import Place
from tests.planner.integrations.kubernetes.admission_cases import Make
from tests.planner.integrations.kubernetes.items import pod_set, pod_spec
from tests.planner.integrations.kubernetes.published import Refused, require_published
from tests.planner.integrations.slices.cubes import CLUSTER, FABRIC, Cluster


@given(st.text(min_size=8, max_size=40), st.sampled_from([1, MOST_PLAIN // 8]))
def test_what_is_packed_is_unpacked(part: str, times: int) -> None:
    text = "[" + part * times
    told = packed(text)
    assert unpacked(told) == text
    assert packed(text) == told
    assert len(told.encode()) <= max(MOST_PLAIN, len(text.encode()))


@pytest.mark.parametrize(
    "text",
    [
        "gzip:!", "gzip:AAAA", "gzip:" + base64.b64encode(gzip.compress(b"x" * 99, mtime=0)[:-9]).decode(),
        "gzip:" + base64.b64encode(gzip.compress(bytes(17 * 2**20), mtime=0)).decode(),
    ],
    ids=["no base64", "no gzip", "cut off", "too long"],
)  # fmt: skip
def test_what_was_never_packed_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is"):
        unpacked(text)
    with pytest.raises(ValueError, match="not what the planner wrote"):
        written(text)
    assert devices_in([{"annotations": {DEVICES: text}}]) == text, "as no place has it"


def told(cubes: int, each: int, sets: int = 1) -> tuple[list[dict[str, Any]], int]:
    """Updates for pods on all chips of so many cubes of 16 nodes, and the number of chips."""
    switches = FABRIC["switches"] | {"ports": 2 * cubes}  # type: ignore[operator]
    cluster = Cluster.model_validate(CLUSTER | {"fabric": FABRIC | {"servers": cubes, "switches": switches}})
    names = {f"gke-tpu-prod-cubes-{i // 16:04d}-{i * 2654435761 % 2**32:08x}-k{i % 97:03d}": i // 16
             for i in range(16 * cubes)}  # fmt: skip
    nodes = {name: f"s{cube}" for name, cube in names.items()}
    site = KubernetesSite(Kubernetes.model_validate({"nodes": nodes}), cluster, nodes)
    devices = tuple((cube, chip) for cube in range(cubes) for chip in range(64))
    shown = SimpleNamespace(devices=devices, device_names=tuple(f"s{cube}.c{chip}" for cube, chip in devices))
    pods = len(devices) // each // sets
    of = PodGroup(tuple(PodSet(f"p{i}", pods, each) for i in range(sets)), cast(Any, SimpleNamespace(name="team/j")))
    return updates_of(of, cast(Place, shown), site, lambda node: node), len(devices)


def test_the_largest_slice_there_is_fits_into_the_annotations_of_a_pod() -> None:
    (update,), chips = told(144, 4)
    assert chips == 9216
    about: dict[str, Any] = {"name": "p", "namespace": "a", "annotations": dict(update["annotations"])}
    item = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": pod_spec(4)}
    require_published(item)
    assignments = written(update["annotations"][ASSIGNMENT])
    assert sorted(rank for one in assignments for rank in one.ranks) == list(range(chips))
    assert devices_in([update]) == ",".join(f"s{cube}.c{chip}" for cube in range(144) for chip in range(64))
    plain = {DEVICES: devices_in([update]) or "", ASSIGNMENT: unpacked(update["annotations"][ASSIGNMENT])}
    assert num_bytes(plain) > 262_144, "it would not have fitted"
    about["annotations"] = plain
    with pytest.raises(Refused, match="may not be more than 262144 bytes"):
        require_published(item)


def test_what_no_object_holds_is_refused_with_a_reason() -> None:
    with pytest.raises(PodGroupError, match=r"the place of 8192 pods takes \d+ bytes of annotations of each"):
        told(512, 4)


@pytest.mark.slow
def test_a_workload_whose_own_annotations_leave_no_room_is_rejected_before_it_starts(make_world: Make) -> None:
    world = make_world()
    filled = pod_set(2, 8)
    filled["template"]["metadata"]["annotations"]["example.org/notes"] = "x" * 253_900
    world.workload("train", filled)
    world.kueue()
    world.loop.tick()
    check = world.check("train")
    assert (check["state"], "of annotations of each" in check["message"]) == ("Rejected", True)
    assert (world.jobs(), world.pods()) == ({}, [])
