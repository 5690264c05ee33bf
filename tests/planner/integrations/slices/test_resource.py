"""Slice objects: only what the definition of the API takes."""

import pytest

from costmodel.hardware.device import Device
from planner.integrations.slices.resource import resource, spec_body, type_of
from tests.planner.integrations.kubernetes.published import require_published
from tests.planner.integrations.slices.cubes import cluster
from tests.planner.simulate.grounds import cluster as other_cluster


def test_an_object_is_one_that_the_api_takes() -> None:
    item = resource("job-1", spec_body("job-1", type_of(cluster().device), (4, 8, 8), ["a", "b", "c", "d"]), {"x": "y"})
    assert item["metadata"] == {"name": "job-1", "annotations": {"x": "y"}}
    require_published(item)


@pytest.mark.parametrize(
    ("kind", "extents", "partitions"), [("tpu9", (4, 4), ["a"]), ("v6e", (4,), ["a"]), ("v6e", (4, 4), [])]
)
def test_what_the_definition_does_not_take_is_refused(
    kind: str, extents: tuple[int, ...], partitions: list[str]
) -> None:
    with pytest.raises(ValueError, match="Slice job-1: "):
        spec_body("job-1", kind, extents, partitions)


def test_devices_without_slices_are_told() -> None:
    device: Device = other_cluster("fat_tree").device
    with pytest.raises(ValueError, match="h100-sxm is no device of Slices"):
        type_of(device)
