"""One Slice as the API of GKE takes it: type, topology, partitions, and names that its controller can use."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from costmodel.hardware.device import Device
from costmodel.spec import Spec

GROUP = "accelerator.gke.io"
API_VERSION = f"{GROUP}/v1beta1"
TYPES = {"tpu-v6e": "v6e", "tpu-v7": "tpu7x"}
"""type of a Slice by the device of the catalog"""
MOST_LETTERS = 49
"""of a name: the controller adds a hash, and 63 may be the whole"""


class SliceSpec(Spec):
    """`spec` of a Slice, by the pattern of its definition."""

    type: Literal["v6e", "tpu7x"]
    topology: str = Field(pattern=r"^\d+x\d+(x\d+)?$")
    partition_ids: tuple[str, ...] = Field(min_length=1, alias="partitionIds")


def type_of(device: Device) -> str:
    """Type of Slices of a device; ValueError where it has none."""
    kind = next((TYPES[name] for name in device.ancestry if name in TYPES), None)
    if kind is None:
        raise ValueError(f"{device.name} is no device of Slices; these are {' and '.join(TYPES)}")
    return kind


def spec_body(name: str, kind: str, extents: Sequence[object], partitions: Sequence[str]) -> dict[str, Any]:
    """`spec` of one Slice, validated; ValueError."""
    topology = "x".join(map(str, extents))
    try:
        spec = SliceSpec.model_validate({"type": kind, "topology": topology, "partitionIds": partitions})
    except ValidationError as error:
        raise ValueError(f"Slice {name}: {error.errors()[0]['msg']}") from None
    return spec.model_dump(mode="json", by_alias=True)


def resource(name: str, spec: Mapping[str, Any], annotations: Mapping[str, str] | None = None) -> dict[str, Any]:
    """One object."""
    about = {"name": name} | ({"annotations": dict(annotations)} if annotations else {})
    return {"apiVersion": API_VERSION, "kind": "Slice", "metadata": about, "spec": dict(spec)}
