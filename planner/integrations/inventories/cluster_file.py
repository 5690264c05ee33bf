"""The files of an imported cluster: device, fabric and health as YAML, and which node is which server."""

import re
from dataclasses import dataclass
from textwrap import dedent

import yaml

from planner.fabrics import fabrics, plugin_of
from planner.fabrics.usual_numbers import usual_numbers
from planner.integrations.inventories.even_cluster import EvenCluster, even_cluster
from planner.integrations.inventories.inventory import Inventory, some
from planner.integrations.inventories.partitions import SHAPES, are_hosts
from planner.integrations.inventories.product_names import device_of
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError

_FIELD = re.compile(r"^(  (\w+): +)([^#\n]*?)( *#.*)?$", re.MULTILINE)
_COUNTED = re.compile(r"kind|racks|servers|sides|partitions|\w+_per_server")
"""fields that an inventory tells, with what follows from them"""
FIBERS = 4
"""between each ordered pair of servers, as of a new instance"""


@dataclass(frozen=True)
class ImportedCluster:
    """What `planner import` writes and says."""

    text: str
    """of the cluster, YAML"""
    names: str
    """of the map from nodes to servers, YAML"""
    cluster: Cluster
    notes: tuple[str, ...]


def imported(
    inventory: Inventory, *, fabric: str, device: str | None = None, one_rack: bool = False, join: bool = False
) -> ImportedCluster:
    """The cluster of an inventory on a kind of fabric; `join`: the nodes of a rack are one server.

    InputError where its nodes are of several devices, of none that is known, or too uneven.
    """
    kept, chosen = _of_one_device(inventory, device)
    even = even_cluster(kept, one_rack=one_rack, join=join)
    body, assumed = _fabric_text(even, fabric, chosen)
    named = Cluster.model_validate(files.parse_text(body, inventory.where)).fabric
    by_node = [slot for host in plugin_of(named).hosts(named) for slot in host] or range(even.accelerators)
    failed = [named.device_name(server, by_node[slot]) for server, slot in even.failed]
    health = f"health:\n  failed_tiles: [{', '.join(failed)}]\n" if failed else ""
    notes = (*even.notes, f"assumed, since no inventory says it: {', '.join(assumed)}")
    heading = "".join(f"# {_line(note)}\n" for note in (f"Imported from {inventory.where}.", *notes))
    text = heading + body + health
    cluster = files.validate(Cluster, files.parse_text(text, inventory.where), inventory.where)
    return ImportedCluster(text, _names(even, named.server_names, join), cluster, notes)


def _line(note: str) -> str:
    return " ".join(note.split())


def _of_one_device(inventory: Inventory, wanted: str | None) -> tuple[Inventory, str]:
    """Nodes of one device of the catalog; of several, those of the one that is wanted."""
    found = {node.product: device_of(node.product) for node in inventory.nodes if node.product}
    mine = {product for product, device in found.items() if device is not None and device == wanted}
    if wanted is not None and (len(found) < 2 or not mine):
        return inventory, wanted
    if wanted is not None:
        others = [node.name for node in inventory.nodes if node.product not in mine]
        kept = tuple(node for node in inventory.nodes if node.product in mine)
        told = (f"{some(others)} have other accelerators: left out",)
        return Inventory(inventory.where, kept, inventory.notes + told), wanted
    if not found:
        problem = "no accelerator is named; give the device of the catalog by --device, such as h100-sxm"
        raise InputError(inventory.where, "nodes", problem)
    devices = {*found.values()}
    device = devices.pop()
    if devices or device is None:
        names = some(sorted(found))
        problem = (
            "are several" if devices else "is no name of a device of the catalog (a part or a share of one is none)"
        )
        raise InputError(inventory.where, "nodes", f"{names}: {problem}; give one by --device")
    return inventory, device


def _fabric_text(even: EvenCluster, kind: str, device: str) -> tuple[str, list[str]]:
    """Device and fabric in YAML, with the catalog's numbers of servers of the device, and the fields nobody told."""
    template = fabrics()[kind].template
    text = dedent(template.text(servers=len(even.racks[0]), tiles=even.accelerators, fibers=FIBERS))
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    if len(even.racks) > 1:
        lines.insert(2, f"  racks: {len(even.racks)}")
    if "partitions" in template.schema.model_fields and all(each and are_hosts(each.nodes) for each in even.servers):
        lines.insert(2, f"  partitions: {[list(shape) for shape in reversed(SHAPES)]}")
    usual = usual_numbers(device)
    assumed: list[str] = []

    def number(match: re.Match[str]) -> str:
        head, key, value, comment = match.groups()
        if _COUNTED.fullmatch(key) or not value:
            return match[0]
        assumed.append(key)
        return f"{head}{usual[key]}" if key in usual else f"{head}{value}{comment or ''}"

    body = _FIELD.sub(number, "\n".join(lines))
    return f"device: {device}\n{body}\n", assumed


def _names(even: EvenCluster, servers: tuple[str, ...], join: bool) -> str:
    """Server of each node, in the form of `nodes` of slurm.yaml and kubernetes.yaml; of joined nodes the rack of each
    server, too."""
    placed = [(name, server) for name, server in zip(servers, even.servers, strict=True) if server is not None]
    data = {"nodes": {node.name: name for name, server in placed for node in server.nodes}}
    if join:
        data["partitions"] = {name: server.nodes[0].rack or name for name, server in placed}
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
