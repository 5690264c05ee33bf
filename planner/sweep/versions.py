"""Versions of the code that runs a cell, which its result depends on beside its inputs."""

import hashlib
from collections.abc import Collection
from functools import cache
from importlib.metadata import EntryPoint, entry_points, version
from importlib.util import find_spec
from pathlib import Path

import costmodel

ROOTS = Path(costmodel.__path__[0]), Path(__file__).parents[1]
SHOWN_LATER = frozenset({"cli", "controller", "integrations", "plotting", "report", "service"})
"""folders of planner that no cell can import"""
DISTRIBUTIONS = ("ortools", "numpy")
OUTSIDE = ("planner.fabrics", "planner.policies")
"""groups of entry points by which other distributions take part"""


@cache
def code() -> dict[str, str]:
    """Digest of the files of this package, versions of the packages that compute, and of outside fabrics and
    policies with digests of theirs."""
    own = _digest(ROOTS, SHOWN_LATER)
    outside = {f"{group}:{point.name}": _outside(point) for group in OUTSIDE for point in entry_points(group=group)}
    return {"photonplan": own} | {name: version(name) for name in DISTRIBUTIONS} | outside


def _outside(point: EntryPoint) -> str:
    """Version of the distribution of an entry point, and a digest of its package or module."""
    spec = find_spec(point.module.partition(".")[0])
    places = (spec.submodule_search_locations or [str(spec.origin)]) if spec is not None else []
    return f"{point.dist.version if point.dist else ''} {_digest([Path(place) for place in places])}"


def _digest(roots: Collection[Path], left_out: Collection[str] = ()) -> str:
    """Of all source files under some folders, or of single files."""
    digest = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            parts = path.relative_to(root).parts or (root.name,)
            is_source = path.suffix in (".py", ".json", ".yaml") and "__pycache__" not in parts
            if is_source and parts[0] not in left_out:
                digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
