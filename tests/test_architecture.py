"""Imports point one way, files and functions stay short: read from the source, nothing is imported."""

import ast
import re
import tomllib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("costmodel", "planner")
MAX_FILE, MAX_FUNCTION = 300, 40
"""lines"""

LAYERS: tuple[tuple[str, ...], ...] = (
    ("costmodel", "planner.statistics"),
    ("planner.model",),
    ("planner.tables", "planner.sweep", "planner.slices"),
    ("planner.fabrics",),
    ("planner.formulation", "planner.prices"),
    ("planner.candidates", "planner.synthesis"),
    ("planner.heuristics",),
    ("planner.fabrics.*",),
    ("planner.cpsat",),
    ("planner.policies", "planner.pages"),
    ("planner.pipeline",),
    ("planner.whatif",),
    ("planner.explain", "planner.placement"),
    ("planner.simulate",),
    ("planner.studies",),
    ("planner.checked_solve",),
    ("planner.report", "planner.plotting", "planner.controller"),
    ("planner.integrations",),
    ("planner.service",),
    ("planner.api",),
    ("planner.reference",),
    ("planner.studio",),
    ("planner.cli",),
    ("planner.docs",),
)
"""A unit imports units of earlier layers only; `planner.fabrics.*` are the folders of single fabrics, and `checks`,
with the rules of each fabric, stand beside and have rules of their own."""
TABLES_OF_FABRICS = ("planner.fabrics", "planner.fabrics.plugin")
"""where the plug-ins and their parts are put together"""

ONLY_UNDER: dict[str, str | tuple[str, ...]] = {
    "ortools": (
        "planner.cpsat",
        "planner.fabrics",
        "planner.formulation",
        "planner.pages.cpsat",
        "planner.synthesis.exact",
    ),
    "matplotlib": "planner.plotting",
    "plotly": "planner.plotting",
    "typer": "planner.cli",
    "rich": "planner.cli",
    "pandas": "planner.tables",
    "scipy": "costmodel.calibrate",
    "torch": "costmodel.measure",
    "ray": ("planner.sweep.over_ray", "planner.integrations.ray_placement_groups"),
    "fastapi": ("planner.service", "planner.studio"),
    "starlette": ("planner.service", "planner.studio"),
    "uvicorn": ("planner.service", "planner.studio", "planner.integrations.switch_emulator"),
    "prometheus_client": "planner.service",
    "httpx": ("planner.integrations.kubernetes", "planner.integrations.switch_drivers.ocs"),
    "grpc": "planner.integrations",
    "pygnmi": "planner.integrations",
    "mkdocs": "planner.docs",
}
"""distribution -> the one place that may import it, or the few"""
PLACE = re.compile(r"planner(\.\w+)+:\w+")
"""of a part, as plug-ins name it"""
COMMANDS = {"costmodel.measure.__main__"}
"""commands outside the command line: this one runs where no more than torch, numpy and pydantic are"""
CHECKS_IMPORT = {"costmodel", "planner.model"}
IMPORT_CHECKS = {
    "planner",
    "planner.api",
    "planner.checked_solve",
    "planner.cli",
    "planner.studies",
    "planner.explain",
    "planner.report",
    "planner.controller",
    "planner.placement",
}
FABRIC_CLASSES = {
    "DividedPorts",
    "FatTree",
    "Lightpath",
    "MemoryNodeRings",
    "OcsRail",
    "PoolRack",
    "Sipac",
    "Sipam",
    "SlicedFabric",
    "Torus",
}

DECIDING = (
    "costmodel",
    "planner.candidates",
    "planner.fabrics",
    "planner.heuristics",
    "planner.pages",
    "planner.slices",
)
BESIDE_THE_PRODUCT = {
    "costmodel.collectives.simulate": "times of a schedule, event by event, which tests hold closed forms to",
    "costmodel.measure.__main__": "a command of its own, where no more than torch, numpy and pydantic are",
    "planner.slices.any_chip": "what fragmentation is measured against: fragmentation of slices alone, without a model",
    "planner.slices.optical_cubes": "slices that fragmentation compares",
    "planner.slices.rings_over_servers": "likewise",
    "planner.slices.whole_servers": "likewise",
    "planner.slices.schemes": "these by the names that files give them",
}
"""what no command but `reproduce` reaches of the model and of the parts that decide, and why it is there"""
BESIDE_REPRODUCE = ("planner.studies.reproduce", "planner.plotting", "planner.cli.commands.reproduce")
"""figures are drawn of what is reproduced, too"""


