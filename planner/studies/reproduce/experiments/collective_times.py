"""Times of all-reduce algorithms against the message: a table, where curves cross, and what one saves over others.

Figure 4b of the paper on Lumorph. A saving over several algorithms is that over the fastest of them.
"""

from collections.abc import Iterator
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from costmodel.catalog import unknown_name
from costmodel.spec import Bytes, Spec
from planner.studies.reproduce.experiments.all_reduce_algorithms import AllReduce, Floats, SharedNetwork, algorithms
from planner.studies.reproduce.experiments.crossings import crossings

KIB, MIB = 2.0**10, 2.0**20


class PublishedTime(Spec):
    """One row of the table."""

    ranks: int = Field(ge=2)
    message_bytes: Bytes = Field(gt=0)

    @property
    def message(self) -> Floats:
        """Its bytes, of shape ()."""
        return np.array(self.message_bytes)


class AlgorithmComparison(Spec):
    """An algorithm against the fastest of others."""

    of: str
    over: tuple[str, ...] = Field(min_length=1)
    shares: tuple[Annotated[float, Field(gt=0, lt=1)], ...] = ()
    """savings whose messages are sought; 0.74 is 74 % less time"""
    speedups: tuple[Annotated[float, Field(gt=1)], ...] = ()
    """ratios whose messages are sought; 1.74 is 1.74 times the speed"""
    messages_bytes: tuple[Bytes, ...] = Field(default=(), alias="messages")
    """where the saving is returned"""

    @property
    def name(self) -> str:
        return f"{self.of} over {' and '.join(self.over)}"

    def sought(self) -> dict[str, float]:
        """Saving by name, 0 where both take equally long."""
        shares = {f"{100 * share:g} % saving": share for share in self.shares}
        return {"equal time": 0.0} | shares | {f"{ratio:g} times the speed": 1 - 1 / ratio for ratio in self.speedups}


class MessageSweep(Spec):
    """Messages at equal ratios."""

    smallest_bytes: Bytes = Field(gt=0)
    largest_bytes: Bytes = Field(gt=0)
    points: int = Field(ge=2)

    def messages_bytes(self) -> Floats:
        return np.geomspace(self.smallest_bytes, self.largest_bytes, self.points)


class Inputs(Spec):
    """The network, the table, and what is compared."""

    network: SharedNetwork
    ranks: tuple[int, ...] = Field(min_length=1)
    sweep: MessageSweep
    table: tuple[PublishedTime, ...] = ()
    comparisons: tuple[AlgorithmComparison, ...] = ()

    @model_validator(mode="after")
    def _algorithms_are_known(self) -> Self:
        known = algorithms(self.network)
        for comparison in self.comparisons:
            for name in (comparison.of, *comparison.over):
                if name not in known:
                    raise unknown_name("algorithm", name, known)
        return self


def compute(inputs: Inputs) -> dict[str, float]:
    """Times of the table in seconds, crossings in bytes, and savings as shares; what is not met is absent."""
    known = algorithms(inputs.network)
    found = {
        f"{name}, {cell.ranks} ranks, {size(cell.message_bytes)}": float(all_reduce_s(cell.message, cell.ranks))
        for cell in inputs.table
        for name, all_reduce_s in known.items()
    }
    for comparison in inputs.comparisons:
        for ranks in inputs.ranks:
            found |= dict(_comparison(inputs.sweep, comparison, ranks, known))
    return found


def equal_times(inputs: Inputs, comparison: AlgorithmComparison, ranks: int) -> Floats:
    """Messages in bytes where an algorithm takes as long as the fastest of the others, ascending, shape (R,)."""
    return _crossings(inputs.sweep.messages_bytes(), comparison, ranks, algorithms(inputs.network), 0.0)


def _comparison(
    sweep: MessageSweep, comparison: AlgorithmComparison, ranks: int, known: dict[str, AllReduce]
) -> Iterator[tuple[str, float]]:
    name, where = comparison.name, f", {ranks} ranks"
    messages_bytes = sweep.messages_bytes()
    saved = _saving(comparison, ranks, known, messages_bytes)
    most = int(saved.argmax())
    yield f"most saving of {name}{where}", float(saved[most])
    yield f"message of most saving of {name}{where}", float(messages_bytes[most])
    yield f"most slowdown of {name}{where}", float(1 - saved.min())
    for message_bytes in comparison.messages_bytes:
        saving = float(_saving(comparison, ranks, known, np.array(message_bytes)))
        yield f"saving of {name}{where}, {size(message_bytes)}", saving
    for what, share in comparison.sought().items():
        roots_bytes = _crossings(messages_bytes, comparison, ranks, known, share)
        for which, chosen in (("first", roots_bytes[:1]), ("last", roots_bytes[-1:])):
            for root_bytes in chosen:
                yield f"{which} message of {what} of {name}{where}", float(root_bytes)


def _saving(comparison: AlgorithmComparison, ranks: int, known: dict[str, AllReduce], messages_bytes: Floats) -> Floats:
    """Share of the time of the fastest of the others, negative where it is slower; shaped as the messages."""
    others_s = np.min([known[name](messages_bytes, ranks) for name in comparison.over], axis=0)
    return np.asarray(1 - known[comparison.of](messages_bytes, ranks) / others_s)


def _crossings(
    messages_bytes: Floats, comparison: AlgorithmComparison, ranks: int, known: dict[str, AllReduce], saving: float
) -> Floats:
    return crossings(lambda m: _saving(comparison, ranks, known, m) - saving, messages_bytes)


def size(message_bytes: float) -> str:
    """1 KiB, 8 MiB; where it is no whole number of these, 4.6 MB."""
    for unit, scale in (("MiB", MIB), ("KiB", KIB)):
        if message_bytes % scale == 0:
            return f"{message_bytes / scale:g} {unit}"
    return f"{message_bytes / 1e6:g} MB"
