"""slurm.conf as Slurm reads it, and the one line in it that is ours."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from planner.integrations.hostlist import hosts_of
from planner.model import files
from planner.model.errors import InputError

SNIPPET = "photonplan.conf"
"""file beside slurm.conf that it includes"""
_BEGIN = "# photonplan: these three lines are written by `planner slurm install`, --remove takes them out\n"
_END = "# photonplan: end\n"
_PAIR = re.compile(r"""([A-Za-z_]\w*)\s*\+?=\s*("[^"]*"|\S*)""")
_MOST_INCLUDES = 100


def with_include(text: str) -> str:
    """slurm.conf that includes our snippet, once, before everything else."""
    return f"{_BEGIN}include {SNIPPET}\n{_END}{without_include(text)}"


def without_include(text: str) -> str:
    """slurm.conf as it was, byte for byte."""
    begin, end = text.find(_BEGIN), text.find(_END)
    return text if begin < 0 or end < begin else text[:begin] + text[end + len(_END) :]


@dataclass(frozen=True)
class ConfLine:
    """One line of a configuration: keys in small letters, values without their quotes."""

    place: str
    """file and line"""
    pairs: dict[str, str]


@dataclass(frozen=True)
class SlurmConf:
    """All lines but ours, those of included files too."""

    path: Path
    lines: tuple[ConfLine, ...]

    def value(self, key: str) -> str | None:
        """Value of a key by the last line that names it; None where none does."""
        found = [line.pairs[key.lower()] for line in self.lines if key.lower() in line.pairs]
        return found[-1] if found else None

    def listed(self, key: str) -> list[str]:
        """Words by commas in small letters."""
        return [word.strip().lower() for word in (self.value(key) or "").split(",") if word.strip()]

    @property
    def slurm_user(self) -> str:
        """User of slurmctld and its hooks: root unless given."""
        return self.value("SlurmUser") or "root"

    def gpus_by_node(self) -> dict[str, int]:
        """GPUs that each node is said to have; InputError for a host list that cannot be read."""
        return {node: _gpus(gres) for node, gres in self._gres_by_node().items()}

    def gpu_types(self, nodes: Iterable[str]) -> set[str]:
        """Types of the GPUs of these nodes in small letters; none where one of them has GPUs without a type, whose
        type gres.conf may tell."""
        gres = self._gres_by_node()
        types = {kind for node in nodes for kind in _types(gres.get(node, ""))}
        return set() if "" in types else types

    def _gres_by_node(self) -> dict[str, str]:
        """The text after Gres= by node."""
        found, default = dict[str, str](), ""
        for line in self.lines:
            if "nodename" not in line.pairs:
                continue
            gres = line.pairs.get("gres", default)
            if line.pairs["nodename"].upper() == "DEFAULT":
                default = gres
                continue
            try:
                found |= dict.fromkeys(hosts_of(line.pairs["nodename"]), gres)
            except ValueError as error:
                raise InputError(line.place, "NodeName", str(error)) from None
        return found


def _gpus(gres: str) -> int:
    """gpu:8 or gpu:a100:4,gpu:h100:4,nic:2 as 8."""
    return sum(int(words[-1]) if words[-1].isdigit() else 1 for words in _gpu_words(gres))


def _types(gres: str) -> set[str]:
    """a100 and h100 of gpu:a100:4,gpu:h100:4,nic:2; an empty text for GPUs without a type."""
    return {"" if len(words) < 2 or words[1].isdigit() else words[1].lower() for words in _gpu_words(gres)}


def _gpu_words(gres: str) -> list[list[str]]:
    names = (re.sub(r"\(.*?\)", "", part).split(":") for part in gres.split(","))
    return [words for words in names if words[0].strip().lower() == "gpu"]


def read_conf(path: Path) -> SlurmConf:
    """slurm.conf and what it includes; InputError for a file that cannot be read."""
    seen: list[Path] = []
    return SlurmConf(path, tuple(_lines(path, path.parent, seen)))


def _lines(path: Path, folder: Path, seen: list[Path]) -> Iterator[ConfLine]:
    if len(seen) >= _MOST_INCLUDES:
        raise InputError(
            str(path), "include", f"more than {_MOST_INCLUDES} files are included; do they name each other?"
        )
    seen.append(path)
    text = files.read_text(path, wanted="slurm.conf", remedy="name the file that slurmctld reads")
    for number, line in _joined(without_include(text).splitlines()):
        include = re.match(r"\s*include\s+(\S+)", line, re.IGNORECASE)
        if include:
            yield from _lines(folder / include[1], folder, seen)
        elif pairs := {key.lower(): value.strip('"') for key, value in _PAIR.findall(line)}:
            yield ConfLine(f"{path}:{number}", pairs)


def _joined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lines without comments, those that end in a backslash joined with the next."""
    begun, first = "", 0
    for number, line in enumerate(lines, 1):
        bare = re.sub(r"(?<!\\)#.*", "", line).rstrip()
        first = first if begun else number
        if bare.endswith("\\"):
            begun += bare[:-1] + " "
        else:
            yield first, begun + bare
            begun = ""
    if begun:
        yield first, begun
