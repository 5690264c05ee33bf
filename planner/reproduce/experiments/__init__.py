"""The table of experiments: one file a kind, with the Spec of its inputs and the function that computes it.

To add one: `experiments/<kind>.py` with `class Inputs(Spec)` and `def compute(inputs: Inputs) -> dict[str, float]`
(quantities in SI), its line in EXPERIMENTS, `instances/published/<paper>/<experiment>.yaml` with `kind: <kind>`,
and, where it has a figure, `planner/plotting/<figure>.py` with its line in `planner.plotting.reproduced.FIGURES`.
"""

from costmodel.catalog import unknown_name
from planner.reproduce.experiments import (
    bucketed_training,
    collective_energy,
    collective_times,
    dlrm_pooling,
    fragmentation,
    modules,
    offload_energy,
    optical_hbm_inference,
    photonic_batches,
    photonic_inference,
    training_gain,
)
from planner.reproduce.experiments.kind import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    "bucketed_training": Experiment(bucketed_training.Inputs, bucketed_training.compute),
    "collective_energy": Experiment(collective_energy.Inputs, collective_energy.compute),
    "collective_times": Experiment(collective_times.Inputs, collective_times.compute),
    "offload_energy": Experiment(offload_energy.Inputs, offload_energy.compute),
    "dlrm_pooling": Experiment(dlrm_pooling.Inputs, dlrm_pooling.compute),
    "fragmentation": Experiment(fragmentation.Inputs, fragmentation.compute),
    "modules": Experiment(modules.Inputs, modules.compute),
    "optical_hbm_inference": Experiment(optical_hbm_inference.Inputs, optical_hbm_inference.compute),
    "photonic_inference": Experiment(photonic_inference.Inputs, photonic_inference.compute),
    "photonic_batches": Experiment(photonic_batches.Inputs, photonic_batches.compute),
    "training_gain": Experiment(training_gain.Inputs, training_gain.compute),
}


def find_experiment(kind: str) -> Experiment:
    """An experiment by its kind; ValueError names the nearest ones where it is unknown."""
    if kind not in EXPERIMENTS:
        raise unknown_name("experiment", kind, EXPERIMENTS)
    return EXPERIMENTS[kind]
