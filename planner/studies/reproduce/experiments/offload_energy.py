"""Energy of offloading activations and weights in one training batch.

Runs that keep checkpoints move 9 V + 2 V_A + n W bytes: V is one activation of each token in each layer, V_A one
output of the attention heads (as V, but heads x head dimension wide), W the weights in 16 bit, n how often they pass.
"""

from pydantic import Field

from costmodel.spec import JoulesPerByte, Spec
from planner.studies.reproduce.experiments.published_shapes import PublishedRun, Shape

ACTIVATIONS, ATTENTION_OUTPUTS = 9.0, 2.0
"""times that each passes in a batch (found from table 3)"""
PARAMETERS_PER_LAYER = 12
"""matrices of one layer by hidden^2: 4 of attention, 8 of a feed-forward network of four times the width"""


class OffloadedModel(Shape):
    """A shape with the passes of its weights on each system where they can be told."""

    weight_passes: dict[str, int] = Field(default_factory=dict)
    """by system; a system that is absent ran in a configuration that the paper does not tell"""


class Inputs(Spec):
    """Runs, and what a byte costs on its way to the memory behind."""

    run: PublishedRun
    energy: dict[str, JoulesPerByte]
    """by system"""
    models: tuple[OffloadedModel, ...] = Field(min_length=1)


def compute(inputs: Inputs) -> dict[str, float]:
    """Joules of each cell whose passes are known, as the tables count and with whole tebibytes."""
    result = {}
    for model in inputs.models:
        for system, passes in model.weight_passes.items():
            volume_bytes = offloaded_bytes(model, inputs.run, passes)
            for suffix, whole in (("", False), (", all bytes", True)):
                counted_bytes = inputs.run.counted(volume_bytes, whole=whole)
                result[f"offload {model.name} {system}{suffix}"] = counted_bytes * inputs.energy[system]
    return result


def offloaded_bytes(model: OffloadedModel, run: PublishedRun, passes: int) -> float:
    """Bytes that a batch moves to the memory behind and back."""
    activation_bytes = model.activation_bytes(run)
    head_dim = round(model.hidden / model.layers)
    heads = model.layers
    attention_bytes = activation_bytes * heads * head_dim / model.hidden
    weight_bytes = PARAMETERS_PER_LAYER * model.layers * model.hidden**2 * run.number_bytes
    return ACTIVATIONS * activation_bytes + ATTENTION_OUTPUTS * attention_bytes + passes * weight_bytes
