"""The manual: its pages do what they say."""

from pathlib import Path

import pytest

from tests import manual


def test_there_are_tutorials() -> None:
    names = ["buyer", "engineer", "notebook", "operator", "researcher", "scheduler"]
    assert [page.stem for page in manual.PAGES[:6]] == names


@pytest.mark.slow
@pytest.mark.parametrize("page", manual.PAGES, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = 0
    for block, printed in manual.run(page, tmp_path):
        assert manual.without_times(block.text) == manual.without_times(printed), block.text.partition("\n")[0]
        seen += 1
    assert seen
