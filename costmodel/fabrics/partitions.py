"""Partitions of a server: the only boxes that parts of jobs get inside it, as the sub-slices of a TPU cube on GKE."""

from collections.abc import Sequence

from costmodel.fabrics.boxes import Sides


def is_of_whole(box: Sides, part: Sides) -> bool:
    """True if a box is made up of whole parts."""
    return not any(extent % of for extent, of in zip(box, part, strict=True))


def require_partitions(sides: Sides, partitions: Sequence[Sides]) -> None:
    """ValueError unless each is made of the first one, and divides the sides."""
    for each in partitions:
        if min(each) < 1 or not (is_of_whole(sides, each) and is_of_whole(each, partitions[0])):
            raise ValueError(
                f"partitions: {[*each]} must divide sides {[*sides]} and be made of the first one, "
                f"{[*partitions[0]]}; give chips along x, y and z, the least box first"
            )
