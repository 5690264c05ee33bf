"""Shared by the tests of `attention`, `measure`, `table` and `timing`."""

from types import ModuleType, SimpleNamespace

from costmodel.measure import Detected

H200 = Detected("NVIDIA H200", "h200", is_in_catalog=True, has_fp8=True)


def torch(*, is_available: bool, name: str = "NVIDIA L4") -> ModuleType:
    module = ModuleType("torch")
    cuda = SimpleNamespace(
        is_available=lambda: is_available,
        get_device_name=lambda: name,
        get_device_capability=lambda: (8, 9),
        mem_get_info=lambda: (100, 1000),
        memory_reserved=lambda: 50,
        memory_allocated=lambda: 10,
    )
    module.__dict__.update(cuda=cuda, float8_e4m3fn=object())
    return module
