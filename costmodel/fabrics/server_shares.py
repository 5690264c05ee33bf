"""Parts of memory that the accelerators of a server share, by their number alone."""

from typing import ClassVar


class ServerShares:
    """Servers that may have such parts: which of them serves which rank is not planned."""

    share_names: ClassVar[tuple[str, ...]] = ()
    """of the parts, in the order of `Configuration.held`: units, I/Os, units of a second tier"""
    share_owner: ClassVar[str] = ""
    """what has them in a server, in words"""

    @property
    def shared(self) -> tuple[int, ...] | None:
        """How many of each a server has; None where each accelerator has its own."""
        return None
