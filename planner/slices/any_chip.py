"""Unrestricted optical switching: any free accelerators form a slice."""

from planner.slices.allocator import MaskAllocator, lowest


class AnyChip(MaskAllocator):
    """First fit without any shape; a job is refused only where too few accelerators are free."""

    def fit(self, size: int) -> int:
        return lowest(self.free, size)
