"""Where a job lies by number, as whoever looks at it may see it: devices by rank, circuits by rank and route."""

from collections.abc import Sequence
from typing import Protocol

from costmodel.parallelism.configuration import Configuration
from planner.model.plan import HeldCircuits, MemoryCircuit, RackCircuit

Step = tuple[int, int, int] | str
Wire = tuple[int, int, int, tuple[Step, ...]]
"""source and destination by rank, mask of wavelengths, route"""


class Wires(Protocol):
    """Circuits by rank and by number of the job's servers."""

    @property
    def configurations(self) -> Sequence[tuple[str, Sequence[Wire]]]: ...
    @property
    def fiber_masks(self) -> Sequence[tuple[tuple[int, int, int], int]]: ...
    @property
    def text(self) -> str: ...
    @property
    def name(self) -> str: ...


class Lying(Protocol):
    """A job where it lies, by number and by name."""

    @property
    def devices(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def servers(self) -> tuple[int, ...]: ...
    @property
    def wiring(self) -> Wires: ...
    @property
    def device_names(self) -> tuple[str, ...]: ...
    @property
    def circuits(self) -> tuple[HeldCircuits, ...]: ...
    @property
    def memory(self) -> tuple[MemoryCircuit, ...]: ...
    @property
    def upper(self) -> tuple[RackCircuit, ...]: ...
    @property
    def configuration(self) -> Configuration: ...
