"""Fibers from one server to another, and ways over them."""

from typing import Annotated

from pydantic import Field

from costmodel.counts import MOST_FIBERS
from costmodel.spec import Spec

NumFibers = Annotated[int, Field(ge=0, le=MOST_FIBERS)]
Fiber = tuple[int, int, int]
"""(source server, destination server, index)"""
Route = tuple[Fiber, ...]
"""Fibers that a circuit takes, in the order of the light; () inside a server."""


class FiberBundle(Spec):
    """Parallel fibers from one server to another, in this direction only."""

    source: str = Field(alias="from")
    """the server that sends, such as s0"""
    destination: str = Field(alias="to")
    """the server that receives"""
    count: NumFibers
    """fibers of the bundle"""
