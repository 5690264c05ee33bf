"""Training of convolutional and recurrent networks, by data and by the model."""

import numpy as np

from costmodel.hardware.device import Device
from costmodel.parallelism.degrees import degree_table, divisors, every_mapping, joined
from costmodel.parallelism.mappings import CHOICES, Dimension, Floats, Mappings
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.opgraph import Message, Operator, OpGraph
from costmodel.workloads.networks.divided_network import DividedNetwork
from costmodel.workloads.networks.spec import NetworkTrainingSpec
from costmodel.workloads.transformer.training import RECORDED_LAUNCH


class NetworkTraining(NetworkTrainingSpec):
    """Stochastic gradient descent with momentum. `data` replicas share the batch and sum the gradients of weights; the
    `tensor` ranks of a replica share the outputs of each layer with weights: they gather these forward, sum the
    gradients of its inputs backward, and wait for both (Krizhevsky, arXiv:1404.5997).

    Outputs of layers with weights are kept for the backward pass, what is between them is computed again (Kwon and Rhu,
    MICRO 2018).
    """

    @property
    def speed_unit(self) -> str:
        return "samples/s"

    @property
    def divided(self) -> str:
        """What degrees of parallelism must divide, for messages."""
        return f"its batch of {self.global_batch} samples"

    @property
    def flops_per_work(self) -> float:
        """Matrix operations that a sample needs: of the layers that take the network's input no gradient is asked."""
        return sum(2.0 * node.macs * (3 if node.inputs else 2) for node in self.nodes)

    def menus(self) -> dict[str, tuple[int, ...]]:
        """What may be in a second tier, beside the degrees."""
        return {"offload": self.offload_codes}

    def mappings(self, *sizes: int) -> Mappings:
        """Every `data` replicas of `tensor` ranks that divide the batch; micro_batch is samples of one replica."""
        most = min(np.iinfo(CHOICES["tensor"][0]).max, max(node.columns for node in self.nodes))
        degrees = joined(degree_table([n], [t for t in divisors(n) if t <= most], (1,), 1) for n in sizes)
        divides = self.global_batch % degrees["data"] == 0
        degrees = {name: column[divides] for name, column in degrees.items()}
        samples = (self.global_batch // degrees["data"]).astype(np.int32)
        return every_mapping(degrees | {"micro_batch": samples}, self.menus())

    def sends(self, dimension: Dimension) -> bool:
        """Whether groups of several ranks along a dimension exchange anything."""
        return dimension in ("tensor", "data")

    def footprint(self, mappings: Mappings) -> tuple[Floats, Floats]:
        """Memory of one accelerator and what it keeps in a second tier, in bytes, shapes (M,)."""
        return _footprint(DividedNetwork.of(self, mappings), mappings)

    def op_graph(self, mappings: Mappings, device: Device, calibrations: Calibrations | None = None) -> OpGraph:
        """One step of one rank; all do the same. What leaves local memory does so during the forward pass."""
        device.matrix_flops_per_s(self.precision)
        share, none = DividedNetwork.of(self, mappings), np.zeros(len(mappings))
        of, shapes = share.shapes.of, share.shapes
        several = np.where(shapes.columns["samples"] < self.global_batch, 1.0, 0.0)
        gradients = Message("gradients", "data", share.gradient_bytes, several, float(share.num_weights))
        update = Operator("update", "elementwise", 0.0, share.update_bytes)
        left = share.leaving_bytes[of] * mappings.has_offload("activations")
        footprint, away = _footprint(share, mappings)
        return OpGraph(
            blocks=(
                shapes.block("forward", share.operators("forward"), share.exchanges("forward"), 1.0),
                shapes.block("backward", share.operators("backward"), share.exchanges("backward"), 1.0),
                shapes.block("update", [update], [gradients], 1.0),
            ),
            bubble=none,
            relief=none,
            footprint_bytes=footprint,
            tier_footprint_bytes=away,
            tier_bytes=2 * left,
            tier_windows=((left, share.forward_share[of]),),
            work=np.full(len(mappings), float(self.global_batch)),
            precision=self.precision,
            regime="training",
            overlap=self.overlap,
            has_fixed_time=False,
            runs_ahead=True,
            launch_share=RECORDED_LAUNCH if self.cuda_graphs else 1.0,
        )


def _footprint(share: DividedNetwork, mappings: Mappings) -> tuple[Floats, Floats]:
    """Local memory, and the second tier; (M,). Of what leaves, local memory has what is in use or on its way."""
    of, leaves = share.shapes.of, mappings.has_offload("activations")
    fixed = share.state_bytes + share.working_bytes
    near = share.activation_bytes - share.leaving_bytes + share.resident_bytes
    kept = np.where(leaves, near[of], share.activation_bytes[of])
    return fixed[of] + kept, share.away_bytes[of] * leaves
