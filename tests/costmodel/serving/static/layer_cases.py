"""Shared by the tests of `engine` and `layer`."""

from costmodel.serving.static import Engine


def engine(**fields: object) -> Engine:
    base = {"flops_per_s": 300e12, "memory_bytes_per_s": 2e12, "capacity_bytes": 80e9}
    return Engine.model_validate(base | fields)
