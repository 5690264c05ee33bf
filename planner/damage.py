"""Failures by name, and the instance in which those parts are down as well."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import ValidationError

from costmodel.fabrics import Lightpath
from planner.cluster import Cluster, FailedFiber
from planner.derive import edited
from planner.errors import InputError
from planner.instance import Instance

PartKind = Literal["tile", "port", "fiber"]
"""what `Health` records"""
FORMS = "s0.t1 (a tile), s0.t1:port, s0.t1:tx, s0.t1:rx, s0.t1:w3 (a laser), s0>s1#2 (a fiber) or s0>s1#2:w3"


@dataclass(frozen=True)
class Failure:
    """A part that fails, as `Health` records it.

    Health knows tiles, ports and fibers. A transmitter, a receiver or one laser of a tile counts as its port: a
    job of several ranks uses no tile whose port is not whole. One wavelength of a fiber counts as the fiber.
    """

    name: str
    """as given, such as s0.t1:w3"""
    kind: PartKind
    part: str
    """device or fiber that counts as failed, such as s0.t1"""

    @property
    def words(self) -> str:
        """s0.t1:w3 counts as the failed port of s0.t1."""
        if self.name in (self.part, f"{self.part}:port"):
            return f"{self.kind} {self.part} has failed"
        whole = "the failed port of " if self.kind == "port" else "failed fiber "
        return f"{self.name} counts as {whole}{self.part}"


def parse_failure(cluster: Cluster, name: str) -> Failure:
    """The part that a name means; InputError lists the forms of names."""
    fabric = cluster.fabric
    head, _, detail = name.partition(":")
    if detail and not _is_detail(fabric.wavelengths_per_tile if isinstance(fabric, Lightpath) else 0, head, detail):
        raise InputError("failed", name, f"names no part; give {FORMS}")
    if ">" in head:
        _require_fiber(cluster, name, head)
        return Failure(name, "fiber", head)
    try:
        fabric.parse_device(head)
    except ValueError as error:
        raise InputError("failed", name, f"{error}; give {FORMS}") from None
    return Failure(name, "port" if detail else "tile", head)


def _is_detail(num_wavelengths: int, head: str, detail: str) -> bool:
    if match := re.fullmatch(r"w(0|[1-9]\d{0,3})", detail):
        return int(match[1]) < num_wavelengths
    return ">" not in head and detail in ("port", "tx", "rx")


def _require_fiber(cluster: Cluster, name: str, head: str) -> None:
    fabric = cluster.fabric
    match = re.fullmatch(r"(.+)>(.+)#(0|[1-9]\d{0,5})", head)
    try:
        pair = (fabric.parse_server(match[1]), fabric.parse_server(match[2])) if match else None
    except ValueError as error:
        raise InputError("failed", name, str(error)) from None
    if match is None or pair is None:
        raise InputError("failed", name, f"names no part; give {FORMS}")
    count = fabric.num_fibers(*pair)
    if int(match[3]) >= count:
        problem = f"{match[1]} to {match[2]} has {count} fibers, counted from 0; there is no fiber {match[3]}"
        raise InputError("failed", name, problem)


def parse_failures(cluster: Cluster, names: Iterable[str]) -> tuple[Failure, ...]:
    """Failures by name, each once."""
    return tuple(dict.fromkeys(parse_failure(cluster, name) for name in names))


def damaged(instance: Instance, failures: Sequence[Failure]) -> Instance:
    """The instance with these parts down as well; InputError where a resident that may not move stands on one."""
    health = instance.cluster.health
    known = {f"{f.source}>{f.destination}#{f.index}" for f in health.failed_fibers}
    parts = {kind: [f.part for f in failures if f.kind == kind] for kind in ("tile", "port", "fiber")}
    fibers = [_fiber(name) for name in dict.fromkeys(parts["fiber"]) if name not in known]
    changed = edited(
        health,
        failed_tiles=tuple(dict.fromkeys((*health.failed_tiles, *parts["tile"]))),
        failed_ports=tuple(dict.fromkeys((*health.failed_ports, *parts["port"]))),
        failed_fibers=(*health.failed_fibers, *fibers),
    )
    try:
        return edited(instance, cluster=edited(instance.cluster, health=changed))
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError("failed", ", ".join(f.name for f in failures), message) from None


def _fiber(name: str) -> FailedFiber:
    ends, _, index = name.rpartition("#")
    source, _, destination = ends.partition(">")
    return FailedFiber.model_validate({"from": source, "to": destination, "index": int(index)})
