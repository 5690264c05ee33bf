"""Starts where packets join servers."""

from typing import ClassVar

from planner.fabrics.starts import Starts


class PacketStarts(Starts):
    """Jobs are packed by numbers."""

    are_counted: ClassVar[bool] = True
