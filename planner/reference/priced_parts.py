"""What a price of a part covers on each kind of fabric, counted on the cluster that `planner new` writes."""

import yaml

from costmodel.fabrics import PRICE_CLASSES, priced
from planner.fabrics import fabrics

SERVERS, TILES, FIBERS = 8, 8, 4
"""of the cluster that is counted: what `planner new` writes unless told otherwise"""
INTRODUCTION = (
    "Numbers of parts follow from the fabric. An accelerator comes with its share of the server and of the wires in "
    "it: NVLink, the links of a torus or inside its cube, rings. Light counts wherever it leads. Of "
    f"`planner new --fabric KIND`, {SERVERS} servers of {TILES} accelerators:\n\n"
)


def priced_parts() -> str:
    """A table of kinds of fabrics and the parts whose prices count there."""
    head = ["fabric", *(f"`{name}`" for name in PRICE_CLASSES)]
    rows = [head, ["---", *["---:"] * len(PRICE_CLASSES)], *([f"`{kind}`", *_cells(kind)] for kind in fabrics())]
    return INTRODUCTION + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cells(kind: str) -> list[str]:
    template = fabrics()[kind].template
    text = template.text(servers=SERVERS, tiles=TILES, fibers=FIBERS)
    counts = priced(template.schema.model_validate(yaml.safe_load(text)["fabric"]).inventory())
    return [f"{counts.get(name, 0):,}" if counts.get(name) else "" for name in PRICE_CLASSES]
