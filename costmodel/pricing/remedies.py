"""What would let a workload have a candidate: choices that its file leaves out, each tried by listing with them."""

from collections.abc import Iterator
from typing import Any

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.hardware.offload import offload_name
from costmodel.parallelism.mappings import OFFLOAD
from costmodel.pricing.limits import ANYWHERE, Limits
from costmodel.pricing.patience import shorter_waits
from costmodel.pricing.unlisted import lack_of
from costmodel.workloads import Workload

Fields = dict[str, Any]
_OFFLOADS = {
    "transformer_training": tuple(offload_name(code) for code in range(1, 1 << len(OFFLOAD))),
    "transformer_inference": ("cache", "weights", "weights+cache"),
    "dlrm": ("tables",),
    "network_training": ("activations",),
}
"""what each kind of workload may keep in a second tier, the mildest first"""


def remedies(
    workload: Workload, size: int, device: Device, fabric: FabricBase, limits: Limits = ANYWHERE
) -> tuple[str, ...]:
    """Changes of a job without candidates on `size` devices of which each, by itself, gives it some.

    Where no field alone does, one entry names several that do together; () where those do not either.
    """

    def works(fields: Fields, fewer: Limits = limits) -> bool:
        return lack_of(workload.model_copy(update=fields), size, device, fabric, fewer) is None

    tried = list(_wider(workload, device, fabric))
    if workload.limits is not None and works({"limits": None}):
        return tuple(shorter_waits(workload, size, device, fabric, limits))
    found = {name: _written(name, value) for name, value in reversed(tried) if works({name: value})}
    lifted = [f"no limit {name}" for name, fewer in limits.without_one().items() if works({}, fewer)]
    if found or lifted:
        return (*reversed(found.values()), *lifted)
    together: Fields = dict(tried)
    if not together or not works(together):
        return ()
    for name in tuple(together):
        fewer_fields = {key: value for key, value in together.items() if key != name}
        if works(fewer_fields):
            together = fewer_fields
    return (" with ".join(_written(name, value) for name, value in together.items()),)


def _wider(workload: Workload, device: Device, fabric: FabricBase) -> Iterator[tuple[str, Any]]:
    """Fields of the workload and a choice for each that asks for less memory or divides more finely; the choices of
    one field from the mildest to the strongest."""
    has_tier = any(split.device.offload for split in fabric.splits(device, workload))
    offload = [*_OFFLOADS[workload.kind]] if has_tier else []
    choices: dict[str, list[Any]] = {
        "uneven_stages": [True], "recompute": ["selective", "full"], "zero": [1, 2, 3], "offload": offload,
        "micro_batch": [1], "interleave": [1], "context": [None], "expert": [None],
    }  # fmt: skip
    for name, values in choices.items():
        if name not in type(workload).model_fields:
            continue
        given = getattr(workload, name)
        listed = given if isinstance(given, tuple) else (given,)
        yield from ((name, value) for value in values if value not in listed and None not in listed)


def _written(name: str, value: Any) -> str:
    """uneven_stages: true"""
    if value is None:
        return f"{name} left out"
    return f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
