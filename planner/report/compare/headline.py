"""The outcome of a comparison in a few sentences: who has the most value, by how much, and how sure that is."""

from collections.abc import Iterator, Sequence

from costmodel.wording import counted
from planner.report.compare.leads import EQUAL, Contender, Contenders, Lead, contenders, leads, leads_among
from planner.report.compare.sheet import ComparisonSheet


def title(sheet: ComparisonSheet) -> str:
    """rack64, pod: compared; how many policies and variants, where there are several."""
    policies = len({policy for _, policy in sheet.runs})
    counts = [(policies, "policies"), (len(sheet.conditions), "variants")]
    several = ", ".join(f"{count} {names}" for count, names in counts if count > 1)
    named = ", ".join(sheet.instances)
    return f"{named}: {several} compared" if several else f"{named} compared"


def headline(sheet: ComparisonSheet, *, are_same_jobs: bool) -> list[str]:
    """Sentences for the top of the page, the first of them what to take.

    `are_same_jobs`: all instances have the same jobs, so that their values compare.
    """
    found = leads(sheet)
    if not found:
        return ["No policy has a plan that the check accepts for every seed."]
    what = contenders(sheet, are_same_jobs=are_same_jobs)
    compared = found if what == "policy" else leads_among(sheet, what, found)
    advice = _alone(sheet) if what == "policy" and _has_one_policy(sheet) else _advice(what, compared)
    return [advice, *_proofs(found), *_missing(sheet, found), _certainty(sheet)]


def _has_one_policy(sheet: ComparisonSheet) -> bool:
    return len({policy for _, policy in sheet.runs}) == 1


def _alone(sheet: ComparisonSheet) -> str:
    """Where nothing compares."""
    policy = sheet.runs[0][1]
    if len(sheet.instances) > 1:
        return f"Only {policy} was run, on instances with different jobs: their values do not compare."
    return f"Only {policy} was run. Name more policies or instances to compare."


def _name(what: Contenders, entry: Contender) -> str:
    """What an entry is called among those that it competes with."""
    if what == "variant":
        return entry.condition
    return entry.run[0] if what == "instance" else entry.run[1]


def _advice(what: Contenders, found: Sequence[Lead]) -> str:
    names = [[_name(what, entry) for entry in (lead.best, *lead.ties)] for lead in found]
    everywhere = [name for name in names[0] if all(name in tied for tied in names)]
    if not everywhere:
        winners = list(dict.fromkeys(first for first, *_ in names))
        parts = [f"{name} in {sum(first == name for first, *_ in names)}" for name in winners]
        return f"Most value: {', '.join(parts)} of {counted(len(found), 'comparison')}."
    where = "" if len(found) == 1 else f" in all {len(found)} comparisons"
    if all(lead.other is None for lead in found):
        return f"{everywhere[0]} has the most value{where}; no {what} has less."
    who = f"{everywhere[0]} has" if len(everywhere) == 1 else f"{' and '.join(everywhere)} have"
    ahead = [lead.more for lead in found if lead.more is not None]
    if not ahead:
        return f"{who} the most value{where}; the others have none."
    least, most = min(ahead), max(ahead)
    span = _percent(most) if _percent(least) == _percent(most) else f"{_percent(least)} to {_percent(most)}"
    by_chance = sum(lead.is_unsure for lead in found)
    unsure = f", in {by_chance} of them perhaps by chance" if by_chance else ""
    return f"{who} the most value{where}: {span} more than {_second(what, found)}{unsure}."


def _second(what: Contenders, found: Sequence[Lead]) -> str:
    """By name where there is one comparison of things that a reader chose between."""
    other = found[0].other
    if what == "policy" or len(found) > 1 or other is None:
        return f"the best other {what}"
    return f"{_name(what, other)}, the best other {what}"


def _proofs(found: Sequence[Lead]) -> Iterator[str]:
    """What is proven of the best plans."""
    gaps = [lead.gap for lead in found if lead.gap is not None]
    if not gaps:
        return
    optimal = sum(gap <= EQUAL for gap in gaps)
    whose = "Its value is" if len(found) == 1 else f"{optimal} of {len(found)} best values are"
    rest = [gap for gap in gaps if gap > EQUAL]
    if optimal:
        others = f", the others within {_percent(max(rest))} of the best that is possible" if rest else ""
        yield f"{whose} proven optimal{others}."
    else:
        yield f"No best value is proven optimal; they lie within {_percent(max(rest))} of the best that is possible."


def _missing(sheet: ComparisonSheet, found: Sequence[Lead]) -> Iterator[str]:
    missing = len(sheet.conditions) * len(sheet.instances) - len(found)
    if missing:
        yield f"{counted(missing, 'comparison')} of {missing + len(found)} without any plan that the check accepts."


def _certainty(sheet: ComparisonSheet) -> str:
    if len(sheet.seeds) == 1:
        return "One seed: what heuristics and a time limit leave to chance is not measured; --seeds 5 measures it."
    return f"Means and 95 % intervals are of {len(sheet.seeds)} seeds; differences are paired by seed."


def _percent(share: float) -> str:
    return f"{100 * share:.{0 if share >= 0.1 else 1}f} %"
