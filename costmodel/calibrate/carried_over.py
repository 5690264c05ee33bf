"""Curves of one device for all others, by the peaks of both: what is predicted where nothing was fitted."""

from collections.abc import Mapping

from costmodel.hardware.device import Device, device_names, load_device
from costmodel.kernels import attention_generation, collective, gemm
from costmodel.pricing.calibration import NO_SCALINGS, Calibration, Calibrations, Numbers, load_calibrations
from costmodel.pricing.scaling import Scaling, scaled

SCALINGS: dict[str, Mapping[str, Scaling]] = {
    family.FAMILY: family.SCALINGS for family in (gemm, collective, attention_generation)
}
"""numbers of other families are shares and constants of software"""


def carried_over(fitted: Device, calibrations: Calibrations | None = None) -> Calibrations:
    """Calibrations of every device of the catalog from those of `fitted` alone; none of its own remains."""
    parts = [part for part in calibrations or load_calibrations() if part.device == fitted.name]
    return tuple(_for(load_device(name), fitted, part) for name in device_names() for part in parts)


def _for(device: Device, fitted: Device, part: Calibration) -> Calibration:
    def numbers(family: str, own: Numbers) -> Numbers:
        return scaled(own, SCALINGS.get(family, NO_SCALINGS), fitted, device)

    families = {
        family: {variant: numbers(family, own) for variant, own in variants.items()}
        for family, variants in part.families.items()
    }
    return Calibration(
        device=device.name, families=families, source=f"carried over from {fitted.name} by the peaks of both"
    )
