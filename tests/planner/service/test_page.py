"""The live page in a real browser: it follows the controller, keeps its token, and says when it has no answer."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from planner.controller import Controller, Settings
from planner.controller.switch_reconciler import Trouble
from planner.report.live import LIVE_HEADERS, live_html
from tests.planner.controller.sites import chat, controller, request
from tests.planner.report.browser import visit
from tests.planner.service.live import TOKEN, Live, served, served_by_service
from tests.planner.simulate.grounds import cluster

HOSTILE = "<img src=x onerror=\"document.title='taken'\">"
BUDGET = "--virtual-time-budget=12000"


def _dom(
    folder: Path, live: Live, fragment: str = f"#token={TOKEN}", *, by: Any = served, allowed: str = "nothing"
) -> str:
    """The document at the end, scripts left out; only such messages may be on the console."""
    with by(live) as address:
        dom, messages = visit(folder, address + fragment, "--dump-dom", BUDGET)
    assert [line for line in messages if allowed not in line] == []
    return re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)


def _section(dom: str, name: str) -> str:
    """Text of one section."""
    found = re.search(rf'<section id="{name}".*?</section>', dom, flags=re.DOTALL)
    assert found is not None
    return html.unescape(re.sub(r"<[^>]+>", " ", found[0]))


def _state(dom: str) -> str:
    found = re.search(r'id="state"[^>]*>([^<]*)<', dom)
    assert found is not None
    return found[1]


def _left(dom: str) -> Any:
    """What the reader's script wrote down."""
    found = re.search(r'data-left="([^"]*)"', dom)
    assert found is not None
    return json.loads(html.unescape(found[1]))


@pytest.mark.slow
@pytest.mark.chromium
def test_it_follows_the_controller(tmp_path: Path) -> None:
    with controller("lightpath") as c:
        c.submit(request("first", 16))
        c.submit(request("ends", 8))
        steps = (
            None,
            lambda c: c.submit(request(HOSTILE, 8, tenant="<b>bold</b>")),
            lambda c: c.finish("ends"),
            lambda c: c.fail(c.cluster.fabric.device_name(3, 7)),
            lambda c: c.submit(request("too large", 32)),
            lambda c: c.drain("s3"),
        )
        dom = _dom(tmp_path, live := Live(c, steps), by=served_by_service)
        assert live.polls > len(steps)
        assert _state(dom) == "live"
        happened = _section(dom, "log")
        for text in (f"{HOSTILE} started on 8", "ends left", "s3.t7 is down", "too large waits", "s3 is drained"):
            assert text in re.sub(r"\s+", " ", happened)
        queue = re.sub(r"\s+", " ", _section(dom, "queue"))
        reason = c.job("too large").waits_for
        assert reason is not None
        assert reason.because in queue
        assert re.findall(r"<img", dom) == []
        assert "<b>bold" not in dom
        assert HOSTILE in _section(dom, "table")
        assert "taken" not in re.findall(r"<title>.*?</title>", dom)[0]
        held = sum(len(place.devices) for place in c.running.values())
        assert len(re.findall(r'class="tile taken"', dom)) == held
        assert len(re.findall(r'class="tile failed"', dom)) == 2, "one tile and its key"
        assert len(re.findall(r'class="panel drained"', dom)) == 1


