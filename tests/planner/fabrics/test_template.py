"""Fabrics of new instances: as large as asked, and made from the schema where a plug-in writes none."""

import pytest
import yaml

from planner.fabrics import fabrics


@pytest.mark.parametrize("kind", fabrics())
@pytest.mark.parametrize("servers", [1, 5])
def test_a_new_fabric_has_the_servers_and_devices_that_are_asked_for(kind: str, servers: int) -> None:
    plugin = fabrics()[kind]
    text = plugin.template.text(servers=servers, tiles=8, fibers=2)
    fabric = plugin.schema.model_validate(yaml.safe_load(text)["fabric"])
    assert (fabric.kind, fabric.num_servers, fabric.devices_per_server) == (kind, servers, 8)
