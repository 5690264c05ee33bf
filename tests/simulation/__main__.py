"""`python -m tests.simulation --seeds 300`: runs of the whole controller with mishaps; exit code 1 where any is wrong.

One seed again: `--first 17 --seeds 1`.
"""

import argparse
import gc
import sys
import time
from collections import Counter

from planner.service.server import GARBAGE
from tests.planner.controller.sites import remember_kinds
from tests.simulation.run import RUN_S, run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300, help="how many")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=RUN_S, help="with mishaps, by the clock of the simulation")
    on = parser.add_mutually_exclusive_group()
    told = "on a lightpath whose jobs grow and shrink"
    on.add_argument("--on-rack", dest="on", action="store_const", const="lightpath", default="", help=told)
    told = "the same on racks that fibers join, over which jobs grow"
    on.add_argument("--on-racks", dest="on", action="store_const", const="lightpath-fibers", help=told)
    given = parser.parse_args()
    remember_kinds()
    gc.freeze()
    gc.set_threshold(*GARBAGE)
    counts, wrong, longest_s, began_s = Counter[str](), 0, 0.0, time.process_time()
    for seed in range(given.first, given.first + given.seeds):
        outcome = run(seed, given.seconds, on=given.on)
        for text in outcome.wrong[:5]:
            print(f"seed {seed}: {text}", flush=True)
        wrong += bool(outcome.wrong)
        counts += outcome.counts
        longest_s = max(longest_s, *outcome.takeovers_s, 0.0)
        if (seed - given.first) % 100 == 99:
            print(f"{seed - given.first + 1} seeds, {wrong} wrong", file=sys.stderr, flush=True)
    print(f"{wrong} of {given.seeds} seeds are wrong")
    print(f"{dict(sorted(counts.items()))}; the longest take-over took {longest_s:.1f} s")
    print(f"{time.process_time() - began_s:.0f} s of a processor")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
