"""Templates that follow from a fabric's schema."""

from typing import Literal

import pytest
import yaml
from pydantic import Field

from costmodel.fabrics.fat_tree import Islands
from planner.fabrics.generated_template import GeneratedTemplate
from planner.fabrics.plugin import FabricPlugin
from planner.model.errors import InputError


class Plain(Islands):
    """Servers on a network of packets.

    What follows the first paragraph is not written.
    """

    kind: Literal["plain"] = "plain"
    oversubscription: float = Field(default=1.5, ge=1)
    """of the network"""
    planes: int = Field(ge=2)
    arrangement: Literal["full", "half"]


class PlainPlugin(FabricPlugin):
    schema = Plain


class Untold(Islands):
    kind: Literal["untold"] = "untold"
    names: tuple[str, ...]


class Fixed(Islands):
    kind: Literal["fixed"] = "fixed"
    gpus_per_server: int = 4


def test_a_plug_in_without_a_template_has_one_of_its_schema() -> None:
    text = PlainPlugin().template.text(servers=3, tiles=8, fibers=0)
    lines = text.splitlines()
    assert lines[1].split("#") == ["    kind: plain                        ", " Servers on a network of packets."]
    assert "    gpus_per_server: 8" in text
    assert "    nvlink_bandwidth: 300 GB/s" in text
    assert "    planes: 2" in text
    assert "    arrangement: full" in text
    assert "    # oversubscription: 1.5            # of the network" in lines
    fabric = Plain.model_validate(yaml.safe_load(text)["fabric"])
    assert (fabric.num_servers, fabric.devices_per_server, fabric.planes) == (3, 8, 2)


def test_a_field_of_unknown_values_needs_a_template() -> None:
    with pytest.raises(InputError, match=r"fabric.names: nothing tells a value for a untold; give the field examples"):
        GeneratedTemplate(Untold).text(servers=1, tiles=2, fibers=0)


def test_servers_of_another_size_are_refused() -> None:
    assert GeneratedTemplate(Fixed).text(servers=1, tiles=4, fibers=0)
    with pytest.raises(InputError, match="a server of this fixed has 4 accelerators; give --tiles as many"):
        GeneratedTemplate(Fixed).text(servers=1, tiles=8, fibers=0)
