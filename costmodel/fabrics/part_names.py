"""The server that the name of a part begins with."""

import re

from costmodel.fabrics.base import FabricBase

SERVER = re.compile(r"(?:r\d+\.)?s\d+")
"""server in the name of a part"""


def owning_server(fabric: FabricBase, name: str) -> int:
    """Index of the server of an accelerator, or of another part of it; ValueError where the name begins with none."""
    server = fabric.servers_by_name.get(name.rpartition(".")[0])
    if server is not None:
        return server
    found = SERVER.match(name)
    return fabric.parse_server(name if found is None else found[0])
