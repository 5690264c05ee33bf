"""Where a workload asks for more, or less, than what its efficiencies were fitted on."""

from collections.abc import Mapping

from costmodel.pricing.calibration import FitOrigin

WORDS = {
    "accelerators": "accelerators",
    "sequence": "tokens a sequence",
    "concurrency": "users",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
}
"""how readers are told of what rows asked for"""


def outside_fit(origin: FitOrigin | None, asked: Mapping[str, tuple[float, float]]) -> list[str]:
    """Each of what is asked for, least and most by name, that lies outside what rows of a fit asked for, in words;
    nothing where that is not recorded."""
    told = []
    for name, (low, high) in ({} if origin is None else origin.ranges).items():
        if name in asked and not low <= asked[name][0] <= asked[name][1] <= high:
            far = asked[name][0] if asked[name][0] < low else asked[name][1]
            fitted = f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"
            told.append(f"{far:,.0f} {WORDS[name]} (fitted on {fitted})")
    return told
