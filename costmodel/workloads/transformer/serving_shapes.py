"""Distinct shapes of the layers that replicas run, and the memory of each."""

import numpy as np

from costmodel.hardware.device import Device
from costmodel.hardware.memory.columns import Memories, MemoryColumns
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.opgraph import Shapes

KEYS = ("tensor", "expert", "pipeline", "micro_batch", "prefill_tensor", "prefill_expert", "offload", "job")
"""columns on which the operators of a layer depend"""


def serving_shapes(mappings: Mappings) -> Shapes:
    """Those of some mappings."""
    return Shapes.distinct({name: getattr(mappings, name) for name in KEYS})


def shapes_on(mappings: Mappings, device: Device, memories: Memories) -> tuple[Shapes, MemoryColumns]:
    """Those of some mappings on a device, or on devices like it with other memories, and the memory of each shape."""
    if memories is None:
        return serving_shapes(mappings), MemoryColumns.of(device)
    shapes = Shapes.distinct({**{name: getattr(mappings, name) for name in KEYS}, "memory": memories[1]})
    return shapes, memories[0].take(shapes.columns["memory"].astype(np.int64))
