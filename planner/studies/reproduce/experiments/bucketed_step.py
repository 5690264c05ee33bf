"""Steps of data-parallel replicas as candidates of the planner: computation, and the exchange of gradients."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, FabricBase, fat_tree_of
from costmodel.hardware.device import Device
from costmodel.hardware.systems import system_of
from costmodel.parallelism.mappings import Floats, Mappings
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerTraining
from costmodel.workloads.transformer.blocks import GRADIENT_BYTES
from costmodel.workloads.transformer.training_spec import OVERLAP
from planner.studies.reproduce.experiments.all_reduce_algorithms import RING, SharedNetwork

TILES = 32
"""of a server of the photonic fabric, the most that one has"""
FIBERS = 512
"""between each two of its servers: none runs out of them"""


@dataclass(frozen=True)
class ReplicaStep:
    """One step of a replica with the whole model and one micro-batch."""

    compute_s: float
    """without any exchange"""
    exchange_s: float
    """of all gradients, nothing hidden"""
    gradient_bytes: float

    def after_s(self, exchange_s: ArrayLike) -> Floats:
        """A step that exchanges after the backward pass, shaped as what it exchanges."""
        return self.compute_s + np.asarray(exchange_s)

    def beside_s(self, exchange_s: ArrayLike) -> Floats:
        """A step that hides the share of its exchange that a candidate does unless its job says otherwise."""
        hidden_s = np.minimum(OVERLAP["data"] * np.asarray(exchange_s), self.compute_s)
        return self.after_s(exchange_s) - hidden_s


def step_of_replica(job: TransformerTraining, ranks: int, device: Device, fabric: FabricBase) -> ReplicaStep:
    """The fastest candidate of `ranks` replicas; on a packet network, of those whose gradients go around a ring.

    ValueError where the batch is no multiple of the ranks.
    """
    if job.global_batch % ranks:
        raise ValueError(f"global_batch: {job.global_batch} is no multiple of {ranks} ranks; give one that is")
    one = Mappings.of(data=ranks, micro_batch=job.global_batch // ranks, zero=0)
    collective = RING if fabric.node_bytes_per_s else None
    rows = list_candidates(job, one, device, fabric, blocks=widest_block, collective=collective)
    prices = score(rows, device, fabric)
    best = int(prices.step_s.argmin())
    exchange_s = float(prices.communication_s[:, best].sum() + prices.reconfiguration_s[best])
    gradient_bytes = GRADIENT_BYTES * job.shape.num_parameters
    return ReplicaStep(float(prices.step_s[best]) - exchange_s, exchange_s, gradient_bytes)


def over_a_switch(network: SharedNetwork, ranks: int, device: str) -> FabricBase:
    """All ranks on one ideal packet switch."""
    links = {"nvlink_alpha_s": network.alpha_s, "nvlink_bandwidth_bytes_per_s": network.link_bytes_per_s}
    return fat_tree_of(system_of(device).model_copy(update=links | {"gpus_per_server": ranks}), ranks)


def on_lightpath(network: SharedNetwork, ranks: int) -> FabricBase:
    """All ranks on photonic servers, each sending to as many peers at once as the network's fewest."""
    return TypeAdapter(Fabric).validate_python(
        {
            "kind": "lightpath", "servers": max(ranks // TILES, 1), "tiles_per_server": min(ranks, TILES),
            "wavelengths_per_tile": network.wavelengths, "max_peers": min(network.peers), "fibers": FIBERS,
            "wavelength_bandwidth_bytes_per_s": network.link_bytes_per_s / network.wavelengths,
            "wavelengths_per_fiber": network.wavelengths, "alpha_s": network.alpha_s,
            "reconfiguration_s": network.reconfiguration_s, "energy_j_per_byte": 0.0,
        }
    )  # fmt: skip
