"""Kinds of jobs are asked for by several threads."""

from typing import Any

from planner.replay.kinds import Kind
from planner.schedulers.kinds import Kinds
from tests.planner.replay.grounds import cluster
from tests.planner.schedulers.sites import request


def test_a_kind_is_whole_as_soon_as_others_see_it() -> None:
    seen, kinds = list[Any](), Kinds(cluster("lightpath"))

    class Watched(dict[str, Kind]):
        """Asks as another thread would, once a kind is there."""

        def __setitem__(self, name: str, kind: Kind) -> None:
            super().__setitem__(name, kind)
            seen.append((kinds.limited(name, 1, 0).rows, kinds.asked(name)["accelerators"]))

    kinds._kinds = Watched()
    kinds.expand(request("a", [1, 2]))
    assert [(len(rows) > 0, sizes) for rows, sizes in seen] == [(True, [1, 2])]
