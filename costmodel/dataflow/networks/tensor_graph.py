"""A training step as operators in order and the tensors they use: what may leave local memory, and when.

A step computes forward, then backward, then updates parameters; networks of any kind are brought into this form, and
whatever moves tensors between memories needs to know no more than it.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Phase = Literal["forward", "backward", "update"]
TensorKind = Literal["activation", "weight", "gradient", "optimizer"]
ACTIVATIONS: tuple[TensorKind, ...] = ("activation",)


@dataclass(frozen=True)
class Tensor:
    """What may be put into another memory between its uses."""

    name: str
    kind: TensorKind
    size_bytes: float


@dataclass(frozen=True)
class Product:
    """Matrix products of one size side by side; bytes are of all of them."""

    m: float
    n: float
    k: float
    input_bytes: float
    weight_bytes: float
    output_bytes: float
    count: int = 1


@dataclass(frozen=True)
class Exchange:
    """A collective that follows an operator; every rank holds `message_bytes` after it."""

    operation: Literal["all_gather", "all_reduce"]
    message_bytes: float
    is_awaited: bool
    """whether operators after it wait for it"""


@dataclass(frozen=True)
class Operator:
    """Kernels of one layer that run together."""

    name: str
    layer: int
    """number of the layer that it counts for"""
    phase: Phase
    needs: tuple[int, ...] = ()
    """tensors that must be in local memory"""
    makes: tuple[int, ...] = ()
    """tensors that it writes"""
    products: tuple[Product, ...] = ()
    """one after the other"""
    elementwise_bytes: float = 0.0
    """traffic of local memory beside that of products"""
    exchange: Exchange | None = None
    derived_from: tuple[int, ...] = ()
    """tensors from which other inputs can be made, where it reads what no tensor stands for"""


@dataclass(frozen=True)
class Absence:
    """A stretch of a step in which a tensor is not used, so that it may be elsewhere."""

    tensor: int
    after: int
    """operator after which it may leave; -1: it is elsewhere when the step starts"""
    before: int
    """operator that needs it next; the number of operators: none in this step"""
    is_written: bool
    """whether leaving takes a copy: it was changed since it was last elsewhere"""
    remade_by: int | None
    """operator that can make it again in place of its coming back"""
    remade_from: tuple[int, ...] = ()
    """tensors that this operator needs, weights included, or that its inputs are made from"""


@dataclass(frozen=True)
class TensorGraph:
    """One step of one device."""

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    layers: tuple[str, ...]
    """names, by the numbers that operators carry"""

    def __post_init__(self) -> None:
        count = len(self.tensors)
        for operator in self.operators:
            if wrong := [t for t in (*operator.needs, *operator.makes) if not 0 <= t < count]:
                raise ValueError(f"operators: '{operator.name}' uses tensor {wrong[0]} of {count}")

    @cached_property
    def uses(self) -> tuple[tuple[int, ...], ...]:
        """Operators that need or make each tensor, in order."""
        found: list[list[int]] = [[] for _ in self.tensors]
        for number, operator in enumerate(self.operators):
            for tensor in dict.fromkeys((*operator.needs, *operator.makes)):
                found[tensor].append(number)
        return tuple(map(tuple, found))

    def absences(self, kinds: Collection[TensorKind] = ACTIVATIONS) -> tuple[Absence, ...]:
        """Of all tensors of some kinds, by the operator after which they may leave.

        A tensor stays from its first to its last use of a phase. One that the step does not make is elsewhere before
        its first use, and again after its last.
        """
        chosen = (t for t, tensor in enumerate(self.tensors) if tensor.kind in kinds)
        found = [absence for tensor in chosen for absence in self._absences(tensor)]
        return tuple(sorted(found, key=lambda each: (each.after, each.tensor)))

    def _absences(self, tensor: int) -> Iterator[Absence]:
        uses = self.uses[tensor]
        if not uses:
            return
        first = self.operators[uses[0]]
        is_made_here = tensor in first.makes and tensor not in first.needs
        is_remade = is_made_here and first.phase == "forward"
        remade_by, remade_from = (uses[0], (*first.needs, *first.derived_from)) if is_remade else (None, ())
        is_changed = False
        if not is_made_here:
            yield Absence(tensor, -1, uses[0], False, None)
        stays = [[u for u in uses if self.operators[u].phase == phase] for phase in ("forward", "backward", "update")]
        stays = [stay for stay in stays if stay]
        for number, stay in enumerate(stays):
            is_changed = is_changed or any(tensor in self.operators[u].makes for u in stay)
            is_last = number + 1 == len(stays)
            if is_last and is_made_here:
                return
            before = len(self.operators) if is_last else stays[number + 1][0]
            yield Absence(tensor, stay[-1], before, is_changed, remade_by, remade_from)
            is_changed = False
