"""The outcome of a replay in a few sentences, the first of them what to do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.report.replay.sheet import Load, Sheet, name_of
from planner.simulate.prices import COST

WORDS = {
    "goodput": ("more work", "less work"),
    "completion_s_mean": ("longer from arrival to end", "shorter from arrival to end"),
    "wait_s_p95": ("longer waits (95th percentile)", "shorter waits (95th percentile)"),
    "energy_wh_per_accelerator_h": ("more energy per unit of work", "less energy per unit of work"),
    COST: ("more cost per unit of work", "less cost per unit of work"),
    "admitted": ("more jobs run", "fewer jobs run"),
}
LOST = {
    "goodput": "does less work",
    "completion_s_mean": "takes longer from arrival to end",
    "energy_wh_per_accelerator_h": "takes more energy",
    COST: "costs more",
    "admitted": "runs fewer jobs",
}
SURE = {
    "level": ", which cannot be told apart from chance",
    "slight": ", which is below 1 %",
    "unknown": ", without an interval",
}
ROUNDING = 1e-9
"""per cent"""
Verdict = Mapping[str, Any]
Line = Mapping[str, Any]


def headline(sheet: Sheet, verdicts: Sequence[Verdict]) -> list[str]:
    """Recommendation, its effect and its certainty."""
    seeds = len(sheet.seeds)
    if seeds == 1:
        return [
            "Not decided: one seed, no interval, so nothing can be told apart.",
            "Replay more seeds (--seeds 5) before anything is decided.",
        ]
    if len(sheet.runs) == 1:
        return [f"Only {name_of(sheet.baseline)} was replayed.", "Name more policies or clusters to compare."]
    told = [_stay(sheet, each) if each["stays"] else _gain(sheet, each) for each in verdicts]
    return [_advice(sheet, verdicts), *told, f"[ ]: 95 % intervals from {seeds} seeds, paired on the same jobs."]


def _advice(sheet: Sheet, verdicts: Sequence[Verdict]) -> str:
    groups: dict[int, list[str]] = {}
    for each in verdicts:
        groups.setdefault(each["choice"], []).append(_load(each["load"]))
    parts = []
    for choice, loads in groups.items():
        verb = "stay with" if choice == 0 else "take"
        at = f"at load {' and '.join(loads)} " if len(groups) > 1 else ""
        parts.append(f"{at}{verb} {name_of(sheet.runs[choice])}")
    text = "; ".join(parts)
    if len(groups) == 1 and len(verdicts) > 1:
        text += " at every load"
    return text[0].upper() + text[1:] + "."


def _gain(sheet: Sheet, each: Verdict) -> str:
    """Effect of a choice against the baseline."""
    changes = list(_changes(each["lines"], ("better", "worse"), sign=1))
    if not changes:
        return f"{_at(each)}no difference to {name_of(sheet.baseline)} is beyond chance and 1 %."
    return f"{_at(each)}{', '.join(changes)} than {name_of(sheet.baseline)}, beyond chance."


def _stay(sheet: Sheet, each: Verdict) -> str:
    """Effects of the others beside the baseline that stays."""
    line = next((line for line in each["lines"] if line["measure"] == "goodput" and line["other"] is not None), None)
    if line is None:
        return f"{_at(each)}nothing to compare with."
    sure = SURE.get(line["finding"], "")
    text = f"{_at(each)}{name_of(sheet.runs[line['other']])}, the best of the others, does {_change(line, -1)}{sure}."
    rest = [other for other in each["lines"] if other["measure"] != "goodput" and other["finding"] == "worse"]
    for other in rest:
        lost = each["dropped"].get(other["other"])
        why = f"but {LOST[lost]}" if lost in LOST else "by which the choice does not go"
        text += f" {name_of(sheet.runs[other['other']])} has {_change(other, -1)}, {why}."
    return text


def _changes(lines: Sequence[Line], findings: Sequence[str], *, sign: int) -> Iterator[str]:
    for line in lines:
        if line["finding"] in findings:
            yield _change(line, sign)


def _change(line: Line, sign: int) -> str:
    """How the choice differs from the other (sign 1), or the other from the choice (-1), in per cent of the latter."""
    mean, half_width = line["less"]
    scale = (line["other_value"] if sign > 0 else line["value"])[0]
    more, less = WORDS[line["measure"]]
    words = more if sign * mean > 0 else less
    if not scale:
        return words
    size = 100 * abs(mean / scale)
    if half_width is None:
        return f"{_share(size)} % {words}"
    around = 100 * half_width / abs(scale)
    return f"{_share(size)} % [{_share(size - around)}, {_share(size + around)}] {words}".replace("-", "−")


def _share(percent: float) -> str:
    """Two significant digits, and every whole one; what rounding of sums leaves is nothing."""
    if abs(percent) < ROUNDING:
        return "0"
    return f"{percent:.0f}" if abs(percent) >= 10 else f"{percent:.2g}"


def _at(each: Verdict) -> str:
    return "" if each["load"] is None else f"Load {_load(each['load'])}: "


def _load(load: Load) -> str:
    return "of the trace" if load is None else f"{load:g}"
