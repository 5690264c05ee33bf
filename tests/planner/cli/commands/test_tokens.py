"""Files of tokens: for their owner alone."""

from pathlib import Path

import pytest

from planner.model.errors import InputError
from planner.service.tokens import read_token, write_token


def test_a_new_token_is_for_its_owner_alone_and_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_token(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(read_token(path)) >= 32
    before = path.read_text()
    with pytest.raises(InputError, match="exists already"):
        write_token(path)
    assert path.read_text() == before


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o622, 0o660])
def test_a_token_that_others_may_read_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_token(path)
    path.chmod(mode)
    with pytest.raises(InputError, match="chmod 600") as refusal:
        read_token(path)
    assert path.read_text().strip() not in str(refusal.value)


@pytest.mark.parametrize(
    "text", ["", "x" * 15, "x" * 1001, "x" * 20 + "\n" + "y" * 20, "with spaces in its text", "é" * 20]
)
def test_what_is_no_token_is_refused_and_not_shown(text: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(InputError) as refusal:
        read_token(path)
    assert not text or text not in str(refusal.value)
