"""What one tile of a wavelength-switched fabric may do at a time, and what it costs."""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Limits:
    """Limits of every tile of a group, and the fixed times of a round."""

    wavelengths: int
    """wavelengths that a tile sends, and receives, in one configuration"""
    max_peers: int
    """circuits that leave, and that reach, a tile in one configuration"""
    alpha_s: float
    """fixed time of a round"""
    reconfiguration_s: float
    """time to change from one configuration to another; all switches turn together"""
    wavelength_bytes_per_s: float
    """one wavelength, one direction"""

    def __post_init__(self) -> None:
        for name in ("wavelengths", "max_peers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}: must be at least 1, got {getattr(self, name)}; a tile needs one circuit")
        for name in ("alpha_s", "reconfiguration_s"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}: must not be negative, got {getattr(self, name)}; give seconds")
        if not self.wavelength_bytes_per_s > 0:
            raise ValueError(f"wavelength_bytes_per_s: must be above 0, got {self.wavelength_bytes_per_s}; give a rate")

    @cached_property
    def most_peers(self) -> int:
        """Circuits that may leave a tile, each of one wavelength at least."""
        return min(self.max_peers, self.wavelengths)

    @cached_property
    def link_bytes_per_s(self) -> float:
        """Egress of a tile on all its wavelengths."""
        return self.wavelengths * self.wavelength_bytes_per_s
