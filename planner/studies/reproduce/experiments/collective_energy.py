"""Energy of tensor- and pipeline-parallel traffic of one training batch, from shapes and mean energies of pairs.

A batch sends V/2 bytes between stages and 8 m V bytes among tensor ranks, V being one activation of each token in
each layer; the mean energy of a byte is that over the pairs of a packed group of g accelerators. Group size g and
multiplier m of each cell are inputs: the published runs had them, the paper does not print them. Beside, what
candidates of the planner send: ranks of such a group in rings, and stages of a pipeline what passes each boundary.
"""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from pydantic import Field

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.routes import RouteParts, load_route_parts, mean_pair_j_per_byte, packed, pair_counts
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.spec import Spec
from planner.studies.reproduce.experiments.published_shapes import PublishedRun, Shape
from planner.studies.reproduce.experiments.static_batches import PRODUCT, ROOMY_BYTES

TENSOR_VOLUMES, PIPELINE_VOLUMES = 8.0, 0.5
"""bytes sent in a batch by multiplier m, and in a pipeline, as multiples of V (found from tables 2 and 4)"""


Accelerators = Annotated[int, Field(ge=2)]
Multiplier = Annotated[int, Field(ge=1)]


class MeasuredModel(Shape):
    """A shape with the configuration of its run on each system."""

    groups: dict[str, tuple[Accelerators, Multiplier]]
    """by system: accelerators of the group, and multiplier of the tensor-parallel volume"""


class Inputs(Spec):
    """Runs, systems and the way groups are placed."""

    run: PublishedRun
    per_tray: int = Field(ge=1)
    per_rack: int = Field(ge=1)
    parts: dict[str, RouteParts] = Field(default_factory=dict)
    """sets of route parts of this experiment alone, by name"""
    systems: dict[str, str]
    """name of a system -> one of these sets, or one of the catalog"""
    text_parts: str
    """the set that the text of the paper gives for the photonic systems"""
    baseline: str
    """the electrical system, whose parts the text gives as the tables have them"""
    models: tuple[MeasuredModel, ...] = Field(min_length=1)
    device: str
    """of the catalog, on which candidates send; their energy is that of the group's pairs"""
    stages: int = Field(ge=2)
    """of the pipelines of candidates"""

    def set_of(self, name: str) -> RouteParts:
        """ValueError names the nearest sets of the catalog where it is unknown."""
        return self.parts[name] if name in self.parts else load_route_parts(name)


def compute(inputs: Inputs) -> dict[str, float]:
    """Joules of each cell: as the tables count, by the parts of the text, and with whole tebibytes."""
    text = {name: inputs.text_parts for name in inputs.systems if name != inputs.baseline}
    tables = _cells(inputs, inputs.systems)
    by_text = {f"{name} by text": j for name, j in _cells(inputs, text).items()}
    whole = {f"{name}, all bytes": j for name, j in _cells(inputs, inputs.systems, whole=True).items()}
    return tables | by_text | whole | {name: j for system in inputs.systems for name, j in _sent(inputs, system)}


def _cells(inputs: Inputs, systems: dict[str, str], *, whole: bool = False) -> dict[str, float]:
    """Joules by "<traffic> <model> <system>"."""
    result = {}
    for system, parts in systems.items():
        groups = [model.groups[system] for model in inputs.models]
        means = mean_energies([accelerators for accelerators, _ in groups], parts, inputs)
        for model, (_, multiplier), j_per_byte in zip(inputs.models, groups, means, strict=True):
            volume_bytes = inputs.run.counted(model.activation_bytes(inputs.run), whole=whole)
            result[f"TP {model.name} {system}"] = TENSOR_VOLUMES * multiplier * volume_bytes * j_per_byte
            result[f"PP {model.name} {system}"] = PIPELINE_VOLUMES * volume_bytes * j_per_byte
    return result


def _sent(inputs: Inputs, system: str) -> Iterator[tuple[str, float]]:
    """Joules of what candidates send in a batch, by cell of one system."""
    groups = [model.groups[system][0] for model in inputs.models]
    means = mean_energies(groups, inputs.systems[system], inputs)
    for model, ranks, j_per_byte in zip(inputs.models, groups, means, strict=True):
        name = f"{model.name} {system}{PRODUCT}"
        yield f"TP {name}", _sent_j(inputs, model, j_per_byte, tensor=ranks)
        yield f"PP {name}", _sent_j(inputs, model, j_per_byte, pipeline=inputs.stages)


def _sent_j(inputs: Inputs, model: MeasuredModel, j_per_byte: float, **degree: int) -> float:
    """Of the fastest candidate of one degree alone, all ranks joined alike, whatever the memory holds."""
    (ranks,) = degree.values()
    joined = {"gpus_per_server": ranks, "nvlink_energy_j_per_byte": j_per_byte}
    fabric = fat_tree_of(system_of(inputs.device).model_copy(update=joined), ranks)
    roomy = load_device(inputs.device).model_copy(update={"capacity_bytes": ROOMY_BYTES})
    one = Mappings.of(**degree, micro_batch=1, sequence_parallel=1)
    rows = list_candidates(model.job(inputs.run, micro_batch=1), one, roomy, fabric, blocks=widest_block)
    prices = score(rows, roomy, fabric)
    return float(prices.network_j[prices.step_s.argmin()])


def mean_energies(accelerators: list[int], parts: str, inputs: Inputs) -> list[float]:
    """Mean joules of a byte over the pairs of each packed group."""
    counts = pair_counts(*packed(np.array(accelerators), inputs.per_tray, inputs.per_rack))
    return [float(each) for each in mean_pair_j_per_byte(inputs.set_of(parts), counts)]
