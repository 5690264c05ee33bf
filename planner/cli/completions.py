"""Values that a shell offers while an option is typed; each list is imported when it is asked for."""

from collections.abc import Iterable


def policies(incomplete: str) -> list[str]:
    """Policies of this package and of others; of several joined by commas the last one is completed."""
    from importlib.metadata import entry_points

    from planner.cli.inputs import POLICIES

    *done, last = incomplete.split(",")
    known = (*POLICIES, *entry_points(group="planner.policies").names)
    return [",".join([*done, name]) for name in _starting(known, last) if name not in done]


def fabrics(incomplete: str) -> list[str]:
    """Kinds of fabrics."""
    from planner.fabrics import fabrics as known

    return _starting(known(), incomplete)


def devices(incomplete: str) -> list[str]:
    """Devices of the catalog."""
    from costmodel.hardware.device import device_names

    return _starting(device_names(), incomplete)


def models(incomplete: str) -> list[str]:
    """Models of the catalog."""
    from costmodel.workloads.from_model import MODEL_KINDS

    return _starting((name for kind in MODEL_KINDS for name in kind.names()), incomplete)


def _starting(names: Iterable[str], start: str) -> list[str]:
    return sorted(name for name in names if name.startswith(start))
