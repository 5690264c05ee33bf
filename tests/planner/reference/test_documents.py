"""Documents of the repository as pages: each is there, and links lead to pages or are named."""

import pytest

from planner.reference.documents import PAGE_OF, document_pages, page_of, relinked
from tests.paths import ROOT


def test_every_document_is_there() -> None:
    assert [document for document in PAGE_OF if not (ROOT / document).is_file()] == []
    assert set(document_pages(ROOT)) == set(PAGE_OF.values()) - {"index.md"}


@pytest.mark.parametrize(
    ("document", "link", "becomes"),
    [
        ("planner/ARCHITECTURE.md", "[rules](RULES.md)", "[rules](rules.md)"),
        ("planner/ARCHITECTURE.md", "[first](../.github/CONTRIBUTING.md)", "[first](contributing.md)"),
        ("planner/ARCHITECTURE.md", "[page](fabrics/README.md#parts)", "[page](tutorials/fabric.md#parts)"),
        ("planner/fabrics/README.md", "[rules](../RULES.md)", "[rules](../rules.md)"),
        ("planner/fabrics/README.md", "[limits](../docs/limits.md)", "[limits](../limits.md)"),
        ("planner/INSIDE.md", "![Scale](../.github/scale.png)", "![Scale](pictures/scale.png)"),
        (
            "planner/RULES.md",
            "[the rack](../instances/lumorph/rack64.yaml)",
            "the rack (`instances/lumorph/rack64.yaml`)",
        ),
        ("planner/RULES.md", "[paper](https://arxiv.org/abs/1)", "[paper](https://arxiv.org/abs/1)"),
    ],
)
def test_links_fit_the_manual(document: str, link: str, becomes: str) -> None:
    assert relinked(f"see {link}.", document) == f"see {becomes}."


def test_a_source_has_no_page() -> None:
    assert page_of("planner/api.py") is None
