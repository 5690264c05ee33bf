"""Models and devices by name, or by a file that describes them, where there is no instance."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.model.errors import InputError

if TYPE_CHECKING:
    from costmodel.hardware.device import Device
    from costmodel.workloads import Workload
    from costmodel.workloads.from_model import WorkloadChoices


def device_of(name: str) -> "Device":
    """A device of the catalog, or one that a file describes."""
    from costmodel.hardware.device import Device, load_device
    from planner.model.files import load

    if _is_file(name):
        return load(Device, name)
    with option_named("--device"):
        return load_device(name)


def device_fields(name: str) -> str | dict[str, Any]:
    """The name of a device, or the fields of one as its file has them."""
    from planner.model.files import parse_text, read_text

    if not _is_file(name):
        return name
    device_of(name)
    return parse_text(read_text(Path(name)), name)


def workload_of(model: str, choices: "WorkloadChoices") -> "Workload":
    """A model of the catalog at work, or one that a file describes."""
    from costmodel.workloads.from_model import kind_of_shape, workload_of_name
    from planner.model.files import load, parse_text, read_text

    if not _is_file(model):
        with option_named("--workload"):
            return workload_of_name(model, choices)
    kind = kind_of_shape(parse_text(read_text(Path(model)), model))
    shape = load(kind.shape, model)
    with option_named("--workload"):
        return kind.workload(shape, choices)


def _is_file(name: str) -> bool:
    return Path(name).suffix in (".json", ".yaml", ".yml")


@contextmanager
def option_named(name: str) -> Iterator[None]:
    """A ValueError inside becomes bad input of one option; bad input of another one stays that."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(name, "", str(error)) from None
