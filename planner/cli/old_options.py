"""Options by the names that they had: they work until the next version, and say what they are called now."""

import sys
from collections.abc import Mapping, Sequence

SOLVING = ("solve", "explain", "marginal", "pages", "repair", "reconfigure", "studio")
STUDIES = ("compare", "replay")
OLD_NAMES: Mapping[str, Mapping[str, str]] = {
    **{command: {"--workers": "--threads"} for command in SOLVING},
    **{command: {"--workers": "--processes"} for command in STUDIES},
}
"""new names of options by their old ones, by command"""
LAST = "0.2"
"""version that still takes them"""


def renewed(arguments: Sequence[str]) -> list[str]:
    """What a user typed with options by their new names; each old one is told on stderr."""
    renamed = OLD_NAMES.get(arguments[0], {}) if arguments else {}
    found = list(arguments)
    end = found.index("--") if "--" in found else len(found)
    for number, argument in enumerate(found[:end]):
        name, equals, value = argument.partition("=")
        if name in renamed:
            said = f"{name} is deprecated, and {LAST} is the last version that takes it; write {renamed[name]}"
            print(f"warning: planner {arguments[0]}: {said}", file=sys.stderr)
            found[number] = renamed[name] + equals + value
    return found
