"""The part of a plug-in that writes its fabric for a new instance, with comments."""

from typing import Any, ClassVar

from costmodel.fabrics import FabricBase
from planner.model.instance import ObjectiveName


class Template:
    """Text for the key `fabric` of a cluster in YAML, indented by two spaces; valid as written."""

    body: ClassVar[str]
    """with the fields of `numbers` as `str.format` has them"""
    objectives: ClassVar[tuple[ObjectiveName, ...]] = ("value", "moves", "energy")
    """of a new instance, in their order"""

    def __init__(self, schema: type[FabricBase]) -> None:
        self.schema = schema

    def text(self, *, servers: int, tiles: int, fibers: int) -> str:
        """A rack of so many servers with so many devices each; fibers between each ordered pair, if there are any.

        InputError where the fabric cannot have them.
        """
        return self.body.format(**self.numbers(servers=servers, tiles=tiles, fibers=fibers))

    def numbers(self, *, servers: int, tiles: int, fibers: int) -> dict[str, Any]:
        """What the body is filled with."""
        return {"servers": servers, "tiles": tiles, "fibers": fibers}
