"""Where a workload asks for more, or less, than what its efficiencies were fitted on."""

from collections.abc import Mapping
from dataclasses import dataclass

from costmodel.pricing.calibration import FitOrigin, Ranges

WORDS = {
    "accelerators": "accelerators",
    "sequence": "tokens a sequence",
    "concurrency": "users",
    "input_tokens": "tokens in",
    "output_tokens": "tokens out",
    "m": "rows of a product",
    "n": "columns of a product",
    "k": "terms a sum of a product",
    "num_gpus": "ranks of a collective in a node",
    "message_bytes": "bytes of a collective in a node",
    "batch_size": "sequences of an attention kernel",
    "new_tokens": "new tokens of attention of prompts",
    "cached_tokens": "cached tokens of attention of prompts",
    "context_tokens": "cached tokens of attention of tokens",
    "num_heads": "heads of an attention kernel",
    "num_key_value_heads": "key-value heads of an attention kernel",
    "head_dim": "elements a head of an attention kernel",
}
"""how readers are told of what rows asked for"""


@dataclass(frozen=True)
class Far:
    """What is asked for beyond what a fit saw."""

    name: str
    asked: float
    low: float
    high: float

    @property
    def excess(self) -> float:
        """How many times as much, or as little."""
        return max((self.asked + 1) / (self.high + 1), (self.low + 1) / (self.asked + 1))

    @property
    def told(self) -> str:
        """In words."""
        fitted = _number(self.low) if self.low == self.high else f"{_number(self.low)} to {_number(self.high)}"
        return f"{_number(self.asked)} {WORDS[self.name]} (fitted on {fitted})"


def farthest(ranges: Mapping[str, tuple[float, float]], asked: Mapping[str, tuple[float, float]]) -> list[Far]:
    """Each of what is asked for, least and most by name, that lies outside what rows of a fit asked for."""
    found = []
    for name, (low, high) in ranges.items():
        if name in asked and not low <= asked[name][0] <= asked[name][1] <= high:
            found.append(Far(name, asked[name][0] if asked[name][0] < low else asked[name][1], low, high))
    return found


def outside_fit(origin: FitOrigin | None, asked: Ranges) -> list[str]:
    """The same in words; nothing where it is not recorded."""
    return [far.told for far in farthest({} if origin is None else origin.ranges, asked)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
