"""Parts of a plug-in, given by place (`package.module:Class`) and imported when they are first asked for."""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Generic, Self, TypeVar, cast, overload

if TYPE_CHECKING:
    from collections.abc import Callable

    from costmodel.fabrics import FabricBase
    from planner.fabrics.plugin import FabricPlugin

P_co = TypeVar("P_co", covariant=True)


class _Named(Generic[P_co]):
    """A place under the name of an attribute: that in the table `parts` of a plug-in, else the default."""

    def __init__(self, default: str) -> None:
        self._default = default

    def __set_name__(self, plugin_type: type["FabricPlugin"], name: str) -> None:
        self._name = name

    def _class(self, plugin: "FabricPlugin") -> type[P_co]:
        return cast(type[P_co], resolve_name(plugin.parts.get(self._name, self._default)))


class Part(_Named[P_co]):
    """One object without state, made once for each plug-in."""

    @overload
    def __get__(self, plugin: None, plugin_type: type) -> Self: ...
    @overload
    def __get__(self, plugin: "FabricPlugin", plugin_type: type) -> P_co: ...
    def __get__(self, plugin: "FabricPlugin | None", plugin_type: type) -> "Self | P_co":
        if plugin is None:
            return self
        part = plugin.__dict__[self._name] = self._made(plugin)
        return part

    def _made(self, plugin: "FabricPlugin") -> P_co:
        return self._class(plugin)()


class PartOfSchema(Part[P_co]):
    """One object that is given the schema of the fabric."""

    def _made(self, plugin: "FabricPlugin") -> P_co:
        make = cast("Callable[[type[FabricBase]], P_co]", self._class(plugin))
        return make(plugin.schema)


class PartType(_Named[P_co]):
    """The class of objects with a state of their own, made by who asks."""

    @overload
    def __get__(self, plugin: None, plugin_type: type) -> Self: ...
    @overload
    def __get__(self, plugin: "FabricPlugin", plugin_type: type) -> type[P_co]: ...
    def __get__(self, plugin: "FabricPlugin | None", plugin_type: type) -> "Self | type[P_co]":
        return self if plugin is None else self._class(plugin)
