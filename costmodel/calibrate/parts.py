"""Fitted curves as catalog parts: one calibration a device, with what it was fitted on and how well."""

from collections.abc import Mapping

from costmodel.calibrate.family import Fit
from costmodel.hardware.device import load_device
from costmodel.pricing.calibration import Calibration, FitOrigin, Numbers


def parts_of(fits: Mapping[str, Fit], source: str = "", software: str = "", date: str = "") -> dict[str, Calibration]:
    """Fits by family -> one calibration for each device, by its name in the catalog.

    Without `source` each curve's rows and mean error are told. `software`, with its version, and `date` go to the
    origin of each curve; without them there is none.
    """
    families: dict[str, dict[str, dict[str, Numbers]]] = {}
    origins: dict[str, dict[str, dict[str, FitOrigin]]] = {}
    told: dict[str, list[str]] = {}
    for family, fit in fits.items():
        for (name, variant), numbers in fit.curves.items():
            device = load_device(name).name
            families.setdefault(device, {}).setdefault(family, {})[variant] = {
                parameter: float(f"{value:.5g}") for parameter, value in numbers.items()
            }
            told.setdefault(device, []).append(_told(family, variant, fit, (name, variant)))
            if software and date:
                origin = _origin(fit, (name, variant), source or "not told", software, date)
                origins.setdefault(device, {}).setdefault(family, {})[variant] = origin
    return {
        device: Calibration(
            device=device, families=found, source=source or "; ".join(told[device]), origins=origins.get(device, {})
        )
        for device, found in sorted(families.items())
    }


def _origin(fit: Fit, key: tuple[str, str], data: str, software: str, date: str) -> FitOrigin:
    fitted = fit.free.get(key, tuple(fit.curves[key]))
    rows, ranges = max(fit.rows.get(key, 1), 1), fit.ranges.get(key, {})
    return FitOrigin(software=software, date=date, data=data, rows=rows, fitted=fitted, ranges=ranges)


def merged(old: Calibration, new: Calibration) -> Calibration:
    """The curves of `old`, those of `new` in their place where both have one; both sources."""
    families = {family: dict(variants) for family, variants in old.families.items()}
    origins = {family: dict(variants) for family, variants in old.origins.items()}
    for family, variants in new.families.items():
        families.setdefault(family, {}).update(variants)
        kept = {name: origin for name, origin in origins.get(family, {}).items() if name not in variants}
        origins[family] = kept | new.origins.get(family, {})
    sources = [*old.source.split("; "), *new.source.split("; ")]
    starts = {source.split(":")[0]: source for source in sources}
    return Calibration(device=old.device, families=families, source="; ".join(starts.values()), origins=origins)


def _told(family: str, variant: str, fit: Fit, key: tuple[str, str]) -> str:
    rows = f"{fit.rows[key]:,} rows, " if key in fit.rows else ""
    return f"{family} {variant}: {rows}mean error {100 * fit.mean_error[key]:.1f} %"
