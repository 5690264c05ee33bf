"""One sentence on a replay, with no more than it shows."""

from planner.report.replay.headline import headline
from tests.planner.report.replay.verdict_cases import BASE, OTHER, columns, judged


def test_more_work_is_taken() -> None:
    sheet, found = judged({BASE: columns(0.6, 100, 10), OTHER: columns(0.7, 120, 12)})
    assert (found["choice"], found["stays"], found["dropped"]) == (1, False, {0: "goodput"})
    lines = {line["measure"]: line["finding"] for line in found["lines"]}
    assert lines == {
        "goodput": "better", "completion_s_mean": "worse", "energy_wh_per_accelerator_h": "worse",
        "wait_s_p95": "worse", "admitted": "level",
    }  # fmt: skip
    first, gain, *_ = headline(sheet, [found])
    assert first == "Take light with first."
    assert gain.startswith("Load 0.9: 17 % [17, 17] more work, 20 % [")
    assert "more energy per unit of work" in gain


def test_what_is_within_chance_or_a_hundredth_leaves_the_baseline() -> None:
    wide = (0.3, -0.25, 0.2, -0.3, 0.1)
    for other in (columns(0.61, 99, 9.99, own=wide), columns(0.603, 99.5, 9.95)):
        sheet, found = judged({BASE: columns(0.6, 100, 10), OTHER: other})
        assert found["stays"]
        assert headline(sheet, [found])[0] == "Stay with tree with first."
    assert "which is below 1 %" in headline(sheet, [found])[1]


def test_the_lost_advantage_of_another_is_told() -> None:
    sheet, found = judged({BASE: columns(0.6, 100, 10), OTHER: columns(0.5, 100, 6)})
    told = headline(sheet, [found])[1]
    assert "light with first, the best of the others, does 17 % [17, 17] less work." in told
    assert "light with first has 40 % [" in told
    assert "less energy per unit of work, but does less work." in told


def test_one_seed_decides_nothing() -> None:
    runs = {run: {name: column[:1] for name, column in columns(work, 100, 10).items()} for run, work in
            ((BASE, 0.6), (OTHER, 0.9))}  # fmt: skip
    sheet, found = judged(runs)
    assert found["stays"]
    assert {line["finding"] for line in found["lines"]} == {"unknown"}
    assert "one seed, no interval" in headline(sheet, [found])[0]


def test_loads_that_differ_are_told_apart() -> None:
    sheet, one = judged({BASE: columns(0.6, 100, 10), OTHER: columns(0.7, 100, 10)})
    two = {**one, "load": 0.5, "choice": 0, "stays": True}
    assert headline(sheet, [two, one])[0] == "At load 0.5 stay with tree with first; at load 0.9 take light with first."
    assert headline(sheet, [one, {**one, "load": 0.8}])[0] == "Take light with first at every load."


def test_rounding_is_no_difference() -> None:
    almost = columns(0.6, 100, 10) | {"goodput": [value * (1 + 4e-16) for value in columns(0.6, 100, 10)["goodput"]]}
    sheet, found = judged({BASE: columns(0.6, 100, 10), OTHER: almost})
    assert "e−" not in headline(sheet, [found])[1]
    assert "does 0 % [0, 0]" in headline(sheet, [found])[1]
