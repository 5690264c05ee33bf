"""Switches of the tests: a command as a site would have one, that writes down when it did what.

In its folder, `faults.json` lists fibers that carry no light, "all" where it fails without a word, and `log` gets a
line of JSON for each call.
"""

import json
import sys
import time
from pathlib import Path


def main(folder: Path) -> int:
    call = json.load(sys.stdin)
    began_s = time.time()
    faults = set(json.loads((folder / "faults.json").read_text()))
    fibers = {step for held in call["circuits"] for circuit in held["circuits"] for step in circuit["fibers"]}
    is_dead = "all" in faults and call["action"] == "connect"
    broken = ["all"] if is_dead else sorted(fibers & faults) if call["action"] == "connect" else []
    line = call | {"began_s": began_s, "ended_s": time.time(), "broken": broken}
    with (folder / "log").open("a") as log:
        log.write(json.dumps(line) + "\n")
    if broken and not is_dead:
        print(json.dumps({"part": broken[0], "said": "no light"}))
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