@dataclass(frozen=True)
class Module:
    """One source file."""

    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        return ".".join(self.path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    @property
    def place(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def defines_a_plugin(self) -> bool:
        """Whether it puts the parts of a fabric together, its rules among them."""
        return any(isinstance(node, ast.ClassDef) and node.name.endswith("Plugin") for node in self.tree.body)

    @property
    def joins_twins(self) -> bool:
        """Whether it is a table of constraint groups, each beside its twin rule."""
        return self.path.name == "groups.py" and _unit(self.name) in ("planner.cpsat", "planner.fabrics.*")

    @cached_property
    def for_types(self) -> frozenset[ast.AST]:
        """Nodes under `if TYPE_CHECKING:`."""
        ifs = [node for node in ast.walk(self.tree) if isinstance(node, ast.If)]
        parts = [part for node in ifs if ast.unparse(node.test) == "TYPE_CHECKING" for part in node.body]
        return frozenset(node for part in parts for node in ast.walk(part))

    @cached_property
    def imported(self) -> tuple[tuple[str, bool], ...]:
        """Imported modules, those inside functions and places of parts included, and whether only types need them."""
        return tuple((name, node in self.for_types) for node in ast.walk(self.tree) for name in self._names_in(node))

    def imports(self, *, for_types: bool = True) -> Iterator[str]:
        """Imported modules; `for_types`: those under TYPE_CHECKING too."""
        return (name for name, is_for_types in self.imported if for_types or not is_for_types)

    def _names_in(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{self.place}:{node.lineno} imports relatively"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from names if node.module in PACKAGES else [node.module]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and PLACE.fullmatch(node.value):
            yield node.value.partition(":")[0]

    def files_imported(self, known: Container[str]) -> Iterator[str]:
        """Imported modules, one file each: of a package the module that is imported from it, where there is one."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                yield from (name if name in known else str(node.module) for name in names)

    @property
    def places(self) -> Iterator[str]:
        """Modules of the places of parts that it names."""
        return (found.group().partition(":")[0] for found in PLACE.finditer(self.text))

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


MODULES = tuple(Module(path) for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))


def _unit(module: str) -> str:
    """costmodel, planner, the module or folder of planner, the folders of single fabrics, or what checks."""
    parts = module.split(".")
    if parts[0] == "costmodel":
        return "costmodel"
    if parts[1:2] in (["fabrics"], ["pages"]) and parts[-1].startswith("rule"):
        return "planner.checks"
    is_of_one_fabric = parts[1:2] == ["fabrics"] and len(parts) > 2 and (ROOT / "/".join(parts[:3])).is_dir()
    return "planner.fabrics.*" if is_of_one_fabric else ".".join(parts[:2])


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in PACKAGES


def _is_name_of_planner(module: str) -> bool:
    """Whether it is a name such as `planner.__version__` rather than a module."""
    path = ROOT / module.replace(".", "/")
    return (
        module.startswith("planner.")
        and "*" not in module
        and not path.is_dir()
        and not path.with_suffix(".py").is_file()
    )


def _imports_between_units() -> Iterator[tuple[Module, str, str]]:
    for module in MODULES:
        for imported in module.imports():
            here, there = _unit(module.name), _unit(imported)
            if _is_ours(imported) and not _is_name_of_planner(there) and here != there:
                yield module, here, there


@pytest.mark.slow
def test_imports_point_one_way() -> None:
    layer = {unit: number for number, units in enumerate(LAYERS) for unit in units}
    wrong = [
        f"{module.place} imports {there}"
        for module, here, there in _imports_between_units()
        if here not in ("planner", "planner.checks")
        and module.name not in TABLES_OF_FABRICS
        and there != "planner.checks"
        and not layer[here] > layer.get(there, len(LAYERS))
    ]
    assert wrong == []


def _circles() -> set[frozenset[str]]:
    """Files that import each other over any way, imports for types included."""
    known = {module.name: module for module in MODULES}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name, module in known.items():
        if not module.defines_a_plugin and name not in TABLES_OF_FABRICS:
            files = (other for other in module.files_imported(known) if other in known and other != name)
            graph.add_edges_from((name, other) for other in files)
    return {frozenset(files) for files in nx.strongly_connected_components(graph) if len(files) > 1}


@pytest.mark.slow
def test_no_files_import_each_other() -> None:
    """Plug-ins apart, which import their parts when these are asked for."""
    assert _circles() == set()


def test_every_unit_has_a_layer() -> None:
    known = {unit for units in LAYERS for unit in units} | {"planner", "planner.checks", "planner.catalog"}
    assert {_unit(module.name) for module in MODULES} - known == set()


@pytest.mark.slow
def test_the_cost_model_knows_nothing_of_the_planner() -> None:
    wrong = [
        module.place
        for module in MODULES
        if module.name.startswith("costmodel")
        and any(imported.split(".")[0] == "planner" for imported in module.imports())
    ]
    assert wrong == []


@pytest.mark.slow
def test_what_is_reproduced_is_what_decides() -> None:
    """Rules of papers stand with their experiments."""
    known = {module.name: module for module in MODULES}
    reached: set[str] = set()
    found = [name for name in known if name.startswith("planner.cli") and not name.startswith(BESIDE_REPRODUCE)]
    while found:
        name = found.pop()
        if name not in reached:
            reached.add(name)
            module = known[name]
            imported = {*module.files_imported(known), *module.places} & known.keys()
            found += [each for each in imported if not each.startswith(BESIDE_REPRODUCE)]
    modules = {name for name, module in known.items() if module.path.name != "__init__.py"}
    assert {name for name in modules - reached if name.startswith(DECIDING)} == set(BESIDE_THE_PRODUCT)


@pytest.mark.slow
def test_checks_share_nothing_with_the_model_but_the_file_types_and_the_catalog() -> None:
    """Beside these they import the table of plug-ins, whose `rules` are checks themselves."""
    wrong = [
        f"{module.place} imports {imported}"
        for module in MODULES
        for imported in module.imports()
        if _unit(module.name) == "planner.checks"
        and _is_ours(imported)
        and imported not in TABLES_OF_FABRICS
        and _unit(imported) not in {"planner.checks", *CHECKS_IMPORT}
    ]
    assert wrong == []


@pytest.mark.slow
def test_only_the_folders_of_fabrics_name_the_class_of_one() -> None:
    naming = {
        module.place
        for module in MODULES
        if not module.place.startswith(("planner/fabrics/", "costmodel/fabrics/"))
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Name) and node.id in FABRIC_CLASSES)
        or (isinstance(node, ast.ImportFrom) and {alias.name for alias in node.names} & FABRIC_CLASSES)
    }
    assert naming == set()


@pytest.mark.slow
def test_nothing_below_a_report_imports_the_checks() -> None:
    wrong = [
        module.place
        for module, here, there in _imports_between_units()
        if there == "planner.checks"
        and here not in IMPORT_CHECKS
        and not (module.defines_a_plugin or module.joins_twins)
    ]
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize(("distribution", "places"), ONLY_UNDER.items())
def test_only_one_place_imports(distribution: str, places: str | tuple[str, ...]) -> None:
    allowed = tuple(f"{place}." for place in ((places,) if isinstance(places, str) else places))
    wrong = [
        module.place
        for module in MODULES
        if not f"{module.name}.".startswith(allowed)
        and any(imported.split(".")[0] == distribution for imported in module.imports())
    ]
    assert wrong == []


@pytest.mark.slow
def test_only_the_command_line_prints() -> None:
    wrong = [
        f"{module.place}:{node.lineno}"
        for module in MODULES
        if not module.name.startswith("planner.cli") and module.name not in COMMANDS
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Call) and ast.unparse(node.func) == "print")
        or (isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout", "sys.stderr"))
    ]
    assert wrong == []


def test_files_are_short() -> None:
    lengths = {module.place: len(module.text.splitlines()) for module in MODULES}
    assert {place: lines for place, lines in lengths.items() if lines > MAX_FILE} == {}


@pytest.mark.slow
def test_functions_are_short() -> None:
    lengths = {
        f"{module.place}:{function.name}": (function.end_lineno or 0) - function.lineno + 1
        for module in MODULES
        for function in module.functions()
    }
    assert {place: lines for place, lines in lengths.items() if lines > MAX_FUNCTION} == {}


def test_every_module_says_what_it_is() -> None:
    assert [module.place for module in MODULES if not ast.get_docstring(module.tree)] == []


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {module.path.parent for module in MODULES}
    assert [str(folder) for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_the_wheel_contains_the_data_files() -> None:
    """Hatchling packs all files of the listed packages: none may be excluded, or lie where git ignores it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert set(wheel["packages"]) == set(PACKAGES)
    assert not {"exclude", "only-include", "only-packages", "include"} & set(wheel)
    assert "exclude" not in project["tool"]["hatch"]["build"]
    assert set(project["project"]["scripts"]) == {"planner"}
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file()
    ignored = [line.strip() for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()]
    assert {"*.json", "*.css", "*.js", "*.html", "*.md", "catalog/", "report/"} & set(ignored) == set()
