"""What holds of a workload unless it says otherwise."""

from functools import cached_property

from costmodel.hardware.device import Device
from costmodel.parallelism.degrees import RANK_ORDERS, RankOrder
from costmodel.parallelism.mappings import Dimension
from costmodel.pricing.calibration import FitOrigin, Ranges
from costmodel.spec import Spec


class WorkloadBase(Spec):
    """A workload all of whose steps are alike, and of which no step was measured."""

    @cached_property
    def as_json(self) -> str:
        """All its fields; jobs that ask for it in the same words share the object, and its text."""
        return self.model_dump_json()

    @property
    def phases(self) -> tuple[str, ...]:
        """Of a round, such as prefill and decode; none where all steps are alike."""
        return ()

    @property
    def rounds_per_step(self) -> float:
        """Of the phases."""
        return 0.0

    @property
    def tensor_leaves_servers(self) -> bool:
        """Whether a tensor group wider than a server is listed: it then waits for the network."""
        return False

    @property
    def reads_at_random(self) -> bool:
        """Whether what is kept in memory is read here and there, instead of from end to end."""
        return False

    @property
    def rank_orders(self) -> tuple[RankOrder, ...]:
        """Orders of the ranks among which is chosen."""
        return RANK_ORDERS

    def sends_halves(self, dimension: Dimension) -> bool:
        """Whether ranks only reduce-scatter and all-gather along a dimension, which no tree does."""
        del dimension
        return False

    def fitted_on(self, device: Device, num_devices: int) -> tuple[FitOrigin | None, Ranges]:
        """What the efficiencies that price it were fitted on, on this very device, and least and most of what it asks
        for, by names of ranges of fits; None where nothing is recorded."""
        del device, num_devices
        return None, {}
