"""What the streams of one device execute in a step: kernels with their times, and tensors that may leave meanwhile."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costmodel.dataflow.networks.tensor_graph import Absence, Operator, TensorGraph
from costmodel.kernels.pe_array import PeArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Program:
    """O operators in order, and A absences of tensors; see costmodel.dataflow.networks.tensor_graph."""

    graph: TensorGraph
    operator_s: Floats
    """(O,) time of each operator alone"""
    exchange_s: Floats
    """(O,) time of the collective after it, 0 where there is none"""
    absences: tuple[Absence, ...]
    """what may be elsewhere; a placement has a row for each"""

    def __post_init__(self) -> None:
        expected = (len(self.operators),)
        for name, column in (("operator_s", self.operator_s), ("exchange_s", self.exchange_s)):
            if column.shape != expected:
                raise ValueError(f"{name}: has shape {column.shape} for {expected[0]} operators")
            if np.any(column < 0):
                raise ValueError(f"{name}: times must not be negative")

    @property
    def operators(self) -> tuple[Operator, ...]:
        return self.graph.operators

    @cached_property
    def size_bytes(self) -> Floats:
        """(A,) of the tensor that is absent."""
        return np.array([self.graph.tensors[each.tensor].size_bytes for each in self.absences], np.float64)

    @cached_property
    def leaves(self) -> Bools:
        """(A,) whether it is copied away in this step."""
        return np.array([each.is_written for each in self.absences], bool)

    @cached_property
    def returns(self) -> Bools:
        """(A,) whether it is needed again in this step."""
        return np.array([each.before < len(self.operators) for each in self.absences], bool)

    @cached_property
    def remake_s(self) -> Floats:
        """(A,) time of making it again; infinite where it cannot be."""
        made = [each.remade_by for each in self.absences]
        return np.array([np.inf if o is None else self.operator_s[o] for o in made], np.float64)

    @cached_property
    def remade_from(self) -> tuple[tuple[int, ...], ...]:
        """(A,) absences that must have ended before each is made again: those of what it is made from, at that time."""
        by_tensor: dict[int, list[int]] = {}
        for number, each in enumerate(self.absences):
            by_tensor.setdefault(each.tensor, []).append(number)
        return tuple(
            tuple(
                a
                for tensor in each.remade_from
                for a in by_tensor.get(tensor, ())
                if self.absences[a].after < each.before <= self.absences[a].before
            )
            for each in self.absences
        )


def operator_times_s(graph: TensorGraph, device: PeArray) -> Floats:
    """Of each operator on one device, shape (O,): its products, and what else it moves."""
    times_s = device.elementwise_s([operator.elementwise_bytes for operator in graph.operators])
    found = [(o, product) for o, each in enumerate(graph.operators) for product in each.products]
    if found:
        sizes = np.array([(p.m, p.n, p.k) for _, p in found]).T
        operands = np.array([(p.input_bytes, p.weight_bytes, p.output_bytes) for _, p in found]).T
        products_s = device.product_s(sizes, operands, [p.count for _, p in found])
        times_s += np.bincount([o for o, _ in found], products_s, len(times_s))
    return times_s


def exchange_bytes(graph: TensorGraph) -> tuple[Floats, Bools]:
    """Message of the collective after each operator, 0 where there is none, and whether it is an all-reduce; (O,)."""
    exchanges = [operator.exchange for operator in graph.operators]
    sizes = np.array([each.message_bytes if each else 0.0 for each in exchanges], np.float64)
    return sizes, np.array([each is not None and each.operation == "all_reduce" for each in exchanges], bool)
