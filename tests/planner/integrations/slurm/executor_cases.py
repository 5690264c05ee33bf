"""Shared by the tests of `executor`."""

from pathlib import Path

from planner.integrations.switch_drivers import Circuits
from tests.planner.integrations.slurm.fragile import site

SITE = site(Path("/state"), Path("/bindings"))
LIGHT: Circuits = [
    {"dimension": "data", "circuits": [{"from": "s0.t0", "to": "s1.t0", "wavelengths": [0], "fibers": []}]}
]
