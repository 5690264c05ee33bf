"""InfraGraph, YAML or JSON of its `Infrastructure`.

Instances of devices with accelerators (`xpu`, formerly `npu`) are nodes; nodes on the same instances of devices without
any, the switches, are one rack.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from planner.integrations.inventories.documents import count, items, mapping, text
from planner.integrations.inventories.inventory import Inventory, InventoryNode, Known
from planner.integrations.inventories.product_names import device_of
from planner.model import files
from planner.model.errors import InputError

Rows = Mapping[str, Mapping[str, Any]]
MOST_NESTED = 16
"""devices within devices"""
MOST_INSTANCES = 65536
_END = re.compile(r"([^\[\]]+)(?:\[([0-9:, ]*)\])?")
_GBPS = {"gigabits_per_second": 1 / 8, "gigabytes_per_second": 1.0}
"""GB/s of each unit of bandwidth"""


def read_infragraph(paths: Sequence[Path], known: Known) -> Inventory:
    """The nodes of one file; InputError names its field."""
    if len(paths) > 1:
        raise InputError(str(paths[1]), "", "is a second file; an InfraGraph is one")
    where = str(paths[0])
    data = files.parse_text(files.read_text(paths[0], wanted="an InfraGraph"), where)
    devices = {
        text(each.get("name"), where, "devices.name"): each for each in items(data.get("devices"), where, "devices")
    }
    instances = {
        text(each.get("name"), where, "instances.name"): each
        for each in items(data.get("instances"), where, "instances")
    }
    found = {name: _accelerators(str(each.get("device")), devices, where) for name, each in instances.items()}
    racks, link = _racks(data, instances, {name for name, (number, _) in found.items() if not number}, where)
    rows = []
    for name, each in instances.items():
        number, product = found[name]
        for index in range(_size(each, where) if number else 0):
            rows.append(InventoryNode(f"{name}.{index}", number, product, racks.get(f"{name}.{index}", "")))
    notes = ["no health in an InfraGraph: nothing is failed"]
    if not racks:
        notes.append("no edges from nodes to switches: all nodes are one rack")
    elif lacking := [row.name for row in rows if not row.rack]:
        raise InputError(where, "edges", f"{lacking[0]} has no edge to a switch; add it, so that its rack is known")
    if link:
        notes.append(f"links to switches are of {link}: see whether network_bandwidth, for each accelerator, is that")
    return Inventory.of(where, rows, notes)


def _size(instance: Mapping[str, Any], where: str) -> int:
    number = count(instance.get("count"), where, f"instances[{instance.get('name')}].count")
    if number > MOST_INSTANCES:
        raise InputError(where, f"instances[{instance.get('name')}].count", f"{number} is more than {MOST_INSTANCES}")
    return number


def _accelerators(device: str, devices: Rows, where: str, depth: int = 0) -> tuple[int, str]:
    """Number and product of the accelerators of a device and of those within it."""
    if device not in devices or depth > MOST_NESTED:
        raise InputError(where, f"devices[{device}]", "does not exist, or contains itself; define it")
    number, product = 0, ""
    for part in items(devices[device].get("components"), where, f"devices[{device}].components"):
        each = count(part.get("count"), where, f"devices[{device}].{part.get('name')}.count")
        if part.get("choice") in ("xpu", "npu"):
            number, inner = number + each, next(filter(device_of, _names(part, device)), "")
        elif part.get("choice") == "device":
            within, inner = _accelerators(str(part.get("name")), devices, where, depth + 1)
            number += each * within
        else:
            continue
        product = product or inner
    return number, product


def _names(part: Mapping[str, Any], device: str) -> Iterator[str]:
    """What may name the accelerator: the component, its description, the device."""
    yield from (str(part.get("name")), str(part.get("description") or ""), device, device.removeprefix("dgx"))


def _racks(
    data: Mapping[str, Any], instances: Rows, switches: set[str], where: str
) -> tuple[dict[str, str], str | None]:
    """Switches of each node as the name of its rack, and the bandwidth of the slowest link to them."""
    of_node: defaultdict[str, set[str]] = defaultdict(set)
    used = set[str]()
    for number, edge in enumerate(items(data.get("edges"), where, "edges")):
        at = f"edges[{number}]"
        ends = [_end(mapping(edge.get(key), where, f"{at}.{key}"), instances, where, at) for key in ("ep1", "ep2")]
        kinds = [name in switches for name, _ in ends]
        if kinds[0] == kinds[1]:
            continue
        (node, hosts), (switch, taken) = ends if kinds[1] else ends[::-1]
        pairs = zip(hosts, taken, strict=False) if len(hosts) == len(taken) and edge.get("scheme") == "one2one" else (
            (host, other) for host in hosts for other in taken
        )  # fmt: skip
        used.add(str(edge.get("link")))
        for host, other in pairs:
            of_node[f"{node}.{host}"].add(f"{switch}.{other}")
    links = [each for each in items(data.get("links"), where, "links") if each.get("name") in used]
    speeds = [speed for link in links if (speed := _speed(link, where)) is not None]
    slowest = f"{min(speeds):g} GB/s" if speeds else None
    return {node: "+".join(sorted(found)) for node, found in of_node.items()}, slowest


def _end(end: Mapping[str, Any], instances: Rows, where: str, at: str) -> tuple[str, list[int]]:
    """Instance and its numbers, as in host[0:2]; all where it has no brackets, or empty ones."""
    match = _END.fullmatch(text(end.get("instance"), where, f"{at}.instance"))
    if match is None or match[1] not in instances:
        raise InputError(where, f"{at}.instance", f"'{end.get('instance')}' is no instance; define it")
    size = _size(instances[match[1]], where)
    parts = [part.strip() for part in (match[2] or ":").split(",")]
    found: list[int] = []
    for part in parts:
        first, colon, last = part.partition(":")
        begin = int(first or 0)
        found += range(begin, int(last) if last else size) if colon else [begin]
        if found and not 0 <= max(found) < size:
            raise InputError(where, f"{at}.instance", f"'{match[0]}': {match[1]} has {size}, counted from 0")
    return match[1], found


def _speed(link: Mapping[str, Any], where: str) -> float | None:
    """GB/s of a link, one direction, where it is told."""
    physical = mapping(link.get("physical"), where, f"links[{link.get('name')}].physical")
    given = mapping(physical.get("bandwidth"), where, f"links[{link.get('name')}].bandwidth")
    for unit, factor in _GBPS.items():
        if isinstance(given.get(unit), int | float):
            return float(given[unit]) * factor
    return None
