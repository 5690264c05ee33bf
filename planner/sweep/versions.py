"""What cells depend on beside their inputs: the code that runs them."""

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import costmodel
from planner import __version__

ROOTS = Path(costmodel.__path__[0]), Path(__file__).parents[1]
SHOWN_LATER = ("cli", "report", "plotting", "exports", "schedulers")
"""folders of planner that no cell can import"""
DISTRIBUTIONS = ("ortools", "numpy")


@cache
def code() -> dict[str, str]:
    """Version of this package with a digest of its files, and of the packages that compute."""
    digest = hashlib.sha256()
    for root in ROOTS:
        for path in sorted(root.rglob("*")):
            parts = path.relative_to(root).parts
            is_source = path.suffix in (".py", ".json", ".yaml") and "__pycache__" not in parts
            if is_source and parts[0] not in SHOWN_LATER:
                digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    own = f"{__version__} {digest.hexdigest()[:16]}"
    return {"photonplan": own} | {name: version(name) for name in DISTRIBUTIONS}
