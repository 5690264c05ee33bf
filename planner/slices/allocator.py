"""What every allocator does: it hands out slices of free accelerators and takes them back."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol


class Slice(NamedTuple):
    """Accelerators that one job holds, and the fibers between servers where the system counts them."""

    devices: int
    """bit i is set where accelerator i belongs to the slice; more than asked where sizes are rounded up"""
    fibers: tuple[tuple[int, int], ...] = ()
    """ordered pairs of servers, one for each fiber held"""


class Allocator(Protocol):
    """Accelerators 0 to capacity - 1 of one cluster."""

    def allocate(self, size: int) -> Slice | None:
        """A slice with at least `size` accelerators, size >= 1; None where the system has none to give."""
        ...

    def release(self, slice_: Slice) -> None:
        """Take back what `allocate` returned."""
        ...


class MaskAllocator:
    """An allocator whose whole state is the set of free accelerators."""

    def __init__(self, capacity: int, taken: int = 0) -> None:
        """`taken`: accelerators that are never handed out, as a bitmask."""
        self.capacity = capacity
        self.free = all_ones(capacity) & ~taken

    def fit(self, size: int) -> int:
        """Devices of the slice to give next, a subset of the free ones; 0 where there is none."""
        raise NotImplementedError

    def allocate(self, size: int) -> Slice | None:
        if size > self.free.bit_count():
            return None
        devices = self.fit(size)
        if not devices:
            return None
        self.free ^= devices
        return Slice(devices)

    def release(self, slice_: Slice) -> None:
        self.free |= slice_.devices


class FirstFree(MaskAllocator):
    """Slices of a size have an order, and the first one that is free is given.

    So it is looked for again only where some of it was taken, or something was given back.
    """

    def __init__(self, capacity: int, taken: int = 0) -> None:
        super().__init__(capacity, taken)
        self._last: dict[int, tuple[int, int]] = {}
        """the last answer by size, behind the set of free accelerators in which it was found"""

    def fit(self, size: int) -> int:
        free, devices = self._last.get(size, (0, 0))
        if self.free & ~free or devices & ~self.free:
            devices = self.fit_in(self.free, size)
            self._last[size] = self.free, devices
        return devices

    def fit_in(self, free: int, size: int) -> int:
        """The first slice of a set of free accelerators; 0 where there is none."""
        raise NotImplementedError


def all_ones(count: int) -> int:
    """The set of the first so many accelerators."""
    return (1 << count) - 1


def repeated(first: int, period: int, count: int) -> int:
    """The `first` accelerators of each period, of so many that are a multiple of it."""
    return all_ones(first) * (all_ones(count) // all_ones(period))


def lowest(devices: int, count: int) -> int:
    """The `count` first of a set of at least as many."""
    rest = devices
    for _ in range(count):
        rest &= rest - 1
    return devices ^ rest


def members(devices: int) -> Iterator[int]:
    """Accelerators of a set, ascending."""
    while devices:
        bit = devices & -devices
        yield bit.bit_length() - 1
        devices ^= bit
