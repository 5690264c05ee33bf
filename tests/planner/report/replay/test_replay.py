"""The page of a replay in a real browser: what it shows, and that it shows it without an error."""

import html
import re
from pathlib import Path

import matplotlib.image
import pytest

from tests.planner.report.browser import browse, dom_of
from tests.planner.report.replay.small import page

USER = """
  const shown = [];
  const show = (text) => shown.push(text);
  const text = (path) => document.querySelector(path).textContent;
  const chip = (title, i) => document.querySelectorAll(`fieldset[aria-label="${title}"] input`)[i];
  const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
  show(text("#table h2"));
  chip("Load", 0).click();
  show(text("#table h2"));
  show(text("#series h2"));
  document.querySelector('[data-name="wait_s_mean"] button').click();
  show(document.querySelector('[data-name="wait_s_mean"]').getAttribute("aria-sort"));
  const waits = [...document.querySelectorAll("#table tbody tr")].map((row) => row.children[4].textContent);
  const span = { s: 1, min: 60, h: 3600, d: 86400 };
  const seconds = waits.map((wait) => parseFloat(wait.replace(",", "")) * span[wait.split(" ").pop()]);
  show(seconds.every((value, i) => !i || seconds[i - 1] <= value));
  document.querySelector('[data-name="goodput"] button').dispatchEvent(new Event("focus"));
  show(document.getElementById("tip").textContent);
  show(document.querySelectorAll("#intervals .interval").length);
  chip("Runs", 3).click();
  show(document.querySelectorAll("#intervals .interval").length);
  show(document.querySelectorAll("#floor figure").length);
  chip("Moment", 1).click();
  show(text("#floor figcaption .soft"));
  const tile = document.querySelector("#floor .tile");
  press(tile, "ArrowRight");
  show(document.activeElement.dataset.name);
  const select = document.querySelector("#intervals select");
  select.value = "wait_s_p95";
  select.dispatchEvent(new Event("change"));
  show(text("#intervals h3"));
  const curve = document.querySelector("#series svg[tabindex]");
  press(curve, "ArrowRight");
  show(document.getElementById("tip").textContent);
  document.querySelector(".theme button").click();
  show(document.documentElement.dataset.theme);
  document.documentElement.dataset.shown = shown.join("|");
"""


@pytest.mark.slow
@pytest.mark.chromium
def test_tables_plots_and_floors_are_shown(tmp_path: Path) -> None:
    dom = dom_of(tmp_path, page())
    table = re.search(r'<table class="measures">.*?</table>', dom, re.DOTALL)
    assert table is not None
    assert len(re.findall(r'<th scope="row">', table[0])) == 4
    assert len(re.findall(r'<th scope="col"', table[0])) == 9, "the run and eight measures, no cost"
    assert dom.count('class="headline"') == 1
    assert len(re.findall(r'class="interval[ "]', dom)) == 8 + 6, "means, and differences of all but the baseline"
    assert len(re.findall(r'class="point[ "]', dom)) == 4
    assert len(re.findall(r'class="line hue\d"', dom)) == 4 + 3 * 4, "the key and three curves"
    assert len(re.findall(r'class="tile (?:taken|free)[^"]*" role="button"', dom)) == 4 * 32
    for text in ("What this does not show", "How to repeat this", "SHA-256", "ab" * 32, "Failures are off"):
        assert text in dom
    assert "NaN" not in dom
    assert "undefined" not in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_it_answers_clicks_and_keys(tmp_path: Path) -> None:
    open_page = re.sub("<meta http-equiv.*?>", "", page())
    dom = dom_of(tmp_path, open_page.replace("</body>", f"<script>{USER}</script></body>"))
    shown = html.unescape(re.search('data-shown="([^"]*)"', dom)[1]).split("|")  # type: ignore[index]
    assert shown[:5] == [
        "Measures at load 1.2", "Measures at load 0.6", "Over time at load 0.6", "ascending", "true",
    ]  # fmt: skip
    assert shown[5].startswith("goodputWork done over accelerators and time")
    assert "Unit: per cent. More is better." in shown[5]
    assert shown[6:9] == ["14", "10", "3"]
    assert re.match(r"\d+ of 32 held by \d+ jobs?, at ", shown[9])
    assert shown[10] == "s0.g1"
    assert shown[11] == "Wait p95: mean over seeds, min"
    assert shown[12].startswith("at ")
    assert shown[12].count("fat_tree") == 2
    assert shown[13:] == ["dark"]


@pytest.mark.slow
@pytest.mark.chromium
def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    dom = dom_of(tmp_path, page())
    assert "torus &lt;b&gt;" in dom
    assert "torus <b>" not in re.sub(r'="[^"]*"', "", dom)
    assert "jobs &lt;i&gt;.csv" in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_one_seed_is_said(tmp_path: Path) -> None:
    dom = dom_of(tmp_path, page(1))
    assert "one seed, no interval" in dom
    assert "One seed: no interval" in dom
    assert 'class="whisker' not in dom
    assert "±" not in dom


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("options", [(), ("--force-dark-mode",), ("--window-size=700,1000",)])
def test_a_picture_of_the_page(tmp_path: Path, options: tuple[str, ...]) -> None:
    picture = tmp_path / "page.png"
    browse(tmp_path, page(), f"--screenshot={picture}", *options)
    shades = matplotlib.image.imread(picture)[..., :3]
    assert shades.shape[1] == (700 if "--window-size=700,1000" in options else 1400)
    assert shades.std() > 0.05, "one colour all over: nothing was drawn"


def test_the_page_asks_for_nothing_outside_and_is_the_same_each_time() -> None:
    text = page()
    assert set(re.findall(r"https?://[^\s\"'`]+", text)) == {"http://www.w3.org/2000/svg"}, "a name, never fetched"
    assert "default-src 'none'" in text
    assert "innerHTML" not in text
    assert len(text) < 300_000
    assert page() == text