@pytest.mark.slow
@pytest.mark.chromium
def test_a_selected_job_shows_its_light_and_the_token_stays_in_the_tab(tmp_path: Path) -> None:
    user = """
      setTimeout(() => {
        const left = {};
        const row = [...document.querySelectorAll("#table tbody tr")].find((row) => row.textContent.includes("wide"));
        row.querySelector("button").focus();
        row.querySelector("button").click();
        left.focused = document.activeElement.textContent;
        left.lines = document.querySelectorAll(".links .circuit").length;
        left.selected = document.querySelectorAll(".plan .tile.selected").length;
        left.chosen = document.querySelector("#chosen").textContent;
        document.querySelector("#chosen button").click();
        left.after = document.querySelectorAll(".links .circuit").length;
        const tile = document.querySelector(".plan .tile");
        tile.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
        left.tile = document.activeElement.dataset.name;
        left.tip = document.querySelector("#tip").textContent;
        left.pointed = document.querySelectorAll(".links .circuit").length;
        document.querySelector(".theme button").click();
        left.theme = document.documentElement.dataset.theme;
        left.address = location.href;
        left.local = JSON.stringify({...localStorage});
        left.session = JSON.stringify({...sessionStorage});
        document.querySelector('#table [data-key="one"]').focus();
        setTimeout(() => {
          left.kept = document.activeElement.dataset.key;
          left.rows = document.querySelectorAll("#table tbody tr").length;
          document.documentElement.dataset.left = JSON.stringify(left);
        }, 5000);
      }, 3000);
    """
    with controller("lightpath") as c:
        c.submit(request("wide", 16))
        c.submit(request("one", 1))
        steps = (*[None] * 5, lambda c: c.submit(request("later", 1)))
        left = _left(_dom(tmp_path, live := Live(c, steps, user)))
        place = c.running["wide"]
        lit = {(w.source, w.destination) for _, wires in place.wiring.configurations for w in wires}
        pairs = {(place.devices[a][0], place.devices[b][0]) for a, b in lit}
        links = len({pair for pair in pairs if pair[0] != pair[1]})
    assert links > 0
    assert (left["lines"], left["after"], left["selected"]) == (links, 0, 16)
    assert left["focused"] == "wide"
    assert set(live.asked) == {"/", "/v1/floor", "/v1/history"}
    assert "bert-large" in left["chosen"]
    assert left["tile"] in left["tip"]
    assert left["tile"] == "s0.t1"
    assert left["pointed"] == links
    assert (left["kept"], left["rows"]) == ("one", 3), "the keyboard stays where it was when a job comes"
    assert left["theme"] == "dark"
    assert TOKEN not in left["address"] + left["local"]
    assert json.loads(left["session"]) == {"photonplan-token": TOKEN}


@pytest.mark.slow
@pytest.mark.chromium
def test_without_a_token_it_asks_its_reader_and_nobody_else(tmp_path: Path) -> None:
    with controller() as c:
        c.submit(request("secret", 1))
        dom = _dom(tmp_path, live := Live(c, ()), "")
    assert live.asked == ["/"]
    assert _state(dom) == "waits for a token"
    assert 'type="password"' in dom
    assert "secret" not in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_a_wrong_token_is_forgotten_and_asked_again(tmp_path: Path) -> None:
    user = f"""
      setTimeout(() => {{
        const left = {{kept: sessionStorage.length, said: document.querySelector("#door").textContent}};
        document.documentElement.dataset.left = JSON.stringify(left);
        document.querySelector("#token").value = "{TOKEN}";
        document.querySelector("#door form").requestSubmit();
      }}, 2000);
    """
    with controller() as c:
        c.submit(request("job", 1))
        dom = _dom(tmp_path, live := Live(c, (), user), "#token=wrong", allowed="401")
    left = _left(dom)
    assert left["kept"] == 0
    assert "did not accept this token" in left["said"]
    assert _state(dom) == "live"
    assert live.polls > 0
    assert re.search(r'<section id="door"[^>]*hidden', dom)


