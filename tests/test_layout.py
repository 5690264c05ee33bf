"""Who has a module open finds its tests by path alone, and the other way round.

Tests of `planner/a/b.py` are in `tests/planner/a/test_b.py`, and in `test_b_<part>.py` beside it where they are many;
tests of a package `planner/a` as a whole in `tests/planner/a/test_a.py`. What tests several modules together is listed
in `TOGETHER` with the reason. Fixtures are in `conftest.py`, what tests share in modules that are no tests.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.paths import ROOT

TESTS = ROOT / "tests"
PACKAGES = ("costmodel", "planner")
TOGETHER = {
    "tests/planner/cli/test_core_install.py": "commands where no extra is installed",
    "tests": "the documents, the instances that ship, and the rules of this repository",
    "tests/benchmarks": "benchmarks",
    "tests/golden": "the golden record",
    "tests/kubernetes": "a real API server and scheduler, as a program",
    "tests/mpi": "exported schedules under MPI",
    "tests/oracles": "the oracles themselves",
    "tests/simulation": "two processes of a controller on a clock of their own",
    "tests/slurm": "a real Slurm",
    "tests/costmodel/workloads/test_readme.py": "the page on workloads",
    "tests/planner/cli/test_bad_input.py": "bad input through the command line",
    "tests/planner/controller/test_crash.py": "a controller that dies at any write",
    "tests/planner/controller/test_per_server.py": "a controller with jobs of as many accelerators a server",
    "tests/planner/controller/test_servers_by_rack.py": "a controller with jobs of so many servers of each rack",
    "tests/planner/controller/test_pools.py": "a controller of racks with pooled memory",
    "tests/planner/cpsat/test_against_brute_force.py": "the exact policy against enumeration",
    "tests/planner/cpsat/test_even_jobs.py": "the exact policy against enumeration",
    "tests/planner/cpsat/test_slots_against_brute_force.py": "the exact policy against enumeration",
    "tests/planner/fabrics/joined_racks/test_against_enumeration.py": "the exact policy against enumeration",
    "tests/planner/fabrics/joined_racks/test_laws.py": "the exact policy by laws of joined racks",
    "tests/planner/fabrics/lightpath/test_ring6.py": "an instance that ships, through the whole line",
    "tests/planner/fabrics/sipam/test_against_enumeration.py": "the exact policy against enumeration",
    "tests/planner/fabrics/test_all_fabrics.py": "commands and controllers on every fabric",
    "tests/planner/fabrics/test_conformance.py": "the conformance suite",
    "tests/planner/fabrics/test_conformance_groups.py": "the conformance suite",
    "tests/planner/fabrics/test_readme.py": "the page on fabrics: a fabric of another distribution in every command",
    "tests/planner/pages/cpsat/test_against_brute_force.py": "the placement of pages against enumeration",
    "tests/planner/policies/test_outside.py": "a policy of another distribution in every command",
    "tests/planner/integrations/switch_drivers/ocs/test_controller_faults.py": "a controller over failing switches",
    "tests/planner/service/test_page.py": "the live page in a browser",
    "tests/planner/simulate/test_shipped.py": "clusters that ship, through a replay",
    "tests/planner/studies/test_one_training_model.py": "one training step in validate, score and solve",
    "tests/planner/whatif/repair/test_against_enumeration.py": "repairs against enumeration",
    "tests/planner/report/test_levels_of_detail.py": "scripts of a page of many accelerators",
}
"""file, or folder without those below it: what is tested there together"""
FEW_STATEMENTS = 8
"""in all functions of a module: with fewer it is a table, a type or a name for something else"""
MOST_WITHOUT = 189
"""modules of more than few statements without tests of their own; they may only become fewer"""


def _source_of(test: Path) -> Path | None:
    """The module or package that the path of a test file names."""
    folder, name = ROOT / test.relative_to(TESTS).parent, test.stem.removeprefix("test_")
    words = name.split("_")
    for count in range(len(words), 0, -1):
        module = folder / f"{'_'.join(words[:count])}.py"
        if module.is_file():
            return module
    return folder if folder.name == name and (folder / "__init__.py").is_file() else None


def _statements(path: Path) -> int:
    """Statements inside functions, docstrings apart."""
    functions = (
        node
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    inside = {part for function in functions for part in ast.walk(function) if part is not function}
    return sum(
        isinstance(part, ast.stmt)
        and not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        and not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        for part in inside
    )


def _without_tests() -> Iterator[str]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT)
            test = TESTS / place.parent / f"test_{path.name}"
            if not path.stem.startswith("__") and not test.is_file() and _statements(path) >= FEW_STATEMENTS:
                yield str(place)


def test_every_test_file_names_what_it_tests() -> None:
    places = {test: str(test.relative_to(ROOT)) for test in TESTS.rglob("test_*.py")}
    nowhere = [
        place
        for test, place in places.items()
        if _source_of(test) is None and place not in TOGETHER and str(Path(place).parent) not in TOGETHER
    ]
    assert sorted(nowhere) == [], "name it after the module that it tests, or enter it in TOGETHER with the reason"


def test_what_is_tested_together_is_there_and_mirrors_nothing() -> None:
    wrong = [place for place in TOGETHER if not (ROOT / place).exists()]
    assert wrong + [place for place in TOGETHER if place.endswith(".py") and _source_of(ROOT / place)] == []


def test_modules_without_tests_of_their_own_become_fewer() -> None:
    without = [*_without_tests()]
    assert len(without) <= MOST_WITHOUT, "\n".join(["write its tests beside it, or fewer functions:", *without])


def test_helpers_are_no_tests() -> None:
    """A test file imports no other one."""
    wrong = [
        f"{test.relative_to(ROOT)}:{node.lineno}"
        for test in sorted(TESTS.rglob("*.py"))
        for node in ast.walk(ast.parse(test.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[-1].startswith("test_")
    ]
    assert wrong == []
