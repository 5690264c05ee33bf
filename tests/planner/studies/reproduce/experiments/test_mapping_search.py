"""Mappings of highest MFU of large transformers."""

import pytest

from tests.planner.studies.reproduce.experiments.photonic_fabric import models, outcome


@pytest.mark.slow
def test_more_memory_and_longer_reach_never_lower_the_mfu() -> None:
    run = outcome("mappings")
    found = run.quantities
    for name in (model["name"] for model in models("mappings")):
        for domain in (8, 64):
            reached = [found.get(f"MFU of {name} {system}, domains of {domain}", 0.0)
                       for system in ("NVIDIA", "PFMM 2TB", "PFMM 6TB")]  # fmt: skip
            assert reached == sorted(reached)
        assert found[f"MFU of {name} PFMM 6TB, domains of 64"] >= found[f"MFU of {name} PFMM 6TB, domains of 8"]
    assert {row.verdict for row in run.rows} == {"not derivable"}


def test_all_files_on_energy_have_the_same_shapes() -> None:
    shapes = [
        [(m["name"], m["layers"], m["hidden"]) for m in models(name)] for name in ("mappings", "collective_energy")
    ]
    assert shapes[0] == shapes[1]
