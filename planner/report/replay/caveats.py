"""Caveats of a study, from its settings."""

from collections.abc import Iterator, Mapping

from planner.placement.job_classes import Site
from planner.report.replay.sheet import Sheet
from planner.simulate.demand import DemandModel
from planner.simulate.fault_study import split_policy
from planner.simulate.measures import Measure
from planner.simulate.placers import MEANINGS
from planner.simulate.prices import COST
from planner.simulate.recovery import RESPONSE_MEANINGS
from planner.simulate.run_one import Study
from planner.whatif.fault_log import DAY_S

FEW_SEEDS = 10


def caveats(study: Study, sheet: Sheet, measures: Mapping[str, Measure]) -> list[str]:
    """Sentences, the weightiest first."""
    return [
        *_certainty(study, sheet),
        *_work(study),
        *_demand(study, sheet),
        *(line for ground in study.grounds.values() for line in _sizes(ground)),
        *_rules(study, sheet),
        *_policies(sheet),
        *_pools(study, sheet),
        *_money(measures),
    ]


def _pools(study: Study, sheet: Sheet) -> Iterator[str]:
    """Where memory is pooled, a policy that takes each job's fastest row may leave the next one no memory."""
    pooled = [name for name, ground in study.grounds.items() if ground.cluster.fabric.kind == "sipam"]
    greedy = sorted({policy for cluster, policy in sheet.runs if cluster in pooled and policy != "sipam_loop"})
    if greedy:
        yield (
            f"On {', '.join(pooled)} memory is pooled, and {', '.join(greedy)} give each job the units that make it "
            "fastest, so that accelerators may stand idle for want of units: replay sipam_loop there too."
        )


def _certainty(study: Study, sheet: Sheet) -> Iterator[str]:
    seeds = len(sheet.seeds)
    if seeds == 1:
        yield "One seed: no interval. Differences may be chance."
    elif seeds < FEW_SEEDS:
        yield (
            f"{seeds} seeds: Student intervals take the figures of seeds as normally distributed, which so few cannot "
            "show; more seeds narrow them."
        )
    if len(sheet.runs) > 2 and seeds > 1:
        yield (
            f"Intervals are for one comparison each. The best of {len(sheet.runs)} runs is picked on the same seeds "
            "that show its lead, which flatters it a little."
        )
    if study.demand.jobs is None and seeds > 1:
        yield (
            "Every seed replays the same jobs: intervals show the chance of workloads, policies and failures, not that "
            "of another month of demand."
        )


def _work(study: Study) -> Iterator[str]:
    mix, source = study.demand.mix, study.demand.source
    shares = sum(each.share for each in mix.workloads)
    what = ", ".join(f"{each.name} {100 * each.share / shares:.0f} %" for each in mix.workloads)
    if isinstance(source, DemandModel) or not any(source.workload.tolist()):
        yield (
            f"The demand does not say what its jobs run: each was given a workload of the mix '{mix.name}' by chance "
            f"({what}, where the size allows). Another mix may order the fabrics differently."
        )
    reference = mix.reference
    name = f"{reference.fabric.kind.replace('_', ' ')} of {reference.device.name}"
    if mix.durations == "scaled":
        yield (
            f"A recorded duration is taken as that of the job at its fastest on the reference, a {name}; elsewhere it "
            "scales with the speed that the cost model predicts, in full. Jobs that wait for data or people would gain "
            "less."
        )
    else:
        yield "Every job takes its recorded time on every fabric: a faster configuration ends no job sooner."
    yield (
        "Speeds and energies come from an analytical cost model, not from measurements on these clusters; jobs do not "
        "slow each other down on what they share, and accelerators without a job, their servers and cooling draw no "
        "energy."
    )


def _demand(study: Study, sheet: Sheet) -> Iterator[str]:
    source = study.demand.source
    capacity = next(iter(study.grounds.values())).capacity
    if isinstance(source, DemandModel):
        yield f"Jobs are drawn from the demand model '{source.name}', not recorded."
    elif study.demand.jobs is not None and study.demand.jobs < len(source):
        yield (
            f"Each seed is a stretch of {study.demand.jobs:,} consecutive jobs of {len(source):,}, from a random one "
            "on; stretches may overlap."
        )
    jobs = study.demand.draw(sheet.seeds[0])
    given = [
        f"{jobs.stretch(load, capacity, study.warm_up):.3g} at load {load:g}"
        for load in sheet.loads
        if load is not None
    ]
    if given:
        yield (
            f"To reach a load, times between arrivals are multiplied (first seed: by {', '.join(given)}): order and "
            "bursts stay, the length of days does not."
        )
    yield (
        "A load is what the jobs would hold of the accelerators on average over the time that counts, did they take "
        "their recorded time and none wait. A short stretch with long jobs must be compressed to reach it."
    )
    yield "Users submit the same jobs at the same times however long they wait."
    yield (
        f"The first {100 * study.warm_up:g} % of the time are left out, and what happens after the last arrival does "
        "not count; times of jobs that arrived before are followed to their end."
    )


