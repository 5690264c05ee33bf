"""planner import: a cluster from what a scheduler or a topology tool knows of its nodes."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planner.cli import completions, exits
from planner.cli.fabric_option import FabricKind
from planner.cli.inputs import require_new, require_not_given, write_text
from planner.model.errors import InputError

if TYPE_CHECKING:
    from planner.integrations.inventories import ImportedCluster

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Inventory, and topology if there is one.")]
Source = Annotated[
    Literal["slurm", "kubernetes", "topograph", "infragraph"], typer.Option("--from", help="Program that wrote them.")
]
DeviceName = Annotated[
    str | None,
    typer.Option(autocompletion=completions.devices, help="Device of the catalog; else by the names of accelerators."),
]
Accelerators = Annotated[int | None, typer.Option(min=1, max=4096, help="Accelerators of a node, if no file says.")]
TopologyName = Annotated[str | None, typer.Option(metavar="NAME", help="Which one of topology.yaml.")]
RackLabel = Annotated[str | None, typer.Option(metavar="KEY", help="Label of Kubernetes nodes: their rack.")]
Join = Annotated[
    bool, typer.Option("--join-nodes", help="The nodes of a rack are one server: an NVLink domain, a cube.")
]


def import_(
    inventory: Files,
    source: Source,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Cluster to write, YAML.")],
    fabric: FabricKind = "fat_tree",
    device: DeviceName = None,
    accelerators: Accelerators = None,
    topology: TopologyName = None,
    rack_label: RackLabel = None,
    one_rack: Annotated[bool, typer.Option("--one-rack", help="All nodes are one rack.")] = False,
    join: Join = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the files.")] = False,
) -> int:
    """Write the cluster file of an inventory, and beside it FILE.nodes.yaml: which node is which server.

    slurm: JSON of `scontrol show nodes --json` (22.05: `sinfo --json`), topology.conf, topology.yaml. kubernetes:
    `kubectl get nodes -o json`, a Topology of Kueue. topograph: its topology.conf or node labels. infragraph: one file.
    Numbers that no inventory has are those of the catalog and of `planner new`, and are named.
    """
    from planner.integrations.inventories import SOURCES, Known, imported

    names = output.with_suffix(".nodes.yaml")
    for path in (output, names):
        require_not_given(path, "--output", *inventory)
        require_new(path, "--output", force=force)
    if one_rack and join:
        raise InputError("--one-rack", "", "stands against --join-nodes, whose servers are racks; give one")
    chosen = _catalog_name(device)
    read = SOURCES[source](inventory, Known(accelerators, topology, rack_label))
    made = imported(read, fabric=fabric, device=chosen, one_rack=one_rack, join=join)
    write_text(output, made.text)
    write_text(names, made.names)
    _tell(made, output, names)
    return exits.PLAN


def _catalog_name(device: str | None) -> str | None:
    from costmodel.hardware.device import load_device

    try:
        return None if device is None else load_device(device).name
    except ValueError as error:
        raise InputError("--device", f"'{device}'", str(error)) from None


def _tell(made: "ImportedCluster", output: Path, names: Path) -> None:
    for note in made.notes:
        print(f"note: {note}", file=sys.stderr)
    found = made.cluster.fabric
    print(
        f"wrote {output} and {names}: {found.kind}, {found.racks} x {found.servers} servers of "
        f"{found.devices_per_server} {made.cluster.device.name}, {made.cluster.num_healthy:,} of {found.num_devices:,} "
        f"work; next: planner replay TRACE --cluster {shlex.quote(str(output))}"
    )
