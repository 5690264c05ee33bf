"""Light by bundles: of a width that measures all circuits whose wavelengths are to be found."""

from planner.candidates.expand import expand
from planner.fabrics.lightpath.step2 import _grain
from planner.fabrics.pattern import Choice
from planner.model.instance import Instance

FABRIC = {"kind": "lightpath", "servers": 2, "tiles_per_server": 4, "tile_rows": 1, "waveguides": "shared"}
LIGHT = {"wavelengths_per_tile": 16, "wavelength_bandwidth": "18.75 GB/s", "wavelengths_per_fiber": 8, "fibers": 2}
RATES = {"alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b", "max_peers": 8}
WORKLOAD = {"kind": "transformer_inference", "model": "qwen3-32b", "precision": "fp8", "concurrency": 32}
LENGTHS = {"input_tokens": 4096, "output_tokens": 512}


def test_bundles_measure_circuits_inside_servers_where_slots_matter() -> None:
    fields = {"schema_version": 2, "name": "wide", "cluster": {"device": "h100-sxm", "fabric": FABRIC | LIGHT | RATES}}
    job = {"name": "serve", "workload": WORKLOAD | LENGTHS, "accelerators": {"min": 2, "max": 4}}
    problem = expand(Instance.model_validate(fields | {"jobs": [job]}))
    found = set()
    for row, shape in enumerate(problem.options[0].shapes):
        widths = {width for _, circuits in shape.configurations for *_, width in circuits}
        if shape.num_blocks <= 4:
            grain = _grain(problem, {0: Choice(row, False, ((0, shape.num_blocks),))}, [0])
            assert [width for width in widths if width % grain] == []
            found |= {width % 8 for width in widths}
    assert found - {0}
