"""Price of one candidate at a time, in plain Python: what `costmodel.score` says of all rows at once."""

from collections.abc import Iterator

from costmodel.candidates import DIMENSIONS, Candidates
from costmodel.fabrics import FabricBase
from costmodel.hardware import Device

Prices = dict[str, float]


def score_row(candidates: Candidates, row: int, device: Device, fabric: FabricBase) -> Prices:
    """Every column of `Scores` for one row; communication by dimension."""
    graph, m = candidates.graph, int(candidates.mapping[row])
    degrees = {name: int(getattr(candidates.mappings, name)[m]) for name in DIMENSIONS}
    num_devices = degrees["tensor"] * degrees["pipeline"] * degrees["data"]
    prices = {"compute_s": 0.0, "memory_s": 0.0, "reconfiguration_s": 0.0, "bubble_s": 0.0}
    prices |= {f"{name}_s": 0.0 for name in DIMENSIONS} | {"network_j": 0.0}
    flops = moved_bytes = repeated_s = 0.0
    for o in range(len(graph.operators)):
        count = float(graph.count[o, m])
        compute_s = float(graph.flops[o, m]) / (device.flops_per_s[graph.precision] * device.matrix_efficiency)
        memory_s = float(graph.memory_bytes[o, m]) / (device.memory_bytes_per_s * device.memory_efficiency)
        time_s = count * (max(compute_s, memory_s) + device.launch_s)
        prices["compute_s" if compute_s >= memory_s else "memory_s"] += time_s
        repeated_s += time_s if graph.in_bubble[o] else 0.0
        flops += count * float(graph.flops[o, m])
        moved_bytes += count * float(graph.memory_bytes[o, m])
    for dimension, time_s, sent_bytes, is_repeated in _messages(candidates, row):
        prices[f"{dimension}_s"] += time_s
        repeated_s += time_s if is_repeated else 0.0
        prices["network_j"] += sent_bytes * fabric.network_j_per_byte(_is_near(candidates, row, dimension))
    inner, outer = _changes(candidates, row)
    prices["reconfiguration_s"] = (inner + outer) * fabric.phase_change_s()
    repeated_s += inner * fabric.phase_change_s()
    prices["bubble_s"] = (float(graph.bubble[m]) - 1) * repeated_s
    prices["step_s"] = sum(value for name, value in prices.items() if name.endswith("_s"))
    prices["compute_j"] = flops * device.energy_j_per_flop[graph.precision]
    prices["memory_j"] = moved_bytes * device.memory_j_per_byte
    prices["static_j"] = prices["step_s"] * device.idle_w
    for name in ("compute_j", "memory_j", "network_j", "static_j"):
        prices[name] *= num_devices
    prices["work"] = float(graph.work[m])
    prices["footprint_bytes"] = float(graph.footprint_bytes[m])
    return prices


def _messages(candidates: Candidates, row: int) -> Iterator[tuple[str, float, float, bool]]:
    """Dimension, seconds, bytes that a rank sends, and whether the bubble repeats it, of each message."""
    graph, m = candidates.graph, int(candidates.mapping[row])
    for i, dimension in enumerate(graph.dimensions):
        plan = candidates.plans[int(candidates.plan[DIMENSIONS.index(dimension), row])]
        count, size = float(graph.message_count[i, m]), float(graph.message_bytes[i, m])
        time_s = count * (plan.latency_s + plan.seconds_per_byte * size)
        yield dimension, time_s, count * size * plan.bytes_per_byte, bool(graph.message_in_bubble[i])


def _is_near(candidates: Candidates, row: int, dimension: str) -> bool:
    """Whether a group along the dimension surely lies in one server."""
    m, block = int(candidates.mapping[row]), int(candidates.block[row])
    if dimension == "tensor":
        return block % int(candidates.mappings.tensor[m]) == 0
    return block == int(candidates.mappings.num_devices[m])


def _changes(candidates: Candidates, row: int) -> tuple[float, float]:
    """Switches to and back from pipeline circuits between tensor phases, and to and back from data circuits."""
    graph, m = candidates.graph, int(candidates.mapping[row])
    counts = dict.fromkeys(DIMENSIONS, 0.0)
    for i, dimension in enumerate(graph.dimensions):
        counts[dimension] += float(graph.message_count[i, m])
    inner = 2 * counts["pipeline"] if counts["tensor"] else 0.0
    outer = 2 * counts["data"] if counts["tensor"] or counts["pipeline"] else 0.0
    return inner, outer
