"""Where a workload asks for more, or less, than what its efficiencies were fitted on."""

from collections.abc import Mapping
from dataclasses import dataclass

from costmodel.pricing.calibration import FitOrigin, Ranges
from costmodel.wording import counted

WORDS = {
    "accelerators": ("accelerator", ""),
    "sequence": ("token", "a sequence"),
    "concurrency": ("user", ""),
    "input_tokens": ("token", "in"),
    "output_tokens": ("token", "out"),
    "m": ("row", "of a matrix product"),
    "n": ("column", "of a matrix product"),
    "k": ("term", "a sum of a matrix product"),
    "num_gpus": ("rank", "of a collective in a node"),
    "message_bytes": ("byte", "of a collective in a node"),
    "batch_size": ("sequence", "of an attention kernel"),
    "new_tokens": ("new token", "of attention of prompts"),
    "cached_tokens": ("cached token", "of attention of prompts"),
    "context_tokens": ("cached token", "of attention of tokens"),
    "num_heads": ("head", "of an attention kernel"),
    "num_key_value_heads": ("key-value head", "of an attention kernel"),
    "head_dim": ("element", "a head of an attention kernel"),
}
"""how readers are told of what rows asked for: a noun, and what follows it"""


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
        return f"{counted(self.asked, *WORDS[self.name])} (fitted on {fitted})"


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
