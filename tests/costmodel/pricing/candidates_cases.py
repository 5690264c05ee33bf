"""Shared by the tests of `candidates`."""

from typing import Any

from pydantic import TypeAdapter

from costmodel.hardware.device import load_device
from costmodel.workloads import Workload

DEVICE = load_device("h100-sxm")


def workload_of(fields: dict[str, Any]) -> Workload:
    workload: Workload = TypeAdapter(Workload).validate_python(fields)
    return workload
