"""The manual says what each price covers, by the inventory of every fabric."""

from planner.fabrics import fabrics
from planner.reference.field_pages import other_files_page
from planner.reference.priced_parts import priced_parts


def test_every_fabric_has_a_row_of_what_it_counts() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in priced_parts().splitlines() if "|" in line
    ]
    assert rows[0][1:] == [
        "`accelerator`", "`electrical_port`", "`optical_port`", "`optical_switch`", "`memory_unit`",
    ]  # fmt: skip
    found = {kind.strip("`"): counts for kind, *counts in rows[2:]}
    assert list(found) == list(fabrics())
    assert found["fat_tree"] == ["64", "64", "", "", ""]
    assert found["torus"][:2] == ["64", ""], "links inside a cube come with its accelerators"
    assert found["memory_ring"][:2] == ["64", "64"], "so do rings; a port of each leads into the network"


def test_the_page_of_fields_has_it() -> None:
    assert priced_parts() in other_files_page()
