"""Golden record: digests of all that the planner puts out, so that a change of its inside is seen to change nothing.

`python tests/golden/record.py` writes `manifest.json`; `--check` computes it anew and lists what differs. What is run
is reached by commands and the public names of `planner` alone, so that modules may move. Searches end at deterministic
limits on a clock that only work moves (`frozen.py`); fields that are masked stand in `texts.py`.

A text is JSON with a line for each value, or what a command prints; a change of the order of keys is a difference.
`--save DIR` with an old and a new version, then `diff -r`, shows what changed. What is not recorded:

| left out | why |
|---|---|
| times of `planner serve` | read from the machine's clock: masked in `live.py`, by key |
| identity of a journal, tokens | drawn at random |
| progress on stderr, plots | for eyes; errors and warnings on stderr are recorded |
| `validate` but for power, `calibrate` | need tables that do not ship; their help is recorded |
| `slurm`, `kubernetes`, `resync`, `backup` | need a scheduler or switches; their help and schemas are recorded |
| searches as long as users let them | they take too long: limits here are 0.1 to 1 deterministic units |
"""

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.golden.texts import Unit

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.json"
GROUPS = ("plans", "replays", "answers", "documents", "live", "published", "control")
ENVIRONMENT = {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1"}
_cpu_s, _wall_s = time.process_time, time.perf_counter


def begin() -> None:
    """Set what every entry rests on, before the project is imported."""
    os.environ.update(ENVIRONMENT)
    sys.path.insert(0, str(HERE.parents[1]))
    from tests.golden.frozen import freeze

    freeze()


def all_units(groups: Sequence[str] = GROUPS) -> dict[str, "Unit"]:
    """What can be run, by name."""
    from importlib import import_module

    found = [unit for group in groups for unit in import_module(f"tests.golden.{group}").units()]
    return {unit.path: unit for unit in found}


def texts_of(name: str) -> tuple[str, dict[str, str], float]:
    """Texts of one unit, and the processor time that they took."""
    from tests.golden.frozen import reset

    started_s = _cpu_s()
    reset()
    try:
        texts = all_units([name.split("/")[0]])[name].texts()
    except Exception:
        texts = {f"{name}: crash": traceback.format_exc()}
        print(f"crash in {name}\n{texts[f'{name}: crash']}", file=sys.stderr)
    return name, texts, _cpu_s() - started_s


def compute(names: Sequence[str], jobs: int) -> Iterator[tuple[str, dict[str, str], float]]:
    """Texts of all units, as they are found."""
    if jobs == 1:
        yield from map(texts_of, names)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), begin) as pool:
        for done in as_completed([pool.submit(texts_of, name) for name in names]):
            yield done.result()


def read() -> dict[str, str]:
    """Digest of each entry; nothing where there is no record yet."""
    return json.loads(MANIFEST.read_text("utf-8")) if MANIFEST.exists() else {}


def differences(known: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """A line for each entry that is not as recorded."""
    lines = []
    for name in sorted(known.keys() | found.keys()):
        if known.get(name) != found.get(name):
            what = "is new" if name not in known else "is gone" if name not in found else "differs"
            lines.append(f"{what}: {name}")
    return lines


def of_units(known: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Entries of these units."""
    wanted = set(names)
    return {name: found for name, found in known.items() if name.split(": ")[0] in wanted}


def save(folder: Path, texts: Mapping[str, str]) -> None:
    """Texts as files, so that those of two versions can be compared."""
    for name, text in texts.items():
        path = folder / (name.replace(": ", "/").replace(" ", "_") + ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="list what differs from the manifest, write nothing")
    parser.add_argument("--group", action="append", choices=GROUPS, help="only this group; may be given often")
    parser.add_argument("--quick", action="store_true", help="a part that touches every fabric and group")
    parser.add_argument("--only", default="", metavar="TEXT", help="only units whose name contains this")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--show", metavar="NAME", help="print the text behind an entry, or all of a unit")
    parser.add_argument("--save", type=Path, metavar="DIR", help="write the texts behind the digests")
    return parser.parse_args(arguments)


def show(name: str) -> int:
    unit, _, part = name.partition(": ")
    texts = texts_of(unit)[1]
    for each, text in texts.items():
        if not part or each == name:
            print(f"### {each}\n{text}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    given = parse(arguments)
    begin()
    if given.show:
        return show(given.show)
    from tests.golden.texts import digest

    units = all_units(given.group or GROUPS)
    names = [n for n, unit in units.items() if given.only in n and (unit.is_quick or not given.quick)]
    found: dict[str, str] = {}
    spent_s, started_s = 0.0, _wall_s()
    for number, (name, texts, cpu_s) in enumerate(compute(names, given.jobs), start=1):
        found.update({each: digest(text) for each, text in texts.items()})
        spent_s += cpu_s
        if given.save:
            save(given.save, texts)
        print(f"{number}/{len(names)} {cpu_s:.1f} s {name}", file=sys.stderr, flush=True)
    print(f"{len(found)} entries, {spent_s:.0f} s CPU, {_wall_s() - started_s:.0f} s", file=sys.stderr)
    known = read()
    before = of_units(known, names)
    for line in (lines := differences(before, found)):
        print(line)
    if given.check:
        return 1 if lines else 0
    kept = (
        {name: known[name] for name in known.keys() - before.keys()} if given.quick or given.only or given.group else {}
    )
    MANIFEST.write_text(json.dumps(dict(sorted((kept | found).items())), indent=0) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
