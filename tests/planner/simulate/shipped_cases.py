"""Shared by the tests of `job_classes` and `shipped`."""

from planner.model import files
from planner.model.cluster import Cluster
from tests.paths import ROOT

FOLDER = ROOT / "instances" / "replay"


def shipped(name: str) -> Cluster:
    return files.load(Cluster, FOLDER / f"{name}.yaml")
