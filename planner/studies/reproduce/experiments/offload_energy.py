"""Energy of offloading activations and weights in one training batch.

Runs that keep checkpoints move 9 V + 2 V_A + n W bytes: V is one activation of each token in each layer, V_A one
output of the attention heads (as V, but heads x head dimension wide), W the weights in 16 bit, n how often they pass.
Beside, what a candidate of the planner moves that offloads weights and activations and keeps the inputs of layers
alone: its weights pass twice for each micro-batch.
"""

from pydantic import Field

from costmodel.hardware.device import load_device
from costmodel.hardware.offload import offload_code
from costmodel.parallelism.mappings import RECOMPUTE, Mappings
from costmodel.spec import JoulesPerByte, Spec
from planner.studies.reproduce.experiments.published_shapes import PublishedRun, Shape
from planner.studies.reproduce.experiments.static_batches import PRODUCT

ACTIVATIONS, ATTENTION_OUTPUTS = 9.0, 2.0
"""times that each passes in a batch (found from table 3)"""
PARAMETERS_PER_LAYER = 12
"""matrices of one layer by hidden^2: 4 of attention, 8 of a feed-forward network of four times the width"""

PASSES_OF_MICRO_BATCH = 2
"""of the weights: forward, and backward with what is made again"""
OFFLOADED = "weights+activations"


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
    device: str
    """of the catalog, on which candidates run"""


def compute(inputs: Inputs) -> dict[str, float]:
    """Joules of each cell whose passes are known, as the tables count and with whole tebibytes."""
    result = {}
    for model in inputs.models:
        for system, passes in model.weight_passes.items():
            volume_bytes = offloaded_bytes(model, inputs.run, passes)
            for suffix, whole in (("", False), (", all bytes", True)):
                counted_bytes = inputs.run.counted(volume_bytes, whole=whole)
                result[f"offload {model.name} {system}{suffix}"] = counted_bytes * inputs.energy[system]
            moved_bytes = candidate_bytes(model, inputs, passes)
            result[f"offload {model.name} {system}{PRODUCT}"] = moved_bytes * inputs.energy[system]
    return result


def offloaded_bytes(model: OffloadedModel, run: PublishedRun, passes: int) -> float:
    """Bytes that a batch moves to the memory behind and back."""
    activation_bytes = model.activation_bytes(run)
    head_dim = round(model.hidden / model.layers)
    heads = model.layers
    attention_bytes = activation_bytes * heads * head_dim / model.hidden
    weight_bytes = PARAMETERS_PER_LAYER * model.layers * model.hidden**2 * run.number_bytes
    return ACTIVATIONS * activation_bytes + ATTENTION_OUTPUTS * attention_bytes + passes * weight_bytes


def candidate_bytes(model: OffloadedModel, inputs: Inputs, passes: int) -> float:
    """Bytes that a candidate moves to its second tier and back, with micro-batches whose weights pass so often."""
    micro_batch = PASSES_OF_MICRO_BATCH * inputs.run.global_batch // passes
    job = model.job(inputs.run, micro_batch=micro_batch, recompute="full", offload=OFFLOADED)
    recompute, offload = RECOMPUTE.index("full"), offload_code(OFFLOADED)
    one = Mappings.of(micro_batch=micro_batch, recompute=recompute, offload=offload)
    return float(job.op_graph(one, load_device(inputs.device)).tier_bytes[0])
