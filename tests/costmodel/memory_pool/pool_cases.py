"""Shared by the tests of `parts` and `pool`."""

from typing import Any

from costmodel.memory_pool.parts import Shoreline, load_shoreline
from costmodel.memory_pool.pool import MemoryPool

SHORELINE = load_shoreline("photonic-shoreline")


def pool(total_bytes_per_s: float | None = None, **fields: Any) -> MemoryPool:
    """That of the catalog, or one whose I/Os carry so much together."""
    shoreline = SHORELINE if total_bytes_per_s is None else SHORELINE.with_bandwidth(total_bytes_per_s)
    return MemoryPool.model_validate({"shoreline": shoreline, "unit": "memory-unit"} | fields)


def made_shoreline(**fields: Any) -> Shoreline:
    return Shoreline.model_validate(SHORELINE.model_dump() | fields)
