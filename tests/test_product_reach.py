"""`planner reproduce` certifies what decides: no part of the model is there for it alone, but what is named here."""

import re

import pytest

from tests.test_architecture import MODULES

DECIDING = (
    "costmodel",
    "planner.candidates",
    "planner.fabrics",
    "planner.heuristics",
    "planner.pages",
    "planner.slices",
)
BESIDE_THE_PRODUCT = {
    "costmodel.collectives.best": "the least of published closed forms, which tests hold the families to",
    "costmodel.collectives.interpret": "a schedule run step by step, which tests hold exported files to",
    "costmodel.collectives.simulate": "the same for its times",
    "costmodel.measure.__main__": "a command of its own, where no more than torch, numpy and pydantic are",
    "planner.slices.any_chip": "what fragmentation is measured against: fragmentation of slices alone, without a model",
    "planner.slices.optical_cubes": "slices that fragmentation compares",
    "planner.slices.rings_over_servers": "likewise",
    "planner.slices.whole_servers": "likewise",
    "planner.slices.schemes": "these by the names that files give them",
}
"""what no command but `reproduce` reaches of the model and of the parts that decide, and why it is there"""
ASIDE = ("planner.studies.reproduce", "planner.plotting", "planner.cli.commands.reproduce")
"""figures are drawn of what is reproduced, too"""
PLACE = re.compile(r'"(planner[\w.]+):\w+"')
"""of a part, as plug-ins name it"""


@pytest.mark.slow
def test_what_is_reproduced_is_what_decides() -> None:
    """Rules of papers stand with their experiments."""
    known = {module.name: module for module in MODULES}
    reached: set[str] = set()
    found = [name for name in known if name.startswith("planner.cli") and not name.startswith(ASIDE)]
    while found:
        name = found.pop()
        if name not in reached:
            reached.add(name)
            module = known[name]
            imported = {*module.files_imported(known), *PLACE.findall(module.text)} & known.keys()
            found += [each for each in imported if not each.startswith(ASIDE)]
    modules = {name for name, module in known.items() if module.path.name != "__init__.py"}
    assert {name for name in modules - reached if name.startswith(DECIDING)} == set(BESIDE_THE_PRODUCT)
