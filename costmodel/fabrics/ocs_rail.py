"""Rails of optical circuit switches: accelerators of one rank in all servers, joined by matchings.

It is no member of the `Fabric` union: matchings are no constraint of the solver yet. It serves comparisons of closed
forms and says which circuits a rail can hold.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from costmodel.fabrics.base import NO_PLAN, LinkPlan
from costmodel.spec import BytesPerSecond, Seconds, Spec

Ints = NDArray[np.int64]
FREE = -1
"""no circuit"""


class OcsRail(Spec):
    """Each rail has `switches` optical switches; every accelerator of the rail has one port into each of them."""

    servers: int = Field(ge=2)
    switches: int = Field(ge=1)
    """of one rail"""
    ports: int = Field(ge=2)
    """of one switch, 136 or 300 in products: at most so many servers can be joined"""
    port_bandwidth_bytes_per_s: BytesPerSecond
    """one port, one direction"""
    alpha_s: Seconds

    @model_validator(mode="after")
    def _servers_fit(self) -> Self:
        if self.servers > self.ports:
            raise ValueError(f"ports: {self.ports} cannot join {self.servers} servers; give one for each server")
        return self

    def matchings(self, links: Ints) -> Ints:
        """Receiving server of each sending one by switch, FREE for none, shape (switches, servers).

        `links[a, b]` is the number of circuits from server a to b. They can be held if and only if no server sends or
        receives more than `switches` of them (Koenig), none to itself; ValueError otherwise.
        """
        links = np.asarray(links)
        if links.shape != (self.servers, self.servers) or (links < 0).any() or links.diagonal().any():
            raise ValueError(f"links: give {self.servers} x {self.servers} counts >= 0 with a diagonal of 0")
        if max(links.sum(axis=0).max(), links.sum(axis=1).max()) > self.switches:
            raise ValueError(f"links: a server has {self.switches} ports on a rail; ask for no more each way")
        colouring = _Colouring(self.servers, self.switches)
        for source, destination in np.argwhere(links):
            for _ in range(links[source, destination]):
                colouring.add(int(source), int(destination))
        return colouring.to.T.copy()

    def ring(self, servers: Sequence[int]) -> Ints:
        """Links of a ring over servers, repeated on every switch."""
        links = np.zeros((self.servers, self.servers), dtype=np.int64)
        if len(servers) > 1:
            links[list(servers), np.roll(servers, -1)] = self.switches
        return links

    def all_reduce(self, servers: int) -> LinkPlan:
        """Ring all-reduce of one rank of so many servers over all ports: 2 (m - 1) (alpha + S / (m B))."""
        if not 1 <= servers <= self.servers:
            raise ValueError(f"servers: {servers} of {self.servers}; give 1 to {self.servers}")
        if servers == 1:
            return NO_PLAN
        sent = 2 * (servers - 1) / servers
        bandwidth = self.switches * self.port_bandwidth_bytes_per_s
        return LinkPlan("ring", servers, 2 * (servers - 1) * self.alpha_s, sent / bandwidth, sent)


class _Colouring:
    """Edges of a bipartite multigraph, coloured one by one with alternating paths; colours are switches."""

    def __init__(self, servers: int, colours: int) -> None:
        self.to = np.full((servers, colours), FREE, dtype=np.int64)
        """receiver of each sender by colour"""
        self._from = np.full((servers, colours), FREE, dtype=np.int64)

    def add(self, source: int, destination: int) -> None:
        """Colour one edge; both ends must have a colour left."""
        mine = int(np.argmax(self.to[source] == FREE))
        theirs = int(np.argmax(self._from[destination] == FREE))
        if mine != theirs:
            self._swap(destination, mine, theirs)
        self.to[source, mine] = destination
        self._from[destination, mine] = source

    def _swap(self, receiver: int, first: int, second: int) -> None:
        """Exchange two colours on the path that enters a receiver in the first; it has no edge in the second."""
        path: list[tuple[int, int, int]] = []
        colour, here = first, receiver
        while (sender := int(self._from[here, colour])) != FREE:
            path.append((sender, here, colour))
            onward = int(self.to[sender, second])
            if onward == FREE:
                break
            path.append((sender, onward, second))
            here = onward
        for sender, end, old in path:
            self.to[sender, old] = self._from[end, old] = FREE
        for sender, end, old in path:
            new = second if old == first else first
            self.to[sender, new], self._from[end, new] = end, sender
