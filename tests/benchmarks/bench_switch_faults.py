"""A controller over emulated switches that fail: `python -m tests.benchmarks.bench_switch_faults --faults 10000`.

`--protocol tl1` (or gnmi, openconfig, scpi) has the driver speak that; restconf unless given.

The whole controller (journal, reconciler, driver) leads emulated switches while faults happen by seed, and is killed at
its writes and requests. A referee reads where light went from the emulators, and the jobs' places from the journal.
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
from tests.planner.integrations.switch_drivers.ocs.controlled_world import SIZES, ControlledWorld, controlled
from tests.planner.integrations.switch_drivers.ocs.site import SCHEMES, unconnected

RATES = (0.001, 0.002, 0.004)
"""of each kind of fault at each request, in turn"""


def world_of(
    folder: Path, kind: str, protocol: str, seed: int, steps: int
) -> tuple[ControlledWorld, list[str], Counter[str]]:
    """A world that has ended, what is to be blamed on the controller, and why other findings are not."""
    world = ControlledWorld(unconnected(folder, kind, protocol), seed, RATES[seed % len(RATES)])
    with controlled(world):
        try:
            found = world.run(steps)
        except AssertionError as error:
            return world, [f"in the end: {error}"], Counter()
    return world, [f"{each.kind}: {each}" for each in found.blamed], found.excused


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first world")
    parser.add_argument("--steps", type=int, default=60, help="events of one world")
    parser.add_argument("--worlds", type=int, default=10**6, help="at most so many")
    parser.add_argument("--kind", choices=sorted(SIZES), help="fabric; all in turn unless given")
    parser.add_argument("--protocol", choices=sorted(SCHEMES), default="restconf")
    given = parser.parse_args()
    remember_kinds()
    counts, by_kind, excused = Counter[str](), Counter[str](), Counter[str]()
    wrong, began_s = 0, time.process_time()
    for number in range(given.worlds):
        if counts["faults"] >= given.faults and counts["kills"] >= given.kills:
            break
        seed, kinds = given.seed + number, sorted(SIZES) if given.kind is None else [given.kind]
        kind = kinds[seed // len(RATES) % len(kinds)]
        with quick_folder() as folder:
            world, blamed, reasons = world_of(Path(folder), kind, given.protocol, seed, given.steps)
        for text in blamed[:5]:
            print(f"seed {seed} on {kind}: {text}", flush=True)
        wrong += len(blamed)
        excused += reasons
        counts["worlds"] += 1
        counts["faults"] += len(world.emulator.happened)
        counts["kills"] += world.counts["killed"]
        counts["starts"] += sum(map(len, world.started.values()))
        by_kind.update(str(each.kind) for each in world.emulator.happened)
        if counts["worlds"] % 20 == 0:
            print(dict(counts), file=sys.stderr, flush=True)
    print(f"{given.protocol}: wrong: {wrong} ({', '.join(FindingKind)})")
    print(f"not blamed: {dict(sorted(excused.items()))}")
    print(f"{dict(counts)}, faults by kind: {dict(sorted(by_kind.items()))}")
    print(f"{time.process_time() - began_s:.0f} s of a processor")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
