"""The table of experiments: one file a kind, with the Spec of its inputs and the function that computes it.

To add one: `experiments/<kind>.py` with `class Inputs(Spec)` and `def compute(inputs: Inputs) -> dict[str, float]`
(quantities in SI), its line in EXPERIMENTS, `instances/published/<paper>/<experiment>.yaml` with `kind: <kind>`,
and, where it has a figure, `planner/plotting/<figure>.py` with its line in `planner.plotting.reproduced.FIGURES`.
"""

from costmodel.catalog import unknown_name
from planner.studies.reproduce.experiments import (
    bucketed_training,
    collective_energy,
    collective_times,
    decode_operations,
    dlrm_pooling,
    fragmentation,
    host_memory,
    inference_intensity,
    mapping_search,
    memory_latencies,
    memory_nodes,
    memory_scaling,
    memory_sensitivity,
    memory_speedups,
    modules,
    network_sizes,
    offload_energy,
    optical_hbm_inference,
    photonic_batches,
    photonic_inference,
    pool_gains,
    pool_rooflines,
    printed_savings,
    ring_collectives,
    training_gain,
    validation_runs,
)
from planner.studies.reproduce.experiments.kind import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "bucketed_training": Experiment(bucketed_training.Inputs, bucketed_training.compute),
    "collective_energy": Experiment(collective_energy.Inputs, collective_energy.compute),
    "collective_times": Experiment(collective_times.Inputs, collective_times.compute),
    "decode_operations": Experiment(decode_operations.Inputs, decode_operations.compute),
    "offload_energy": Experiment(offload_energy.Inputs, offload_energy.compute),
    "dlrm_pooling": Experiment(dlrm_pooling.Inputs, dlrm_pooling.compute),
    "fragmentation": Experiment(fragmentation.Inputs, fragmentation.compute),
    "modules": Experiment(modules.Inputs, modules.compute),
    "optical_hbm_inference": Experiment(optical_hbm_inference.Inputs, optical_hbm_inference.compute),
    "photonic_inference": Experiment(photonic_inference.Inputs, photonic_inference.compute),
    "photonic_batches": Experiment(photonic_batches.Inputs, photonic_batches.compute),
    "pool_gains": Experiment(pool_gains.Inputs, pool_gains.compute),
    "pool_rooflines": Experiment(pool_rooflines.Inputs, pool_rooflines.compute),
    "training_gain": Experiment(training_gain.Inputs, training_gain.compute),
    "memory_latencies": Experiment(memory_latencies.Inputs, memory_latencies.compute),
    "memory_nodes": Experiment(memory_nodes.Inputs, memory_nodes.compute),
    "memory_scaling": Experiment(memory_scaling.Inputs, memory_scaling.compute),
    "memory_sensitivity": Experiment(memory_sensitivity.Inputs, memory_sensitivity.compute),
    "memory_speedups": Experiment(memory_speedups.Inputs, memory_speedups.compute),
    "host_memory": Experiment(host_memory.Inputs, host_memory.compute),
    "inference_intensity": Experiment(inference_intensity.Inputs, inference_intensity.compute),
    "printed_savings": Experiment(printed_savings.Inputs, printed_savings.compute),
    "ring_collectives": Experiment(ring_collectives.Inputs, ring_collectives.compute),
    "validation_runs": Experiment(validation_runs.Inputs, validation_runs.compute),
    "mapping_search": Experiment(mapping_search.Inputs, mapping_search.compute),
    "network_sizes": Experiment(network_sizes.Inputs, network_sizes.compute),
}


def find_experiment(kind: str) -> Experiment:
    """An experiment by its kind; ValueError names the nearest ones where it is unknown."""
    if kind not in EXPERIMENTS:
        raise unknown_name("experiment", kind, EXPERIMENTS)
    return EXPERIMENTS[kind]