@pytest.mark.slow
@pytest.mark.chromium
def test_it_says_that_it_is_disconnected_and_comes_back(tmp_path: Path) -> None:
    user = """
      const states = [];
      new MutationObserver(() => {
        states.push([document.querySelector("#state").textContent, document.querySelector("main").className]);
        document.documentElement.dataset.left = JSON.stringify(states);
      }).observe(document.querySelector("#state"), {childList: true, characterData: true, subtree: true});
    """
    with controller() as c:
        c.submit(request("job", 1))
        dom = _dom(tmp_path, Live(c, (None, lambda c: 503, lambda c: 429), user), allowed="Failed to load resource")
    states = [text for text, _ in _left(dom)]
    assert any("disconnected (error 503); what is shown is" in text for text in states)
    assert any("disconnected (too many requests)" in text for text in states)
    assert _state(dom) == "live"
    assert 'class="stale"' not in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_4096_accelerators_fit_into_the_window(tmp_path: Path) -> None:
    user = """
      setTimeout(() => {
        const plan = document.querySelector(".plan");
        const tile = () => document.querySelector(".plan .tile").getBoundingClientRect().width;
        const left = {over: plan.scrollWidth - plan.clientWidth, high: plan.clientHeight / innerHeight, tile: tile()};
        document.querySelector('[aria-label="Larger"]').click();
        left.larger = tile() / left.tile;
        left.nodes = document.querySelectorAll("*").length;
        left.maps = document.querySelectorAll(".mini canvas").length;
        left.known = document.querySelector("#history path").getAttribute("d").split("V").length;
        document.querySelectorAll(".mini")[1].click();
        left.part = document.querySelector(".plan figcaption").textContent;
        left.first = document.querySelector(".plan .tile").dataset.name;
        left.on = document.querySelectorAll(".mini.on").length;
        left.held = document.querySelectorAll(".plan .tile.taken").length;
        document.documentElement.dataset.left = JSON.stringify(left);
      }, 5000);
    """
    with Controller(cluster("fat_tree", servers=512), settings=Settings(greedy_budget_s=10, repair_budget_s=0)) as c:
        with c.group():
            for number in range(300):
                c.submit(chat(f"j{number}", 8))
        dom = _dom(tmp_path, Live(c, (None, lambda c: c.finish("j0")), user))
        held = [server for place in c.running.values() for server, _ in place.devices]
    left = _left(dom)
    assert left["over"] <= 0
    assert left["high"] <= 0.8
    assert left["tile"] >= 5
    assert left["larger"] == pytest.approx(1.5, rel=0.01)
    assert left["nodes"] < 10_000, "a part is drawn in full, the others as maps"
    assert (left["maps"], left["on"], left["part"], left["first"]) == (4, 1, "s128 to s255", "s128.g0")
    assert left["held"] == sum(128 <= server < 256 for server in held)
    assert left["known"] > 250, "the journal's events were there before the page"


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("options", [(), ("--force-dark-mode", "--window-size=480,900")])
def test_a_picture_of_the_page(tmp_path: Path, options: tuple[str, ...]) -> None:
    picture = tmp_path / "page.png"
    with controller("lightpath") as c:
        c.submit(request("job", 16))
        with served(Live(c, ())) as address:
            _, messages = visit(tmp_path, f"{address}#token={TOKEN}", f"--screenshot={picture}", *options)
    assert messages == []
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_page_asks_nobody_but_its_own_server() -> None:
    page = live_html()
    assert set(re.findall(r"https?://[^\s\"'`]+", page)) == {"http://www.w3.org/2000/svg"}, "a name, never fetched"
    assert "default-src 'none'" in page
    assert "connect-src 'self'" in page
    assert not re.search(
        r"innerHTML|insertAdjacentHTML|document\.write|\beval\b|localStorage\.setItem\(\"photonplan", page
    )
    assert page == live_html()
    assert "frame-ancestors 'none'" in LIVE_HEADERS["Content-Security-Policy"]


@pytest.mark.slow
@pytest.mark.chromium
def test_it_says_which_circuits_are_not_set_and_why(tmp_path: Path) -> None:
    """Though nothing is decided meanwhile; and no longer once they are."""
    with controller("lightpath") as c:
        c.submit(request("lit", 8))
        c.submit(request("dark", 16))
        live = Live(c, ())
        trouble = Trouble("connect", HOSTILE)
        live.steps = (None, lambda c: live.troubles.update(dark=trouble), lambda c: live.troubles.update(other=trouble))
        live.user = """
          setInterval(() => {
            const button = document.querySelector('#table button[data-key="dark"][aria-pressed="false"]');
            if (button) button.click();
          }, 200);
        """
        dom = _dom(tmp_path, live)
        health = re.sub(r"\s+", " ", _section(dom, "health"))
        assert re.findall(r"not connected (\w+)", health) == ["dark", "other"]
        assert health.count(HOSTILE) == 2
        assert "2 jobs not set" in dom
        rows = dict(re.findall(r'<tr\b(?:(?!</tr>).)*data-key="(\w+)"((?:(?!</tr>).)*)</tr>', dom))
        assert {name: "not set" in row for name, row in rows.items()} == {"lit": False, "dark": True}
        assert HOSTILE in _section(dom, "chosen")
        assert re.findall(r"<img", dom) == []


@pytest.mark.slow
@pytest.mark.chromium
def test_light_is_named_as_the_fabric_names_it(tmp_path: Path) -> None:
    user = """
      setTimeout(() => {
        document.querySelector("#table tbody button").click();
        const text = (place) => document.querySelector(place).textContent;
        const left = { chosen: text("#chosen"), key: text("#floor .key") };
        document.documentElement.dataset.left = JSON.stringify(left);
      }, 3000);
    """
    with controller("ocs_rail") as c:
        c.submit(request("wide", 16))
        told = _left(_dom(tmp_path, Live(c, (None,), user)))
    assert "fromtoswitches" in told["chosen"]
    assert "wider: more switches" in told["key"]
    assert "wavelength" not in told["chosen"] + told["key"]
