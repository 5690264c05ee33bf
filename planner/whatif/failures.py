"""Failures by name, and the instance in which those parts are down as well."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import ValidationError

from costmodel.fabrics import Inventory
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.errors import InputError
from planner.model.health import FailedFiber, FailedLaser, FailedReceiver, Health
from planner.model.instance import Instance
from planner.whatif.part_names import told_parts

PartKind = Literal[
    "tile",
    "port",
    "fiber",
    "laser",
    "receiver",
    "switch",
    "memory unit",
    "tray port",
    "uplink",
    "memory node",
    "rack link",
]
"""what `Health` records"""


@dataclass(frozen=True)
class Failure:
    """A part that fails, as `Health` records it.

    Health knows tiles, ports, fibers, and lasers and receivers of one wavelength. All lasers of a tile, or all
    receivers, count as its port: a job of several ranks uses no tile without a port. One wavelength of a fiber
    counts as the fiber.
    """

    name: str
    """as given, such as s0.t1:tx"""
    kind: PartKind
    part: str
    """what counts as failed: a device such as s0.t1, a fiber, a laser, a receiver or an optical switch"""

    @property
    def words(self) -> str:
        """s0.t1:tx counts as the failed port of s0.t1."""
        if self.name in (self.part, f"{self.part}:port"):
            return f"{'accelerator' if self.kind == 'tile' else self.kind} {self.part} has failed"
        whole = "the failed port of " if self.kind == "port" else "failed fiber "
        return f"{self.name} counts as {whole}{self.part}"


def parse_failure(cluster: Cluster, name: str) -> Failure:
    """The part that a name means; InputError has the parts of this fabric and the nearest name."""
    fabric = cluster.fabric
    kind = kind_of(fabric.inventory(), name)
    if kind is not None:
        return Failure(name, kind, name.removesuffix(":port"))
    head, _, detail = name.partition(":")
    if detail and not _is_detail(fabric.num_wavelengths, head, detail):
        raise InputError("failed", name, f"names no part; {told_parts(cluster, name)}")
    if ">" in head:
        _require_fiber(cluster, name, head)
        return Failure(name, "fiber", head)
    try:
        fabric.parse_device(head)
    except ValueError as error:
        raise InputError("failed", name, f"{error}; {told_parts(cluster, name)}") from None
    return Failure(name, "port", head)


def kind_of(inventory: Inventory, name: str) -> PartKind | None:
    """The kind of part that has this name; None where none has."""
    kinds: tuple[PartKind, ...] = get_args(PartKind)
    return next((kind for kind in kinds if kind in inventory and _is_parsed(inventory[kind].parse, name)), None)


def _is_parsed(parse: Callable[[str], object], name: str) -> bool:
    try:
        parse(name)
    except ValueError:
        return False
    return True


def _is_detail(num_wavelengths: int, head: str, detail: str) -> bool:
    if match := re.fullmatch(r"(rx:)?w(0|[1-9]\d{0,3})", detail):
        return int(match[2]) < num_wavelengths and not (match[1] and ">" in head)
    return ">" not in head and detail in ("port", "tx", "rx")


def _require_fiber(cluster: Cluster, name: str, head: str) -> None:
    fabric = cluster.fabric
    match = re.fullmatch(r"(.+)>(.+)#(0|[1-9]\d{0,5})", head)
    try:
        pair = (fabric.parse_server(match[1]), fabric.parse_server(match[2])) if match else None
    except ValueError as error:
        raise InputError("failed", name, str(error)) from None
    if match is None or pair is None:
        raise InputError("failed", name, f"names no part; {told_parts(cluster, name)}")
    count = fabric.num_fibers(*pair)
    if int(match[3]) >= count:
        problem = f"{match[1]} to {match[2]} has {count} fibers, counted from 0; there is no fiber {match[3]}"
        raise InputError("failed", name, problem)


def parse_failures(cluster: Cluster, names: Iterable[str]) -> tuple[Failure, ...]:
    """Failures by name, each once."""
    return tuple(dict.fromkeys(parse_failure(cluster, name) for name in names))


def worsened(health: Health, failures: Sequence[Failure]) -> Health:
    """Health with these parts down as well."""
    known = {f"{f.source}>{f.destination}#{f.index}" for f in health.failed_fibers}
    kinds: tuple[PartKind, ...] = get_args(PartKind)
    parts = {kind: dict.fromkeys(f.part for f in failures if f.kind == kind) for kind in kinds}
    fibers = [_fiber(name) for name in parts["fiber"] if name not in known]
    return edited(
        health,
        failed_tiles=tuple(dict.fromkeys((*health.failed_tiles, *parts["tile"]))),
        failed_ports=tuple(dict.fromkeys((*health.failed_ports, *parts["port"]))),
        failed_fibers=(*health.failed_fibers, *fibers),
        failed_switches=tuple(dict.fromkeys((*health.failed_switches, *parts["switch"]))),
        failed_memory_units=tuple(dict.fromkeys((*health.failed_memory_units, *parts["memory unit"]))),
        failed_tray_ports=tuple(dict.fromkeys((*health.failed_tray_ports, *parts["tray port"]))),
        failed_uplinks=tuple(dict.fromkeys((*health.failed_uplinks, *parts["uplink"]))),
        failed_memory_nodes=tuple(dict.fromkeys((*health.failed_memory_nodes, *parts["memory node"]))),
        failed_upper=tuple(dict.fromkeys((*health.failed_upper, *parts["rack link"]))),
        failed_lasers=tuple(dict.fromkeys((*health.failed_lasers, *map(_laser, parts["laser"])))),
        failed_receivers=tuple(dict.fromkeys((*health.failed_receivers, *map(_receiver, parts["receiver"])))),
    )


def damaged(instance: Instance, failures: Sequence[Failure]) -> Instance:
    """The instance with these parts down as well; InputError where a resident that may not move stands on one."""
    cluster = damaged_cluster(instance.cluster, failures)
    with _told(failures):
        return edited(instance, cluster=cluster)


def damaged_cluster(cluster: Cluster, failures: Sequence[Failure]) -> Cluster:
    """The cluster with these parts down as well; InputError where it can be nothing without one."""
    with _told(failures):
        return edited(cluster, health=worsened(cluster.health, failures))


@contextmanager
def _told(failures: Sequence[Failure]) -> Iterator[None]:
    """What is wrong without these parts is told of them."""
    try:
        yield
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError("failed", ", ".join(f.name for f in failures), message) from None


def _laser(name: str) -> FailedLaser:
    tile, _, wavelength = name.partition(":w")
    return FailedLaser(tile=tile, wavelength=int(wavelength))


def _receiver(name: str) -> FailedReceiver:
    tile, _, wavelength = name.partition(":rx:w")
    return FailedReceiver(tile=tile, wavelength=int(wavelength))


def _fiber(name: str) -> FailedFiber:
    ends, _, index = name.rpartition("#")
    source, _, destination = ends.partition(">")
    return FailedFiber.model_validate({"from": source, "to": destination, "index": int(index)})
