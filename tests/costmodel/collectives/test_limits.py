"""Limits of a collective that cannot be are named."""

import pytest

from costmodel.collectives.limits import Limits


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"wavelengths": 0}, "wavelengths: must be at least 1"),
        ({"max_peers": 0}, "max_peers: must be at least 1"),
        ({"alpha_s": -1.0}, "alpha_s: must not be negative"),
        ({"wavelength_bytes_per_s": 0.0}, "wavelength_bytes_per_s: must be above 0"),
    ],
)
def test_bad_limits_are_named(change: dict[str, float], words: str) -> None:
    fields = {"wavelengths": 16, "max_peers": 3, "alpha_s": 0.0, "reconfiguration_s": 0.0}
    with pytest.raises(ValueError, match=words):
        Limits(**fields | {"wavelength_bytes_per_s": 1.0} | change)  # type: ignore[arg-type]
