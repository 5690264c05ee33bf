"""Electrical cubes joined by optical switches: whole cubes in any order, or a box inside one cube."""

from planner.slices.allocator import MaskAllocator, all_ones
from planner.slices.torus_boxes import TorusBoxes


class OpticalCubes(MaskAllocator):
    """Slices of TPU-like machines (Zu et al., NSDI 2024): (4A, 4B, 4C) chips on any A B C cubes of side 4.

    Accelerator i of cube c has the number c side^3 + i. A slice smaller than a cube is a box of it without wrap, in
    the fullest cube that has room for it; a larger one is rounded up to whole cubes, the first free ones.
    """

    def __init__(self, cubes: int, side: int = 4, taken: int = 0) -> None:
        self.side, self.volume = side, side**3
        super().__init__(cubes * self.volume, taken)
        self._inside = TorusBoxes((side, side, side), wrap=False)
        self._full = all_ones(self.volume)

    def fit(self, size: int) -> int:
        free = [self.free >> first & self._full for first in range(0, self.capacity, self.volume)]
        return self._whole(free, -(-size // self.volume)) if size >= self.volume else self._box(free, size)

    def _whole(self, free: list[int], count: int) -> int:
        whole = [cube for cube, inside in enumerate(free) if inside == self._full][:count]
        return sum(self._full << cube * self.volume for cube in whole) if len(whole) == count else 0

    def _box(self, free: list[int], size: int) -> int:
        for cube in sorted(range(len(free)), key=lambda cube: free[cube].bit_count()):
            if free[cube].bit_count() >= size and (box := self._inside.fit_in(free[cube], size)):
                return box << cube * self.volume
        return 0
