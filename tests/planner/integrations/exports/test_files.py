"""Circuits, graphs and tuning tables of plans."""

import json
from dataclasses import replace
from typing import Any

import pytest

from costmodel.parallelism.configuration import Collective, Configuration
from planner.integrations.exports import FORMATS, export_files, files, msccl_xml, warnings_of
from planner.model.errors import InputError
from tests.planner.integrations.exports.exported import source_of
from tests.planner.integrations.exports.groups_cases import WITH_CIRCUITS


def test_circuits_of_a_pipeline_are_written() -> None:
    (line,) = (json.loads(content) for _, content in export_files("circuits", source_of("line")))
    assert (line["job"], line["dimension"], line["plan"]) == ("line", "pipeline", "line w2")
    assert line["groups"] == [["s0.t0", "s0.t1", "s0.t2", "s1.t2"]]
    assert len(line["configurations"][0]["circuits"]) == 6
    assert "schedule" not in line


def test_nothing_is_tuned_where_groups_exchange_alone() -> None:
    source = source_of("ring")
    (ring,) = source.plan.assignments
    experts = Collective(kind="circulant_relay", radices=(1, 2), held=(1,), wavelengths=(1,))
    alone = Configuration(data=4, expert=4, expert_collective=experts)
    only = source.plan.model_copy(
        update={"assignments": (ring.model_copy(update={"configuration": alone, "circuits": ()}),)}
    )
    given = replace(source, plan=only)
    assert [name for name, _ in export_files("msccl", given)] == ["ring.expert.xml", "ring.expert.circuits.json"]
    with pytest.raises(InputError, match="NCCL tunes nothing else"):
        list(export_files("tuner", given))


def test_an_all_to_all_with_too_many_steps_is_left_out_of_a_job_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its relays on one circuit take 12 steps, the all-reduce 6."""
    source, told = source_of("ring"), list[str]()
    (ring,) = source.plan.assignments
    experts = Collective(kind="circulant_relay", radices=(1,), held=(1,), wavelengths=(1,))
    both = ring.configuration.model_copy(update={"expert": 4, "expert_collective": experts})
    plan = source.plan.model_copy(update={"assignments": (ring.model_copy(update={"configuration": both}),)})
    given = replace(source, plan=plan, tell=told.append)
    names = ["ring.data.xml", "ring.data.circuits.json", "ring.expert.xml", "ring.expert.circuits.json"]
    assert [name for name, _ in export_files("msccl", given)] == names
    assert told == []
    with monkeypatch.context() as fewer:
        fewer.setattr(files, "MAX_ALGORITHMS", 1)
        with pytest.raises(ValueError, match=r"job ring: algorithms: MSCCL loads at most 1, got 2"):
            list(export_files("msccl", given))
    monkeypatch.setattr(msccl_xml, "MAX_STEPS", 11)
    assert [name for name, _ in export_files("msccl", given)] == names[:2]
    assert told == [
        "ring.expert is left out: steps: a threadblock of rank 1 needs 12, MSCCL allows 11; "
        "use fewer ranks or an algorithm with fewer rounds"
    ]
    alone = Configuration(data=4, expert=4, expert_collective=experts)
    only = ring.model_copy(update={"configuration": alone, "circuits": ()})
    with pytest.raises(ValueError, match="every all-to-all takes more steps"):
        list(export_files("msccl", replace(given, plan=plan.model_copy(update={"assignments": (only,)}))))


@pytest.mark.slow
def test_long_algorithms_are_warned_of() -> None:
    from costmodel.collectives.build import schedule_of
    from planner.integrations.exports.msccl_xml import Algorithm
    from tests.costmodel.collectives.cases import best_of

    def texts(*ranks: int) -> list[tuple[str, Any]]:
        return [
            (f"{n}.xml", msccl_xml.msccl_xml(Algorithm("a", schedule_of(best_of("ring", "all_reduce", n, 1e6)))))
            for n in ranks
        ]

    (warning,) = warnings_of([*texts(33, 34), ("a.circuits.json", "{}")])
    assert warning.startswith(
        "34.xml: a threadblock has 66 steps; the MSCCL executor as it is built by default takes 64"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_CIRCUITS)
@pytest.mark.parametrize("format_name", sorted(FORMATS.keys() - {"crossconnects", "slices"}))
def test_every_format_writes_files_of_different_names(name: str, format_name: str) -> None:
    """Cross-connects and slices are of fabrics with optical switches, which have tests of their own."""
    written = list(export_files(format_name, source_of(name)))
    assert len({file for file, _ in written}) == len(written) > 0
    assert all(content for _, content in written)
