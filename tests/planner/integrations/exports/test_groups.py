"""Plans as schedules over the devices and circuits of the file."""

import pytest

from costmodel.collectives.interpret import interpret
from costmodel.collectives.ladder import Algorithm
from costmodel.collectives.simulate import simulate
from costmodel.parallelism.configuration import Collective, Configuration
from planner.checks.circuit_rules import CircuitRules, message_time
from planner.checks.required import group_links
from planner.checks.schedule import schedule_of as checked_schedule
from planner.fabrics import plugin_of
from planner.integrations.exports.groups import GroupRun, group_runs, stems_of
from planner.model.errors import InputError
from planner.model.plan import Plan
from tests.planner.checks import good
from tests.planner.fabrics.joined_racks.racks import SWITCHES, best, racks
from tests.planner.integrations.exports.groups_cases import WITH_CIRCUITS


def runs_of(name: str) -> tuple[GroupRun, ...]:
    instance, plan = good.GOOD[name]()
    return group_runs(instance, plan, "plan.json")


@pytest.mark.parametrize("name", WITH_CIRCUITS)
def test_schedules_run_over_the_circuits_of_the_file(name: str) -> None:
    for run in runs_of(name):
        schedule = run.schedule
        assert interpret(schedule) == ()
        assert schedule.num_configurations == len(run.held)
        circuits = schedule.circuits
        for group in run.groups:
            for index in range(len(circuits)):
                ends = group[circuits.source[index]], group[circuits.destination[index]]
                held = run.held[circuits.first[index]].circuits
                (found,) = [circuit for circuit in held if (circuit.source, circuit.destination) == ends]
                assert len(found.wavelengths) == circuits.wavelengths[index]


@pytest.mark.parametrize("name", WITH_CIRCUITS)
def test_time_is_what_the_checker_simulates(name: str) -> None:
    """The checker has rounds of its own; both must take as long."""
    instance, plan = good.GOOD[name]()
    rules = plugin_of(instance.cluster.fabric).rules
    assert isinstance(rules, CircuitRules)
    for run in group_runs(instance, plan, "plan.json"):
        collective = getattr(plan[run.job].configuration, f"{run.dimension}_collective")
        widths = [{(c.source, c.destination): len(c.wavelengths) for c in held.circuits} for held in run.held]
        latency_s, seconds_per_byte = message_time(
            rules.speed(instance.cluster.fabric),
            checked_schedule(collective, len(run.groups[0])),
            list(run.groups[0]),
            widths,
        )
        for message_bytes in (1.0, 1e6):
            expected_s = latency_s + seconds_per_byte * message_bytes
            assert simulate(run.schedule, run.plan.limits, message_bytes) == pytest.approx(expected_s)
            assert run.plan.time_s(message_bytes) == pytest.approx(expected_s)


def test_groups_follow_the_ranks() -> None:
    tensor, data = runs_of("grid")
    assert (tensor.stem, tensor.groups) == ("grid.tensor", (("s0.t0", "s0.t1"), ("s1.t0", "s1.t1")))
    assert (data.stem, data.groups) == ("grid.data", (("s0.t0", "s1.t0"), ("s0.t1", "s1.t1")))


def test_groups_along_data_hold_the_context_ranks_too() -> None:
    """Of a job with both, in the layout of all other code: the context index is the fastest."""
    instance, plan = good.ring()
    (ring,) = plan.assignments
    both = ring.configuration.model_copy(update={"data": 2, "context": 2})
    changed = plan.model_copy(update={"assignments": (ring.model_copy(update={"configuration": both}),)})
    (run,) = group_runs(instance, changed, "plan.json")
    assert run.groups == (ring.devices,)
    assert run.plan.ranks == 4


@pytest.mark.parametrize(
    ("kind", "radices", "held"), [("direct", (4,), (1,)), ("bruck", (2, 2), (1, 1)), ("circulant_relay", (1, 2), (1,))]
)
def test_what_goes_to_experts_takes_what_the_checker_simulates(
    kind: Algorithm, radices: tuple[int, ...], held: tuple[int, ...]
) -> None:
    """The checker has rounds of its own."""
    instance, plan = good.ring()
    (ring,) = plan.assignments
    experts = Collective(kind=kind, radices=radices, held=held, wavelengths=(1,) * len(held))
    both = ring.configuration.model_copy(update={"expert": 4, "expert_collective": experts})
    changed = plan.model_copy(update={"assignments": (ring.model_copy(update={"configuration": both}),)})
    data, expert = group_runs(instance, changed, "plan.json")
    assert (data.stem, expert.stem, expert.groups) == ("ring.data", "ring.expert", (ring.devices,))
    assert interpret(expert.schedule) == ()
    rules = plugin_of(instance.cluster.fabric).rules
    assert isinstance(rules, CircuitRules)
    widths = [
        {(ring.devices[a], ring.devices[b]): width for (a, b), width in links.items()}
        for links in group_links(experts, 4)
    ]
    speed = rules.speed(instance.cluster.fabric)
    latency_s, seconds_per_byte = message_time(speed, checked_schedule(experts, 4), [*ring.devices], widths)
    for message_bytes in (1.0, 1e6):
        seconds = simulate(expert.schedule, expert.plan.limits, message_bytes)
        assert seconds == pytest.approx(latency_s + seconds_per_byte * message_bytes)


@pytest.mark.parametrize(
    ("jobs", "stems"),
    [
        (("a/b", "a b"), ["a_b", "a_b-2"]),
        (("a b", "a_b", "a_b-2", "A_B-2"), ["a_b", "a_b-2", "a_b-2-2", "A_B-2-3"]),
        (("a_b-2", "a b", "a_b"), ["a_b-2", "a_b", "a_b-3"]),
    ],
)
def test_names_of_files_are_plain_and_differ(jobs: tuple[str, ...], stems: list[str]) -> None:
    _, plan = good.GOOD["shared"]()
    named = tuple(plan.assignments[0].model_copy(update={"job": job}) for job in jobs)
    assert stems_of(plan.model_copy(update={"assignments": named})) == dict(zip(jobs, stems, strict=True))


@pytest.mark.parametrize(
    ("name", "words"), [("fat_tree", "on fat_tree export circuits"), ("single", "nothing to export")]
)
def test_what_cannot_be_exported_is_named(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        runs_of(name)


def test_of_an_all_reduce_over_racks_the_part_in_each_is_written() -> None:
    """The all-reduce of eight ranks is a ring of four in each of two racks."""
    instance = racks(SWITCHES, 8)
    job = best(instance)["j0"]
    ring = Collective(kind="ring", wavelengths=(2,), racks=2, links=2)
    alone = Configuration(data=8, data_collective=ring)
    changed = job.model_copy(update={"configuration": alone})
    (run,) = group_runs(instance, Plan(instance="racks", assignments=(changed,)), "plan.json")
    assert (run.stem, run.plan.ranks) == ("j0.data-in-rack", 4)
    assert [{name[:2] for name in group} for group in run.groups] == [{"r0"}, {"r1"}]
