"""Convolutional networks from their layers: spatial sizes, branches and joins follow from the file."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.dataflow.networks.node import LayerNode
from costmodel.hardware.parts import SourcedPart, load_part
from costmodel.spec import Spec

KIND: Literal["convolutional_network"] = "convolutional_network"
LayerOp = Literal["convolution", "linear", "max_pool", "average_pool", "add", "concatenate"]


class Layer(Spec):
    """A layer and the elementwise ones right after it."""

    name: str = Field(min_length=1)
    """of the layer in its network"""
    op: LayerOp
    """what it computes of its inputs"""
    inputs: tuple[str, ...] = ()
    """names of layers; the layer before unless given"""
    outputs: int | None = Field(default=None, ge=1)
    """channels of a convolution, features of a linear layer"""
    kernel: int = Field(default=1, ge=1)
    """side of a window, in pixels"""
    stride: int = Field(default=1, ge=1)
    """pixels from a window to the next"""
    padding: int = Field(default=0, ge=0)
    """pixels of zeros around each channel"""
    rounds_up: bool = False
    """whether the last window may reach over the edge"""
    groups: int = Field(default=1, ge=1)
    """of channels that are convolved apart"""
    then: tuple[Literal["norm", "local_norm", "relu"], ...] = ()
    """elementwise layers right after it, in their order"""

    @model_validator(mode="after")
    def _matrices_have_outputs(self) -> Self:
        if (self.op in ("convolution", "linear")) != (self.outputs is not None):
            raise ValueError(f"outputs: convolution and linear have them, no other does; see layer '{self.name}'")
        return self


@dataclass(frozen=True)
class _Map:
    """Feature maps: channels of side x side."""

    channels: int
    side: int

    @property
    def elements(self) -> int:
        return self.channels * self.side**2


class ConvolutionalNetwork(SourcedPart):
    """Layers in an order in which they can run."""

    kind: Literal["convolutional_network"] = KIND
    channels: int = Field(ge=1)
    """of an image, of side x side"""
    side: int = Field(ge=1)
    """of an image, in pixels"""
    layers: tuple[Layer, ...] = Field(min_length=1)
    """each after those that it takes inputs from"""

    @model_validator(mode="after")
    def _shapes_fit(self) -> Self:
        assert self.nodes
        return self

    @property
    def label(self) -> str:
        """For people."""
        return self.name

    @cached_property
    def nodes(self) -> tuple[LayerNode, ...]:
        """Every layer; ValueError names the one whose inputs do not fit."""
        return tuple(_Builder(self).nodes())


class _Builder:
    """Derives shapes from layer to layer."""

    def __init__(self, network: ConvolutionalNetwork) -> None:
        self.network = network
        self.found: list[LayerNode] = []
        self.maps: list[_Map] = []
        self.last_of: dict[str, int] = {}

    def nodes(self) -> Iterator[LayerNode]:
        for layer in self.network.layers:
            if layer.name in self.last_of:
                raise ValueError(f"layers: two have the name '{layer.name}'; rename one")
            self._add(layer)
            for op in layer.then:
                before, size = len(self.found) - 1, self.maps[-1]
                self._append(LayerNode(f"{layer.name} {op}", op, (before,), size.elements, size.elements), size)
            self.last_of[layer.name] = len(self.found) - 1
        yield from self.found

    def _append(self, node: LayerNode, size: _Map) -> None:
        self.found.append(node)
        self.maps.append(size)

    def _inputs(self, layer: Layer) -> tuple[int, ...]:
        if unknown := [name for name in layer.inputs if name not in self.last_of]:
            raise ValueError(f"layers: '{layer.name}' takes '{unknown[0]}', which no layer before it is named")
        if layer.inputs:
            return tuple(self.last_of[name] for name in layer.inputs)
        return (len(self.found) - 1,) if self.found else ()

    def _add(self, layer: Layer) -> None:
        inputs = self._inputs(layer)
        sources = [self.maps[i] for i in inputs] or [_Map(self.network.channels, self.network.side)]
        size = _output(layer, sources)
        rows = columns = depth = 0
        groups = layer.groups if layer.op == "convolution" else 1
        if layer.outputs is not None:
            rows = size.side**2
            columns = layer.outputs // groups
            window = layer.kernel**2 if layer.op == "convolution" else sources[0].side ** 2
            depth = window * sources[0].channels // groups
        self._append(
            LayerNode(
                layer.name, layer.op, inputs, sum(each.elements for each in sources), size.elements, rows, columns,
                depth, groups, layer.name, size.elements,
            ),
            size,
        )  # fmt: skip


def _output(layer: Layer, sources: list[_Map]) -> _Map:
    """Feature maps that a layer makes of others."""
    first = sources[0]
    if layer.op == "add":
        if len(set(sources)) > 1 or len(sources) < 2:
            raise ValueError(f"layers: '{layer.name}' adds {sources}; it needs two or more of one shape")
        return first
    if layer.op == "concatenate":
        if len({each.side for each in sources}) > 1:
            raise ValueError(f"layers: '{layer.name}' joins {sources}; their sides must agree")
        return _Map(sum(each.channels for each in sources), first.side)
    if len(sources) > 1:
        raise ValueError(f"layers: '{layer.name}' takes {len(sources)} inputs; only add and concatenate join")
    if layer.op == "linear":
        return _Map(layer.outputs or 0, 1)
    return _windows(layer, first)


def _windows(layer: Layer, source: _Map) -> _Map:
    """Output of a convolution or a pool."""
    room = source.side + 2 * layer.padding - layer.kernel
    if room < 0:
        raise ValueError(f"layers: the kernel of '{layer.name}' ({layer.kernel}) exceeds its input ({source.side})")
    steps = -(-room // layer.stride) if layer.rounds_up else room // layer.stride
    if layer.outputs is None:
        return _Map(source.channels, steps + 1)
    if source.channels % layer.groups or layer.outputs % layer.groups:
        raise ValueError(f"layers: groups ({layer.groups}) of '{layer.name}' must divide its channels")
    return _Map(layer.outputs, steps + 1)


def load_convolutional_network(name: str) -> ConvolutionalNetwork:
    """A network of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(ConvolutionalNetwork, KIND, name)
