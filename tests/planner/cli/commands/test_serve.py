"""`planner serve`: what it refuses before anything runs."""

import json
from pathlib import Path

import pytest

from planner.cli import main
from planner.controller import Controller
from planner.integrations.switch_drivers.ocs.driver import OcsDriver
from planner.model.cluster import load_cluster
from planner.model.errors import InputError
from planner.service.server import bind
from planner.service.tokens import write_token
from tests.planner.integrations.switch_drivers.ocs.site import site_of
from tests.planner.integrations.wiring.wiring_cases import cluster_of, given_of


@pytest.fixture(autouse=True)
def _left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command would change these for the whole process."""
    monkeypatch.setattr("os.umask", lambda mask: 0)
    monkeypatch.setattr("planner.service.logs.set_up", lambda level, secret: None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a file with the token"),
        (["--token-file", "nowhere"], "cannot be read"),
        (["--new-token", "a", "--token-file", "b"], "give a file with the token"),
        (["--new-token", "no/such/folder/token"], "cannot be written"),
        (["--new-token", "token", "--driver", "smoke"], "file:DIR, hook:COMMAND, ocs:FILE or slices:FILE"),
        (["--new-token", "token", "--driver", "hook:"], "file:DIR, hook:COMMAND, ocs:FILE or slices:FILE"),
        (["--new-token", "token", "--driver", "hook:a 'b"], "is no command"),
        (["--new-token", "token", "--host", "no.such.host.invalid"], "cannot be listened on"),
        (["--new-token", "token", "--port", "0", "--journal", "no/such/x.db"], "does not exist"),
        (["--new-token", "token", "--port", "0", "no-cluster.yaml"], "does not exist"),
        (["--new-token", "token", "--port", "0", "--journal", "new.db"], "say which cluster"),
        (["--new-token", "token", "--port", "65536"], "--port"),
        (["--new-token", "token", "--queue", "0"], "--queue"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "token").exists(), "the mended command may write it"


def test_switches_of_another_cluster_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the journal alone says which cluster is served; a new journal is not begun."""
    smaller, journal, token = tmp_path / "smaller.yaml", tmp_path / "planner.db", tmp_path / "token"
    write_token(token)
    fabric = given_of("ocs_rail")
    smaller.write_text(json.dumps({"device": "h100-sxm", "fabric": fabric | {"servers": fabric["servers"] - 1}}))
    with site_of(tmp_path) as site:
        given = ["--journal", str(journal), "--token-file", str(token), "--port", "0", "--driver", f"ocs:{site.path}"]
        assert main(["serve", str(smaller), *given]) == 2
        error = capsys.readouterr().err
        assert f"cluster.yaml is another cluster than that of {smaller}, which is served" in error
        assert f"{tmp_path / 'cluster.yaml'} alone has" in error
        assert not journal.exists()
        Controller(load_cluster(smaller), journal).close()
        assert main(["serve", *given]) == 2
        assert f"another cluster than that of {journal}, which is served" in capsys.readouterr().err
        driver = site.driver()
        assert isinstance(driver, OcsDriver)
        driver.require_served(cluster_of("ocs_rail").fabric, "cluster.yaml")


def test_a_taken_port_is_refused() -> None:
    with bind("127.0.0.1", 0) as listening, pytest.raises(InputError, match="another --host or --port"):
        bind("127.0.0.1", listening.getsockname()[1])


@pytest.mark.parametrize(("journal", "said"), [("new.db", "say which cluster"), ("notes.txt", "is no journal, or a")])
def test_what_is_refused_leaves_nothing_behind(
    journal: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    write_token(tmp_path / "token")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(["serve", "--token-file", "token", "--port", "0", "--journal", journal]) == 2
    assert said in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_token_of_before_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_token(tmp_path / "token")
    before = (tmp_path / "token").read_bytes()
    assert main(["serve", "--new-token", "token", "--port", "0", "none.yaml"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert main(["serve", "--token-file", "token", "--port", "0", "none.yaml"]) == 2
    assert (tmp_path / "token").read_bytes() == before
