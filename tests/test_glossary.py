"""The glossary names places that exist, and every class name that means more than one thing."""

import ast
import re
from collections import defaultdict
from fnmatch import fnmatch

import pytest

from tests.paths import ROOT

GLOSSARY = (ROOT / "planner" / "GLOSSARY.md").read_text(encoding="utf-8")
TERMS = re.findall(r"^\| (?!term)([^|`]+) \| [^|]+ \| `([\w.]+)` \|$", GLOSSARY, re.MULTILINE)
NAMES = re.findall(r"^\| `(\w+)` \| .+ \| `([\w.*]+)` \|$", GLOSSARY, re.MULTILINE)
"""class and its module, or `*` for all of a package"""


def _plain(text: str) -> str:
    """Small letters, and no difference between a hyphen, an underscore, a space, a new line or nothing."""
    return re.sub(r"[\s_-]+", "", text.lower())


def _source(module: str) -> str:
    path = ROOT / module.replace(".", "/")
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("term", "module"), TERMS, ids=[term for term, _ in TERMS])
def test_who_greps_for_a_term_finds_its_place(term: str, module: str) -> None:
    source = _plain(_source(module))
    assert [each for each in term.split(", ") if _plain(each) not in source] == []


def test_there_are_terms() -> None:
    assert len(TERMS) >= 40


@pytest.mark.slow
def test_a_class_name_is_unique_or_listed_with_its_meanings() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for package in ("costmodel", "planner"):
        for path in (ROOT / package).rglob("*.py"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    found[node.name].add(module)
    shared = {(name, module) for name, modules in found.items() for module in modules if len(modules) > 1}
    assert [each for each in sorted(shared) if not any(_is_row_of(*row, *each) for row in NAMES)] == [], "to be listed"
    assert [row for row in NAMES if not any(_is_row_of(*row, *each) for each in shared)] == [], "not shared any more"


def _is_row_of(name: str, modules: str, shared: str, module: str) -> bool:
    return name == shared and fnmatch(module, modules)
