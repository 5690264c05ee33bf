"""Shared by the tests of wirings."""

from costmodel.fabrics import FabricBase
from planner.model.cluster import Cluster
from tests.fabrics import FABRICS

WITH_SWITCHES = ("ocs_rail", "torus", "sipam")


def fabric_of(kind: str) -> FabricBase:
    fabric: FabricBase = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRICS[kind]}).fabric
    return fabric
