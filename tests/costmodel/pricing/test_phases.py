"""Settings of prefill and decode that differ: priced phase by phase, and every pair that pays is listed."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from costmodel.fabrics import Fabric, Sipam
from costmodel.hardware.device import load_device
from costmodel.parallelism.configuration import Collective, Configuration, PhaseSetting
from costmodel.pricing.candidates import Candidates, candidates_of, enumerate_candidates
from costmodel.pricing.phases import with_phases
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference, Workload
from tests.costmodel.pricing.phases_cases import FABRIC, SERVED
from tests.oracles.power import always_j
from tests.oracles.score import score_row

DEVICE = load_device("h100-sxm")
UNIT_BYTES_PER_S, UNIT_BYTES = 600e9, 16e9


def fabric_of(**fields: Any) -> Sipam:
    fabric: Sipam = TypeAdapter(Fabric).validate_python(FABRIC | fields)
    return fabric


def listed(fabric: Sipam, *sizes: int, **workload: Any) -> tuple[Candidates, Candidates, Scores]:
    """Rows with one setting, all rows, and the prices of these."""
    parsed: TransformerInference = TypeAdapter(Workload).validate_python(SERVED | workload)
    single = enumerate_candidates(parsed, sizes or (4, 8, 16), DEVICE, fabric)
    return single, *with_phases(single, DEVICE, fabric)


TIERED: dict[str, Any] = {"local_memory": True, "memory_grid": (1, 8)}
AWAY: dict[str, Any] = {"offload": "cache 100 %", "concurrency": 64}
"""of a service whose accelerators have memory of their own, and units as a second tier"""


def in_units(fabric: Sipam) -> str:
    """What of a rank's bytes lies in units."""
    return "tier_footprint_bytes" if fabric.local_memory else "footprint_bytes"


def switch_costs(rows: Candidates, row: int, fabric: Sipam, footprint_bytes: float) -> tuple[float, float]:
    """Seconds and moved bytes of an accelerator in a step, written out."""
    first, last = (each.splits[each.split[row]].memory_units for each in (rows.in_first_phase(), rows.in_last_phase()))
    fewer, more = sorted((first or 0, last or 0))
    copied = footprint_bytes / more * (more - fewer) if more else 0.0
    pace = min(more - fewer, fewer) * UNIT_BYTES_PER_S
    seconds = fabric.reconfiguration_s + (copied / pace if copied else 0.0)
    return 2 * seconds / rows.workload.output_tokens, 2 * 2 * copied / rows.workload.output_tokens


