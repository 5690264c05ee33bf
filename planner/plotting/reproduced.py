"""The figure of each reproduced experiment, where its kind has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from planner.model.errors import InputError
from planner.plotting import require_matplotlib
from planner.plotting.all_reduce_times import all_reduce_times
from planner.plotting.bucketed_speedup import bucketed_speedup
from planner.plotting.collective_energy import collective_energy
from planner.plotting.decode_operations import decode_operations
from planner.plotting.dlrm_pooling import dlrm_pooling
from planner.plotting.fragmentation import fragmentation
from planner.plotting.host_memory import host_memory
from planner.plotting.inference_intensity import inference_intensity
from planner.plotting.layer_speedups import layer_speedups
from planner.plotting.mapping_degrees import mapping_degrees
from planner.plotting.memory_sensitivity import memory_sensitivity
from planner.plotting.memory_speedups import memory_speedups
from planner.plotting.memory_streams import memory_streams
from planner.plotting.mfu_dots import mfu_dots
from planner.plotting.offload_energy import offload_energy
from planner.plotting.pool_gains import pool_gains
from planner.plotting.pool_rooflines import pool_rooflines
from planner.plotting.ring_collectives import ring_collectives
from planner.plotting.serving_batches import serving_batches
from planner.plotting.serving_gains import serving_gains
from planner.studies.reproduce.run import ExperimentOutcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Draw = Callable[["Axes", ExperimentOutcome], "Axes"]
FIGURES: dict[str, Draw] = {
    "collective_energy": collective_energy,
    "offload_energy": offload_energy,
    "dlrm_pooling": dlrm_pooling,
    "fragmentation": fragmentation,
    "optical_hbm_inference": layer_speedups,
    "photonic_inference": serving_gains,
    "photonic_batches": serving_batches,
    "pool_gains": pool_gains,
    "pool_rooflines": pool_rooflines,
    "training_gain": mfu_dots,
    "memory_latencies": memory_streams,
    "memory_sensitivity": memory_sensitivity,
    "memory_speedups": memory_speedups,
    "collective_times": all_reduce_times,
    "bucketed_training": bucketed_speedup,
    "inference_intensity": inference_intensity,
    "decode_operations": decode_operations,
    "ring_collectives": ring_collectives,
    "host_memory": host_memory,
    "mapping_search": mapping_degrees,
}
"""kind of experiment -> its figure"""
INCHES = (9.0, 4.8)
PANELS_INCHES = (14.0, 5.6)
IN_PANELS = frozenset(
    {
        "collective_times",
        "bucketed_training",
        "pool_gains",
        "pool_rooflines",
        "memory_latencies",
        "memory_sensitivity",
        "memory_speedups",
        "inference_intensity",
        "decode_operations",
    }
)
"""kinds whose figure is a row of panels"""


def save_figures(folder: Path, outcomes: Iterable[ExperimentOutcome]) -> Iterator[Path]:
    """Write <paper>.<experiment>.png for each experiment whose kind has a figure; the paths written."""
    require_matplotlib()
    from matplotlib.figure import Figure

    for outcome in outcomes:
        draw = FIGURES.get(outcome.published.kind)
        if draw is None:
            continue
        inches = PANELS_INCHES if outcome.published.kind in IN_PANELS else INCHES
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure.subplots(), outcome)
        path = folder / f"{outcome.published.paper}.{outcome.name}.png"
        try:
            figure.savefig(path, dpi=150)
        except OSError as error:
            raise InputError(str(path), "", f"cannot be written: {error.strerror}") from None
        yield path
