"""A controller over emulated switches that fail: `python -m tests.benchmarks.bench_switch_faults --faults 10000`.

`--protocol tl1` (or gnmi, openconfig, scpi) has the driver speak that; restconf unless given.

The whole controller (journal, reconciler, driver) leads emulated switches while faults happen by seed, and is killed at
its writes and requests. A referee reads where light went from the emulators, and the jobs' places from the journal.
Jobs on lightpaths grow and shrink: on racks that switches join, and where a command of the site sets all light, on one
rack and on racks that fibers join.
Exit code 1: light was wrong, shared, leaked, too early or dark by a request of the controller, or not where it should
be once all is mended. A seed alone: `--seed 7 --kind torus --worlds 1`.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from planner.integrations.switch_emulator.referee import FindingKind
from tests.planner.controller.sites import quick_folder, remember_kinds
from tests.planner.integrations.switch_drivers.commanded_world import CommandedElasticWorld, unswitched
from tests.planner.integrations.switch_drivers.ocs.controlled_world import SIZES, ControlledWorld, controlled
from tests.planner.integrations.switch_drivers.ocs.elastic_world import ElasticWorld
from tests.planner.integrations.switch_drivers.ocs.site import SCHEMES, unconnected

RATES = (0.001, 0.002, 0.004)
"""of each kind of fault at each request, in turn"""
FAULTS_OF_RACKS = 5.0
"""times as many faults where switches join racks alone, as they are asked less often"""
COMMANDED = ("lightpath", "lightpath-fibers")
KINDS = sorted((*SIZES, "lightpath-switches", *COMMANDED))


def world_of(
    folder: Path, kind: str, protocol: str, seed: int, steps: int
) -> tuple[ControlledWorld, list[str], Counter[str]]:
    """A world that has ended, what is to be blamed on the controller, and why other findings are not."""
    world = _made(folder, kind, protocol, seed)
    with controlled(world):
        try:
            found = world.run(steps)
        except AssertionError as error:
            return world, [f"in the end: {error}"], Counter()
    return world, [f"{each.kind}: {each}" for each in found.blamed], found.excused


def _made(folder: Path, kind: str, protocol: str, seed: int) -> ControlledWorld:
    rate = RATES[seed % len(RATES)]
    if kind in COMMANDED:
        return CommandedElasticWorld(unswitched(folder, kind), seed, rate)
    site = unconnected(folder, kind, protocol)
    return ControlledWorld(site, seed, rate) if kind in SIZES else ElasticWorld(site, seed, FAULTS_OF_RACKS * rate)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first world")
    parser.add_argument("--steps", type=int, default=60, help="events of one world")
    parser.add_argument("--worlds", type=int, default=10**6, help="at most so many")
    parser.add_argument("--kind", choices=KINDS, help="fabric; all in turn unless given")
    parser.add_argument("--protocol", choices=sorted(SCHEMES), default="restconf")
    given = parser.parse_args()
    remember_kinds()
    counts, by_kind, excused = Counter[str](), Counter[str](), Counter[str]()
    wrong, began_s = 0, time.process_time()
    for number in range(given.worlds):
        if counts["faults"] >= given.faults and counts["kills"] >= given.kills:
            break
        seed, kinds = given.seed + number, KINDS if given.kind is None else [given.kind]
        kind = kinds[seed // len(RATES) % len(kinds)]
        with quick_folder() as folder:
            world, blamed, reasons = world_of(Path(folder), kind, given.protocol, seed, given.steps)
        for text in blamed[:5]:
            print(f"seed {seed} on {kind}: {text}", flush=True)
        wrong += len(blamed)
        excused += reasons
        counts["worlds"] += 1
        counts["faults"] += len(world.faults)
        counts["kills"] += world.counts["killed"]
        counts["starts"] += sum(map(len, world.started.values()))
        for what in ("grow", "shrink", "grew around light"):
            counts[what] += world.counts[what]
        by_kind.update(world.faults)
        if counts["worlds"] % 20 == 0:
            print(dict(counts), file=sys.stderr, flush=True)
    print(f"{given.protocol}: wrong: {wrong} ({', '.join(FindingKind)})")
    print(f"not blamed: {dict(sorted(excused.items()))}")
    print(f"{dict(counts)}, faults by kind: {dict(sorted(by_kind.items()))}")
    print(f"{time.process_time() - began_s:.0f} s of a processor")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