@pytest.mark.slow
@pytest.mark.parametrize(("fields", "workload"), [({}, {}), (TIERED, AWAY)])
def test_a_row_with_two_settings_costs_both_phases_and_the_switches(
    fields: dict[str, Any], workload: dict[str, Any]
) -> None:
    fabric = fabric_of(**fields)
    _, rows, scores = listed(fabric, **workload)
    phased = np.flatnonzero(rows.has_phases)
    splits_differ = phased[rows.in_first_phase().split[phased] != rows.split[phased]]
    assert len(splits_differ)
    for row in [*phased[:: len(phased) // 6], *splits_differ[::8]]:
        parts = []
        for each, phase in ((rows.in_first_phase(), "prefill"), (rows.in_last_phase(), "decode")):
            split = each.splits[each.split[row]]
            parts.append(score_row(each, int(row), split.device, split.fabric, phase=phase))
        expected = {name: parts[0][name] + parts[1][name] for name in parts[0]}
        seconds, moved = switch_costs(rows, int(row), fabric, parts[1][in_units(fabric)])
        ranks, own = int(rows.num_devices[row]), rows.splits[rows.split[row]].device
        j_per_byte = own.offload.energy_j_per_byte if own.offload else own.memory_j_per_byte
        assert scores.step_s[row] == pytest.approx(expected["step_s"] + seconds, rel=1e-9)
        assert scores.reconfiguration_s[row] == pytest.approx(expected["reconfiguration_s"] + seconds, rel=1e-9)
        assert scores.memory_j[row] == pytest.approx(expected["memory_j"] + moved * j_per_byte * ranks, rel=1e-9)
        for name, joules in always_j(DEVICE, fabric, ranks, seconds).items():
            assert getattr(scores, name)[row] == pytest.approx(expected[name] + joules, rel=1e-9)
        assert scores.active_j[row] == pytest.approx(expected["active_j"], rel=1e-9)
        assert scores.work[row] == parts[1]["work"]
        assert scores.tier_footprint_bytes[row] == pytest.approx(parts[1]["tier_footprint_bytes"], rel=1e-9)


def test_prices_of_the_listing_are_those_of_the_rows() -> None:
    fabric = fabric_of()
    _, rows, scores = listed(fabric)
    again = score(rows, DEVICE, fabric)
    for name, column in vars(scores).items():
        np.testing.assert_allclose(column, getattr(again, name), rtol=1e-12, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "carried", "fields", "workload"),
    [((8,), 1, {}, {}), ((4,), 2, {}, {}), ((4,), 1, TIERED, AWAY)],
)
def test_the_listed_pairs_are_the_fastest_of_each_two_splits_that_pay(
    sizes: tuple[int, ...], carried: int, fields: dict[str, Any], workload: dict[str, Any]
) -> None:
    io = {"name": "io", "width_mm": 8, "bandwidth": f"{600 * carried} GB/s", "source": "test"}
    fabric = fabric_of(shoreline={"name": "edge", "perimeter_mm": 96 // carried, "source": "test", "io": io},
                       spine_rails=1, **{"memory_grid": (4, 8, 10)} | fields)  # fmt: skip
    single, rows, _ = listed(fabric, *sizes, **workload)
    assert rows.take(np.arange(len(single))).configuration(3) == single.configuration(3)
    prices = {
        phase: [
            score_row(single, row, s.device, s.fabric, phase=phase)
            for row in range(len(single))
            if (s := single.splits[single.split[row]])
        ]
        for phase in ("prefill", "decode", *((None,) if fields else ()))
    }
    seconds = {phase: [each["step_s"] for each in rows] for phase, rows in prices.items()}
    alike: dict[tuple[object, ...], dict[int, list[int]]] = {}
    for row in range(len(single)):
        key = (*single.mappings.choice(int(single.mapping[row])).values(), int(single.block[row]))
        alike.setdefault(key, {}).setdefault(int(single.split[row]), []).append(row)
    expected, crowded = set(), 0
    for by_split in alike.values():
        for one, mine in by_split.items():
            for other, theirs in by_split.items():
                a, b = (min(some, key=lambda r: seconds[p][r]) for some, p in ((mine, "prefill"), (theirs, "decode")))
                splits = single.splits[one], single.splits[other]
                if a == b or (one != other and splits[0].memory_io == splits[1].memory_io):
                    continue
                held = max(prices["prefill"][a][in_units(fabric)], prices["decode"][b][in_units(fabric)])
                if held > min((split.memory_units or np.inf) * UNIT_BYTES for split in splits):
                    crowded += 1
                    continue
                most = max(splits, key=lambda split: split.memory_units or 0)
                rivals = [
                    min(seconds["prefill"][r] + seconds["decode"][r], seconds[None][r] if fields else np.inf)
                    for r in by_split[single.splits.index(most)]
                ]
                config = single.configuration(b)
                setting = {name: getattr(single.configuration(a), name) for name in PhaseSetting.model_fields}
                config = config.model_copy(update={"first_phase": PhaseSetting(**setting)})
                found = candidates_of([config], single.workload, DEVICE, fabric)
                switches, _ = switch_costs(found, 0, fabric, prices["decode"][b][in_units(fabric)])
                if seconds["prefill"][a] + seconds["decode"][b] + switches < min(rivals) * (1 - 1e-9):
                    expected.add(config)
    given = {rows.configuration(int(row)) for row in np.flatnonzero(rows.has_phases)}
    assert given == expected
    assert expected
    assert (crowded > 0) == bool(fields)


def test_slow_switches_leave_one_setting() -> None:
    _, rows, _ = listed(fabric_of(reconfiguration="100 s"))
    assert not rows.has_phases.any()


def test_where_nothing_changes_between_phases_nothing_is_added() -> None:
    workload = {"kind": "transformer_training", "model": "bert-large", "global_batch": 24, "sequence": 512}
    fabric, parsed = fabric_of(), TypeAdapter(Workload).validate_python(workload)
    single = enumerate_candidates(parsed, (4, 8), DEVICE, fabric)
    assert with_phases(single, DEVICE, fabric)[0] is single


def test_a_configuration_is_read_back_as_the_same_row() -> None:
    fabric = fabric_of()
    single, rows, scores = listed(fabric)
    some = np.flatnonzero(rows.has_phases)[::7]
    written = [rows.configuration(int(row)) for row in some]
    read = [Configuration.model_validate_json(each.model_dump_json()) for each in written]
    back = candidates_of(read, rows.workload, DEVICE, fabric)
    assert [back.configuration(i) for i in range(len(back))] == written
    np.testing.assert_allclose(score(back, DEVICE, fabric).step_s, scores.step_s[some], rtol=1e-12)
    assert "first_phase" not in single.configuration(0).model_dump(mode="json")


def test_bad_settings_of_a_phase_are_refused() -> None:
    with pytest.raises(ValueError, match="first_phase says the same"):
        Configuration(first_phase=PhaseSetting())
    training = TypeAdapter(Workload).validate_python(
        {"kind": "transformer_training", "model": "bert-large", "global_batch": 24, "sequence": 512}
    )
    two = Configuration(memory_units=2, memory_io=2, first_phase=PhaseSetting(memory_units=3, memory_io=3))
    with pytest.raises(ValueError, match="first_phase"):
        candidates_of([two], training, DEVICE, fabric_of())
    ring = Collective(kind="ring", wavelengths=(1,))
    odd = Configuration(tensor=4, block=4, micro_batch=32, memory_units=10, memory_io=10, tensor_collective=ring,
                        first_phase=PhaseSetting(memory_units=7, memory_io=7, tensor_collective=ring))  # fmt: skip
    with pytest.raises(ValueError, match="memory_units, memory_io"):
        candidates_of([odd], TypeAdapter(Workload).validate_python(SERVED), DEVICE, fabric_of())
