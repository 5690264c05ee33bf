"""A second memory tier behind memory that is reached over light: units of DIMMs or CXL modules, of which jobs that
offload take whole ones."""

from costmodel.hardware.memory.tier import MemoryTier, TierOrName
from costmodel.spec import NumParts, Spec


class TierBehind(Spec):
    """Units of a slower memory. Copies between it and the memory before it pass no port of an accelerator."""

    unit: TierOrName
    """one unit: a memory tier of the catalog by name, or all fields inline"""
    units: NumParts
    """behind each module of optical modules, or behind each appliance"""

    def tier(self, units: int, taken_bytes_per_s: float) -> MemoryTier:
        """So many units together, as fast as the memory before them takes in what they give."""
        return self.unit.model_copy(
            update={
                "name": f"{self.unit.name} x {units}",
                "capacity_bytes": units * self.unit.capacity_bytes,
                "bandwidth_bytes_per_s": min(units * self.unit.bandwidth_bytes_per_s, taken_bytes_per_s),
                "sources": {},
            }
        )
