"""What a search over mappings found: its Pareto front, and the best mapping's operators under the roof."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.roofline import operator_s
from costmodel.wording import counted
from planner.plotting.style import plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from costmodel.hardware.device import Device
    from costmodel.pricing.search import SearchResult
    from costmodel.workloads import Workload

COLOURS = {"matrix": "#0072b2", "attention": "#d55e00", "elementwise": "#009e73"}


def draw_search(path: Path, found: SearchResult, workload: Workload, device: Device) -> None:
    """Front and roofline side by side, as an image file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    front(left, found)
    roofline(right, found, workload, device)
    figure.savefig(path, dpi=150)


def front(ax: Axes, found: SearchResult) -> Axes:
    """Time against energy of each mapping on the front, memory as colour, the fastest marked."""
    times = [float(option.scores.step_s[0]) for option in found.front]
    energies = [float(option.scores.energy_per_work_j[0]) for option in found.front]
    memory = [float(option.scores.footprint_bytes[0]) / 1e9 for option in found.front]
    dots = ax.scatter(times, energies, c=memory, cmap="viridis", s=22)
    best = found.best[0].scores
    ax.scatter(
        [float(best.step_s[0])], [float(best.energy_per_work_j[0])], marker="*", s=180, color="#d55e00", label="fastest"
    )
    ax.figure.colorbar(dots, ax=ax, label="memory of an accelerator (GB)")
    ax.set(xscale="log", yscale="log", xlabel="time of a step (s)", ylabel="energy per token (J)")
    ax.set_title(f"{counted(len(times), 'mapping')} that none beats in time, energy and memory")
    ax.legend(frameon=False)
    return plain_ticks(ax)


def roofline(ax: Axes, found: SearchResult, workload: Workload, device: Device) -> Axes:
    """Operators of the fastest mapping: operations per byte against what they reach, below the device's roof."""
    choice = found.best[0].configuration.choice(workload.menus())
    graph = workload.op_graph(Mappings.of(**choice), device)
    efficiency, _ = efficiency_of(device, graph.regime, graph.precision)
    peak, rate = device.matrix_flops_per_s(graph.precision), device.memory_bytes_per_s
    ridge = peak / rate
    intensity = np.geomspace(ridge / 1000, ridge * 100, 100)
    ax.plot(intensity, np.minimum(peak, intensity * rate), color="black", label=f"{device.name}, published peaks")
    shown: set[str] = set()
    for _, operator, flops, moved, count in graph.operators_of(0):
        if not flops or not count:
            continue
        time_s = float(np.max(operator_s(operator, device, efficiency, graph.precision)[2]))
        label = operator.kind if operator.kind not in shown else None
        shown.add(operator.kind)
        ax.scatter([flops / moved], [flops / time_s], color=COLOURS[operator.kind], s=30, label=label)
    ax.set(xscale="log", yscale="log", xlabel="FLOP per byte of local memory", ylabel="FLOP/s")
    ax.set_title("operators of the fastest mapping")
    ax.legend(frameon=False)
    return plain_ticks(ax)