def _sizes(ground: Site) -> Iterator[str]:
    kinds = [*ground.kinds.values(), *ground.boxes.values()]
    larger = sorted({(kind.size, kind.held) for kind in kinds if kind.rows and kind.held > kind.size})
    if larger:
        pairs = ", ".join(f"{held} for {size}" for size, held in larger[:8])
        more = f" and {len(larger) - 8} more" if len(larger) > 8 else ""
        yield f"{ground.name} has no slices of every size: jobs hold more than they ask for ({pairs}{more})."
    never = sorted({kind.size for kind in kinds if not kind.rows})
    if never:
        sizes = ", ".join(map(str, never[:12])) + (", ..." if len(never) > 12 else "")
        yield f"{ground.name} cannot run some workloads on {sizes} accelerators: those jobs never run there."


def _policies(sheet: Sheet) -> Iterator[str]:
    """Policies that are not what their name alone would say."""
    replayed = {split_policy(policy)[0] for _, policy in sheet.runs}
    for policy in ("best_fit_moving", "solver", "rfold", "best_fit_wfp"):
        if policy in replayed:
            yield f"{policy} is {MEANINGS[policy]}."


def _failures(study: Study, sheet: Sheet) -> Iterator[str]:
    """Where faults come from, what they cost, and how they are answered."""
    faults, checkpoint_s = study.faults, study.rules.checkpoint_s
    log = None if faults is None else faults.log
    lost = "what a job had done is kept"
    if checkpoint_s:
        lost = f"what a job did since its last checkpoint is lost, and it makes one every {checkpoint_s:g} s"
    if study.failures is None and log is None:
        yield "Failures are off: every part works all the time."
    if study.failures is not None:
        yield f"Failures are sampled from a model, part by part and independently; {lost}."
    if faults is not None and log is not None:
        yield (
            f"Faults are those of {log.name}, {log.length_s / DAY_S:.0f} days that start again where the demand is "
            f"longer; servers of the log by {faults.rules.servers}; {lost}."
        )
    if faults is not None:
        answers = dict.fromkeys(split_policy(policy)[1] for _, policy in sheet.runs)
        for answer in answers:
            yield f"{answer}: a job that lost a part is {RESPONSE_MEANINGS[answer]}."


def _moved_by_failures(study: Study, sheet: Sheet) -> str:
    """Which running jobs move when parts fail, in words; empty where none does."""
    if study.failures is None and (study.faults is None or study.faults.log is None):
        return ""
    answers = {split_policy(policy)[1] for _, policy in sheet.runs} - {"requeue"}
    others = ", and under repair others that make room for them" if "repair" in answers else ""
    return f"those that lost a part{others}" if answers else ""


def _rules(study: Study, sheet: Sheet) -> Iterator[str]:
    rules, rescued = study.rules, _moved_by_failures(study, sheet)
    yield from _failures(study, sheet)
    if rules.migrate:
        yield f"Jobs that move pause for {rules.downtime_s:g} s, whatever their size."
    elif sheet.moving:
        when = f"under {', '.join(sheet.moving)}{' and after failures' if rescued else ''} alone"
        yield (
            f"Running jobs move {when}, and pause for {rules.downtime_s:g} s; with --migrate "
            "they would under every policy."
        )
    elif rescued:
        yield f"Running jobs move after failures alone: {rescued}."
    else:
        yield "Running jobs never move."
    if rules.discipline == "easy":
        yield (
            "Backfill knows exactly how long each job will run; with estimates of users it would fit less. "
            f"It looks at {rules.depth} waiting jobs at most."
        )
    yield "Deciding takes no time in the replay, however long a policy thinks."


def _money(measures: Mapping[str, Measure]) -> Iterator[str]:
    if COST in measures:
        yield f"Cost is {measures[COST].meaning}; staff, space, idle power and cooling are not in it."
    else:
        yield "No prices were given (--prices): nothing here says what a fabric costs."
