"""One run: mishaps for a while, then all is mended and must come to be as it should."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.controller import Controller
from planner.integrations.switch_emulator.referee import CrossConnect
from tests.oracles.controller import replayed
from tests.planner.controller.sites import quick_folder
from tests.planner.integrations.switch_drivers.commanded_world import unswitched
from tests.planner.integrations.switch_drivers.ocs.controlled_world import SIZES, controlled
from tests.planner.integrations.switch_drivers.ocs.site import unconnected
from tests.simulation.clients import ElasticUser, Operator, User
from tests.simulation.copies import going_on, lacking
from tests.simulation.rack_world import RackWorld
from tests.simulation.referee import Told, lost, placed_by, twice
from tests.simulation.simulated import simulated
from tests.simulation.world import SimulatedWorld

RATES = (0.0005, 0.001, 0.002)
"""of each kind of fault at each request of a switch, in turn"""
RUN_S, SETTLED_S, LOOK_S = 40.0, 300.0, 2.0
"""with mishaps; until all must be as it should; between two looks"""
EACH_PUT_BACK = 5
"""of whose runs a copy of the journal is put in its place in the end"""
KINDS = (*("torus",) * 10, "ocs_rail", "sipam")
"""fabrics in turn: switches of the first are the fewest"""


@dataclass(frozen=True)
class Outcome:
    """What came of a run."""

    seed: int
    wrong: list[str]
    counts: Counter[str]
    takeovers_s: list[float]


def run(seed: int, run_s: float = RUN_S, *, on: str = "") -> Outcome:
    """The run of a seed. `on`: on a lightpath whose jobs grow and shrink, or on such racks that fibers join; else by
    turns on fabrics of switches."""
    with quick_folder() as folder:
        world = _world(Path(folder), seed, on)
        with simulated(world):
            for place in range(2):
                world.begin(place)
            world.run_until(world.now_s + run_s)
            _end(world)
            for member in world.members:
                world.reap(member)
            _judge(world)
        if seed % EACH_PUT_BACK == 0 and world.copies.made and not world.wrong:
            with controlled(world):
                is_led_by_standby = seed // EACH_PUT_BACK % 2 == 0
                copy, size = world.copies.made[-1], SIZES.get(world.site.kind, [8])[0]
                world.wrong += going_on(world.path, copy, size, is_led_by_standby=is_led_by_standby)
        world.close()
        return Outcome(seed, world.wrong, _counts(world), world.takeovers_s)


def _world(folder: Path, seed: int, on: str) -> SimulatedWorld:
    rate, has_two = RATES[seed // 2 % len(RATES)], bool(seed % 2)
    if on:
        return RackWorld(unswitched(folder, on), seed, rate, has_two_machines=has_two)
    return SimulatedWorld(
        unconnected(folder, KINDS[seed % len(KINDS)], "restconf"), seed, rate, has_two_machines=has_two
    )


def _users(world: SimulatedWorld) -> list[User]:
    return [each for each in world.clients if isinstance(each, User)]


def _end(world: SimulatedWorld) -> None:
    """No more mishaps: there is light where jobs run and nowhere else; then all jobs end, and there is none."""
    world.chaos.is_over, world.disk.full_s = True, min(world.disk.full_s, world.now_s)
    world.stop_faults()
    for client in world.clients:
        if isinstance(client, Operator):
            client.is_mending = True
    for user in _users(world):
        user.is_resting = True
    _wait(world, lambda: _is_lit(world), "all jobs that run have their light, and no other is on")
    for user in _users(world):
        user.is_leaving = True
    _wait(world, lambda: not world.lit() and not any(user.job for user in _users(world)), "all jobs have ended")


def _wait(world: SimulatedWorld, is_so: Callable[[], bool], what: str) -> None:
    end_s = world.now_s + SETTLED_S
    while world.now_s < end_s:
        world.run_until(world.now_s + LOOK_S)
        if is_so():
            return
    world.wrong.append(f"never in the end: {what}")


def _is_lit(world: SimulatedWorld) -> bool:
    """Whether somebody leads, all users are answered, nothing is down, and light is where it should."""
    if any(world.now_s < member.frozen_s for member in world.members):
        return False
    leading = [member.controller for member in world.members if member.is_leading and not member.is_dead]
    if len(leading) != 1 or leading[0].down or not all(user.is_idle or user.told for user in _users(world)):
        return False
    running = leading[0].running
    told = {(each.job, each.devices) for user in _users(world) for each in user.told}
    if any((job, place.device_names) not in told for job, place in running.items()):
        return False
    wanted = set[CrossConnect]().union(*(world.circuits_of(place) for place in running.values()))
    return world.lit() == wanted


def _judge(world: SimulatedWorld) -> None:
    """What the referees say of the light, the journal and the answers."""
    answers = [answer for client in world.clients for answer in client.answers]
    told = sorted((each for user in _users(world) for each in user.told), key=lambda each: each.said_s)
    world.wrong += lost(world.path, answers)
    world.wrong += twice(world.path, told)
    for copy in world.copies.made:
        world.wrong += lacking(world.path, copy, answers)
    with Controller(journal=world.path) as controller:
        _note_starts(world, told)
        world.read(controller)
        naive = replayed(world.path).state()
        state = controller.state()
        world.wrong += [f"{name} is not as the journal says" for name in naive if naive[name] != state[name]]
    world.wrong += [f"{each.kind}: {each}" for each in world.judged().blamed]


def _note_starts(world: SimulatedWorld, told: Sequence[Told]) -> None:
    """When each job was told to run first, by the event that gave it its place; `told` in order of time."""
    placing = placed_by(world.path)
    for each in told:
        seq = max(seq for seq in placing[each.job] if seq <= each.seq)
        world.started[seq].setdefault(each.job, each.said_s)


def _counts(world: SimulatedWorld) -> Counter[str]:
    found = Counter(world.chaos.counts)
    found["copies"] = len(world.copies.made)
    found["reigns"] = len(world.reigns)
    found["take-overs"] = len(world.takeovers_s)
    found["faults of switches"] = len(world.faults)
    found["grew around light"] = world.counts["grew around light"]
    found["answers"] = sum(len(client.answers) for client in world.clients)
    found["jobs"] = sum(user.done for user in _users(world))
    for how, told in (("shrink", "jobs that shrank"), ("grow", "jobs that grew"), ("wait", "jobs that wait to grow")):
        found[told] = sum(each.resized[how] for each in world.clients if isinstance(each, ElasticUser))
    return found
