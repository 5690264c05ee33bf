"""Parts of plug-ins: found by place, of the type that the interface states, imported when they are asked for."""

import subprocess
import sys
from pkgutil import resolve_name

import pytest

from costmodel.fabrics import FatTree
from planner.fabrics import fabrics
from planner.fabrics.drawing import Drawing
from planner.fabrics.part import Part, PartType
from planner.fabrics.plugin import FabricPlugin

NAMES = [name for name, part in vars(FabricPlugin).items() if isinstance(part, Part | PartType)]


class Plain(FabricPlugin):
    schema = FatTree


class OwnDrawing(Drawing):
    pass


class Drawn(Plain):
    parts = {"drawing": f"{__name__}:OwnDrawing"}  # noqa: RUF012


class Below(Drawn):
    parts = {"circuit_namer": "planner.fabrics.slices.circuit_names:SlicedCircuitNamer"}  # noqa: RUF012


@pytest.mark.parametrize("kind", fabrics())
def test_each_part_is_of_the_type_that_the_interface_states(kind: str) -> None:
    plugin, default = fabrics()[kind], Plain()
    for name in NAMES:
        stated = getattr(default, name)
        if isinstance(stated, type):
            assert issubclass(getattr(plugin, name), stated), name
        elif name == "template":
            assert plugin.template.schema is plugin.schema
        else:
            assert isinstance(getattr(plugin, name), type(stated)), name


@pytest.mark.parametrize("kind", fabrics())
def test_a_part_is_made_once_of_the_class_that_is_named(kind: str) -> None:
    plugin = fabrics()[kind]
    for name, place in plugin.parts.items():
        part = getattr(plugin, name)
        assert (part if isinstance(part, type) else type(part)) is resolve_name(place)
        assert getattr(plugin, name) is part


def test_a_plug_in_has_the_parts_of_the_one_above() -> None:
    assert type(Below().drawing) is OwnDrawing
    assert type(Drawn().drawing) is OwnDrawing
    assert type(Plain().drawing) is Drawing
    assert Below().circuit_namer.__name__ == "SlicedCircuitNamer"
    assert Drawn().circuit_namer.__name__ == "CircuitNamer"


def test_an_unknown_part_is_told_with_those_that_there_are() -> None:
    with pytest.raises(AttributeError, match=r"Wrong.parts: there is no part 'draw'; parts are: spares, upgrades, "):
        type("Wrong", (Plain,), {"parts": {"draw": "x:Y"}})


def test_the_table_of_plug_ins_loads_no_part() -> None:
    code = (
        "import sys; from planner.fabrics import fabrics; plugins = fabrics().values();"
        "print([m for p in plugins for m in {v.partition(':')[0] for v in p.parts.values()} if m in sys.modules],"
        " 'ortools' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["[]", "False"]
