"""What the page is told of the shape of slices."""

from planner.fabrics import plugin_of
from planner.model.instance import Instance
from tests.paths import ROOT


def _own_view(name: str) -> object:
    cluster = Instance.load(ROOT / "instances" / "torus" / f"{name}.yaml").cluster
    return plugin_of(cluster.fabric).drawing.own_view(cluster)


def test_accelerators_are_told_by_digits_or_by_their_place_in_a_box() -> None:
    assert _own_view("sipac64") == {"kind": "digits", "radix": 4, "digits": 3}
    assert _own_view("pod64") == {"kind": "box", "sides": [4, 4, 4]}
    assert _own_view("boards64") == {"kind": "box", "sides": [4, 4, 4], "boards": [2, 2, 1]}


def test_pages_tell_fixed_links_from_light_of_boards() -> None:
    why = []
    for name in ("pod64", "boards64"):
        cluster = Instance.load(ROOT / "instances" / "torus" / f"{name}.yaml").cluster
        why.append(plugin_of(cluster.fabric).drawing.names(cluster.fabric)["why"])
    assert why[0].startswith("Links between neighbours are fixed")
    assert why[1].startswith("Boards divide the wavelengths of each chip")
