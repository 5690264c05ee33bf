"""Literals of slices inside servers: which are taken, whatever job takes them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ortools.sat.python import cp_model

from costmodel.fabrics.sliced import Slice


class SliceLiterals(NamedTuple):
    """A slice of a server, and the literal that some job lies on it."""

    slice: Slice
    taken: cp_model.IntVar


def new_places(model: cp_model.CpModel, slices: Iterable[Slice]) -> tuple[SliceLiterals, ...]:
    """A literal for each slice of one extent on one server."""
    return tuple(SliceLiterals(each, model.new_bool_var("")) for each in slices)


def add_disjoint(
    model: cp_model.CpModel, places: Iterable[SliceLiterals], holders: Mapping[int, Sequence[cp_model.LiteralT]]
) -> None:
    """No slot of a server lies in two slices that are taken; `holders` are residents that hold a slot if they stay."""
    takers: defaultdict[int, list[cp_model.LiteralT]] = defaultdict(list)
    for slot, held in holders.items():
        takers[slot] += held
    for place in places:
        for slot in place.slice.slots:
            takers[slot].append(place.taken)
    for literals in takers.values():
        if len(literals) > 1:
            model.add_at_most_one(literals)
