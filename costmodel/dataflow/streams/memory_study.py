"""Training steps of networks on systems that differ in where devices keep what they do not use."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from costmodel.dataflow.networks.convolutional import load_convolutional_network
from costmodel.dataflow.networks.node import LayerNode, Op
from costmodel.dataflow.networks.recurrent import RecurrentLayer
from costmodel.dataflow.networks.tensor_graph import TensorGraph
from costmodel.dataflow.networks.training_step import Division, Parallel, training_step
from costmodel.dataflow.streams.placement import Link, evenly, kept, local
from costmodel.dataflow.streams.program import Bools, Floats, Program, exchange_bytes, operator_times_s
from costmodel.dataflow.streams.simulate import Rules, simulate
from costmodel.dataflow.streams.timeline import Timeline
from costmodel.fabrics.memory_ring import Arrangement, HostPort, MemoryRing
from costmodel.hardware.memory.node import MemoryNode
from costmodel.hardware.parts import SourcedPart, load_part
from costmodel.kernels.pe_array import PeArray, load_pe_array
from costmodel.spec import Latency, Spec

KIND: Literal["memory_study"] = "memory_study"
POLICIES = {"local": local, "evenly": evenly}


class StoreSystem(Spec):
    """How the devices of one system reach a backing store."""

    store: Literal["none", "host_port", "host_links", "memory_nodes"]
    arrangement: Arrangement = "direct"
    host_links: int = Field(default=0, ge=0)
    policy: Literal["local", "evenly"] = "evenly"
    """how a tensor is divided among the ways to the store"""


class MemoryStudy(SourcedPart):
    """Everything that a comparison assumes; each system trains each network, by data and by the model."""

    kind: Literal["memory_study"] = KIND
    device: str
    """array of processing elements of the catalog"""
    devices: int = Field(ge=1)
    batch: int = Field(ge=1)
    """samples of all devices in one step"""
    alpha_s: Latency
    host: HostPort
    node: MemoryNode
    convolutional: dict[str, str]
    """networks of the catalog by label"""
    recurrent: dict[str, RecurrentLayer]
    input_widths: int = Field(ge=1)
    """of all recurrent layers"""
    saved: tuple[Op, ...]
    """kinds of layers whose outputs leave and come back"""
    counts_elementwise: bool
    """whether kernels without a product take time"""
    rules: Rules
    shares_links: bool
    """whether collectives and copies to memory nodes exclude each other"""
    systems: dict[str, StoreSystem]

    @model_validator(mode="after")
    def _loads(self) -> Self:
        load_pe_array(self.device)
        for name in self.convolutional.values():
            load_convolutional_network(name)
        for name in self.systems:
            self.fabric(name)
        return self

    @property
    def networks(self) -> tuple[str, ...]:
        """Labels of all networks."""
        return (*self.convolutional, *self.recurrent)

    def with_changes(self, changes: dict[str, Any]) -> "MemoryStudy":
        """The study with some keys of its file replaced."""
        return MemoryStudy.model_validate({**self.model_dump(by_alias=True), "sources": {}, **changes})

    def array(self) -> PeArray:
        return load_pe_array(self.device)

    def nodes(self, network: str) -> tuple[LayerNode, ...]:
        """Layers of a network by its label."""
        if network in self.convolutional:
            return load_convolutional_network(self.convolutional[network]).nodes
        layer = self.recurrent[network]
        return layer.model_copy(update={"input_widths": self.input_widths}).nodes

    def fabric(self, system: str) -> MemoryRing:
        """Links and store of a system by its label."""
        chosen, device = self.systems[system], self.array()
        return MemoryRing(
            devices=self.devices,
            links=device.links,
            link_bandwidth_bytes_per_s=device.link_bytes_per_s,
            alpha_s=self.alpha_s,
            arrangement=chosen.arrangement,
            node=self.node if chosen.store == "memory_nodes" else None,
            host_links=chosen.host_links,
            host=self.host if chosen.store == "host_port" else None,
        )

    def stores(self, system: str) -> tuple[Link, ...]:
        """Ways of one device to its backing store, to which the columns of a placement belong."""
        return self.fabric(system).stores(shares_collectives=self.shares_links)

    def program(self, network: str, parallel: Parallel, system: str) -> Program:
        """What one device executes in a step; the outputs that are saved may be absent where there is a store."""
        fabric, division = self.fabric(system), Division(parallel, self.devices, self.batch)
        priced = _priced(self.nodes(network), division, frozenset(self.saved), self.device)
        operator_s = np.where(priced.has_product | self.counts_elementwise, priced.operator_s, 0.0)
        exchange_s = fabric.exchange_s(*exchange_bytes(priced.graph))
        absences = priced.graph.absences() if self.stores(system) else ()
        return Program(priced.graph, operator_s, exchange_s, absences)

    def step(self, network: str, parallel: Parallel, system: str) -> Timeline:
        """One training step of one device, placed by the system's policy."""
        program, links = self.program(network, parallel, system), self.stores(system)
        place = POLICIES[self.systems[system].policy] if links else kept
        return simulate(program, links, place(program.size_bytes, links), self.rules)


@dataclass(frozen=True)
class _Priced:
    graph: TensorGraph
    operator_s: Floats
    has_product: Bools


@lru_cache(maxsize=256)
def _priced(nodes: tuple[LayerNode, ...], division: Division, saved: frozenset[Op], device: str) -> _Priced:
    """A step and the times of its operators, which do not depend on the system."""
    graph = training_step(nodes, division, saved)
    has_product = np.array([bool(operator.products) for operator in graph.operators])
    return _Priced(graph, operator_times_s(graph, load_pe_array(device)), has_product)


def steps(study: MemoryStudy, system: str, parallels: tuple[Parallel, ...] = ("data", "model")) -> Iterator[Timeline]:
    """One step of each network, all by data, then all by the model."""
    for parallel in parallels:
        for network in study.networks:
            yield study.step(network, parallel, system)


def load_memory_study(name: str) -> MemoryStudy:
    """A study of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(MemoryStudy, KIND, name)
