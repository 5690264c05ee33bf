"""Energy of a step by the clock, in plain Python: what each accelerator and server draws while it does what."""

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.systems import load_system, system_of
from costmodel.parallelism.mappings import DIMENSIONS


def drawn_j(
    prices: dict[str, float], device: Device, ranks: int, often: float = 1.0, software_s: float = 0.0
) -> dict[str, float]:
    """Energies of so many steps, each followed by software; `prices` are those of one, without a limit."""
    energies = step_j(
        device, ranks, operators_s=prices["compute_s"] + prices["memory_s"], software_s=software_s,
        messages_s=sum(prices[f"{name}_s"] for name in DIMENSIONS), operations_j=prices["compute_j"],
        bytes_j=prices["memory_j"], beside_j=prices["tier_j"],
    )  # fmt: skip
    return {name: often * joules for name, joules in energies.items()}


def step_j(
    device: Device, ranks: int, *, operators_s: float, software_s: float, messages_s: float, operations_j: float,
    bytes_j: float, beside_j: float,
) -> dict[str, float]:  # fmt: skip
    """Of so many accelerators that run operators, software between them and messages for so long each.

    `operations_j` and `bytes_j` are what all of them take where nothing limits them, `beside_j` what memory takes that
    is no part of them.
    """
    running_s = operators_s + software_s
    running_j = running_s * ranks * device.active_w
    wanted_j, clock = operations_j + bytes_j + running_j, 1.0
    if device.power_limit_w is not None and wanted_j > 0:
        allowed_w = max(device.power_limit_w - device.idle_w, 0.0)
        clock = min(1.0, allowed_w * running_s * ranks / wanted_j)
    return {
        "compute_j": clock * operations_j,
        "memory_j": clock * bytes_j + beside_j,
        "active_j": clock * running_j + messages_s * ranks * device.active_w,
    }


def always_j(device: Device, fabric: FabricBase, ranks: int, seconds: float) -> dict[str, float]:
    """What is drawn whatever happens: by accelerators, and by the share of servers that is theirs."""
    return {
        "static_j": ranks * seconds * device.idle_w,
        "node_j": ranks * seconds * server_w(device, fabric),
    }


def server_w(device: Device, fabric: FabricBase) -> float:
    """Share of an accelerator in what its server draws beside: stated, of its kind, or by its power limit."""
    if fabric.node_overhead_w is not None:
        return fabric.node_overhead_w / fabric.devices_per_server
    known = device
    while True:
        try:
            system = system_of(known.name)
            return system.node_overhead_w / system.gpus_per_server
        except ValueError:
            if known.like is None:
                break
            known = load_device(known.like)
    usual = load_system("dgx-h100").node_overhead_w / 8
    return usual if device.power_limit_w is None else usual * device.power_limit_w / 700
