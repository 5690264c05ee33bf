"""What else limits the bandwidth of a memory, each limit by its name and able to be switched off."""

from collections.abc import Iterable

from pydantic import Field

from costmodel.hardware.device import Device
from costmodel.spec import BytesPerSecond, Spec

MEMORY = "memory"
"""name of what binds where no limit does"""
L2_PASSES = 2.0
"""crossings of the last cache by one byte unless given: on being filled and on being read"""


class BandwidthLimit(Spec):
    """A part on the way between memory and matrix units that each byte crosses `passes` times."""

    name: str = Field(min_length=1)
    bandwidth_bytes_per_s: BytesPerSecond
    """of the part, all crossings together"""
    passes: float = Field(default=1.0, ge=1)
    """crossings of one byte"""
    is_on: bool = True
    source: str = Field(min_length=1)

    @property
    def allowed_bytes_per_s(self) -> float:
        """Bandwidth that the part leaves to the memory."""
        return self.bandwidth_bytes_per_s / self.passes


def cache_limit(device: Device, *, passes: float = L2_PASSES) -> BandwidthLimit:
    """The last cache as a limit: a byte passes it on being filled and on being read, so twice.

    That a byte passes twice is inferred from the speedups that Ou et al., IEEE Comput. Archit. Lett. 24 (2025),
    print for two caches; they do not say it. ValueError where the device's cache is unknown.
    """
    if device.l2_bytes_per_s is None:
        raise ValueError(f"l2_bandwidth: device '{device.name}' has none; give it in the device's file")
    origin = device.sources.get("l2_bandwidth", device.source)
    return BandwidthLimit(name="l2", bandwidth_bytes_per_s=device.l2_bytes_per_s, passes=passes, source=origin)


def effective_bytes_per_s(memory_bytes_per_s: float, limits: Iterable[BandwidthLimit] = ()) -> float:
    """The least of the memory's bandwidth and what each limit that is on allows."""
    return min([memory_bytes_per_s, *(limit.allowed_bytes_per_s for limit in limits if limit.is_on)])


def binding_limit(memory_bytes_per_s: float, limits: Iterable[BandwidthLimit] = ()) -> str:
    """Name of what sets the effective bandwidth; the memory itself in a tie."""
    allowed = [(memory_bytes_per_s, MEMORY)]
    allowed += [(limit.allowed_bytes_per_s, limit.name) for limit in limits if limit.is_on]
    return min(allowed, key=lambda pair: pair[0])[1]
