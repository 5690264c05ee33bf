"""What an operator writes so that the planner runs a Slurm."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.cli import main

ANY = {"kind": "transformer_training", "model": "bert-large", "global_batch": 840, "sequence": 128, "micro_batch": 1}
"""divides over any small number of accelerators"""


@dataclass
class Site:
    """slurm.yaml, and the folders that it names."""

    config: Path
    state: Path
    bindings: Path

    def install(self, slurm_conf: Path, *options: str) -> str:
        """What `planner slurm install` says; AssertionError where it fails."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main(["slurm", "install", "--config", str(self.config), "--slurm-conf", str(slurm_conf), *options])
        assert code == 0, said.getvalue()
        return said.getvalue()


def write_site(folder: Path, nodes: int, gpus: int = 8, /, *, apart: str = "photonplan", **fields: Any) -> Site:
    """slurm.yaml in a folder; state and bindings in folders whose names begin with `apart`; `fields` replace others."""
    folder.mkdir(exist_ok=True)
    fabric = {
        "kind": "lightpath", "servers": nodes, "tiles_per_server": gpus, "tile_rows": 2 if gpus % 2 == 0 else 1,
        "wavelengths_per_tile": 16, "wavelength_bandwidth": "18.75 GB/s", "max_peers": 3, "waveguides": "dedicated",
        "fibers": 2, "wavelengths_per_fiber": 16, "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    }  # fmt: skip
    (folder / "cluster.json").write_text(json.dumps({"device": "h100-sxm", "fabric": fabric}))
    training = {"kind": "transformer_training", "model": "llama-3.1-8b", "global_batch": 64, "sequence": 2048}
    state, bindings = folder / f"{apart} state", folder / f"{apart} bindings"
    given = {
        "cluster": "cluster.json", "nodes": f"n[0-{nodes - 1}]", "partitions": ["gpu"], "state": str(state),
        "bindings": str(bindings), "driver": {"kind": "file"}, "default_workload": "any", "poll": "0.4 s",
        "workloads": {"llama": training | {"micro_batch": 1}, "any": ANY},
    } | fields  # fmt: skip
    config = folder / "slurm.yaml"
    config.write_text(json.dumps(given, indent=1))
    return Site(config, state, bindings)
