"""Types of a sweep: a cell, what all cells share, and the function that runs one."""

from collections.abc import Callable, Generator
from typing import TypeVar

from planner.sweep.store import Document

CellT = TypeVar("CellT")
SharedT = TypeVar("SharedT")
ShouldStop = Callable[[], bool]
Do = Callable[[SharedT, CellT, ShouldStop], Document]
"""a function of a module: what all cells share, a cell, and whether to stop -> what the cell gave"""
Finished = Generator[tuple[CellT, Document], None, None]
