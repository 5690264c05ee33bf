import math

import pytest
from pydantic import TypeAdapter, ValidationError

from costmodel import spec
from costmodel.spec import Spec, file_key

GOOD = [
    (spec.Seconds, "3.7 us", 3.7e-6),
    (spec.Seconds, "3.7us", 3.7e-6),
    (spec.Seconds, "3.7 µs", 3.7e-6),
    (spec.Seconds, "  15   ms  ", 0.015),
    (spec.Seconds, "2 ns", 2e-9),
    (spec.Seconds, "6 h", 21600.0),
    (spec.Seconds, "1.5 min", 90.0),
    (spec.Seconds, "2 d", 172800.0),
    (spec.Seconds, "4", 4.0),
    (spec.Seconds, 4, 4.0),
    (spec.Seconds, 0.25, 0.25),
    (spec.Seconds, "1e-6 s", 1e-6),
    (spec.Seconds, "1.e3", 1000.0),
    (spec.Seconds, ".5 s", 0.5),
    (spec.Seconds, "+1 s", 1.0),
    (spec.Bytes, "80 GB", 80e9),
    (spec.Bytes, "80 GiB", 80 * 2**30),
    (spec.Bytes, "8 Mb", 1e6),
    (spec.Bytes, "1_000 B", 1000.0),
    (spec.Bytes, "1 TiB", 2**40),
    (spec.BytesPerSecond, "1 Tb/s", 125e9),
    (spec.BytesPerSecond, "300 GB/s", 300e9),
    (spec.BytesPerSecond, "100 Gbps", 12.5e9),
    (spec.BytesPerSecond, "18.75 GB/s", 18.75e9),
    (spec.FlopsPerSecond, "989 TFLOP/s", 989e12),
    (spec.FlopsPerSecond, "2.25 PFLOPS", 2.25e15),
    (spec.JoulesPerByte, "5 pJ/b", 40e-12),
    (spec.JoulesPerByte, "5 pJ/bit", 40e-12),
    (spec.JoulesPerByte, "40 pJ/B", 40e-12),
    (spec.JoulesPerFlop, "0.5 pJ/FLOP", 0.5e-12),
    (spec.Watts, "700 W", 700.0),
    (spec.Watts, "0.7 kW", 700.0),
    (spec.Watts, "10 mW", 0.01),
    (spec.Decibels, "0.25 dB", 0.25),
]
BAD = [
    (spec.Seconds, "fast", "cannot read"),
    (spec.Seconds, "", "cannot read"),
    (spec.Seconds, "us", "cannot read"),
    (spec.Seconds, "3.7 parsecs", "unknown unit 'parsecs'"),
    (spec.Seconds, "3.7 GB", "unknown unit 'GB'"),
    (spec.Seconds, "-1 s", "greater than or equal to 0"),
    (spec.Seconds, "nan", "cannot read"),
    (spec.Seconds, math.nan, "not a finite number"),
    (spec.Seconds, math.inf, "not a finite number"),
    (spec.Seconds, "1e999 s", "not a finite number"),
    (spec.Seconds, True, "expected a number in SI"),
    (spec.Seconds, None, "expected a number in SI"),
    (spec.Seconds, [1.0], "expected a number in SI"),
    (spec.Seconds, "1 2 s", "unknown unit '2 s'"),
    (spec.Seconds, "1,5 s", "unknown unit ',5 s'"),
    (spec.Bytes, "80 GB/s", "unknown unit 'GB/s'"),
    (spec.Bytes, "80 gb", "unknown unit 'gb'"),
    (spec.BytesPerSecond, "300 GB", "write it like '300 GB/s'"),
    (spec.BytesPerSecond, 0, "greater than 0"),
    (spec.FlopsPerSecond, "989 TFLOP", "write it like '989 TFLOP/s'"),
    (spec.JoulesPerByte, "5 pJ", "write it like '5 pJ/b'"),
    (spec.JoulesPerFlop, "5 pJ/b", "write it like '0.5 pJ/FLOP'"),
    (spec.Watts, "700 J", "write it like '700 W'"),
    (spec.Decibels, "0.25 W", "write it like '0.25 dB'"),
]


@pytest.mark.parametrize(("kind", "value", "expected"), GOOD)
def test_quantities_become_si(kind: object, value: object, expected: float) -> None:
    assert TypeAdapter(kind).validate_python(value) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("kind", "value", "message"), BAD)
def test_bad_quantities_say_what_is_right(kind: object, value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ("alpha_s", "alpha"),
        ("capacity_bytes", "capacity"),
        ("link_bytes_per_s", "link"),
        ("matrix_flops_per_s", "matrix"),
        ("link_j_per_byte", "link"),
        ("laser_w", "laser"),
        ("loss_db", "loss"),
        ("lanes", "lanes"),
        ("layers", "layers"),
    ],
)
def test_file_keys_drop_the_unit(field: str, key: str) -> None:
    assert file_key(field) == key


class Part(Spec):
    """A part with one field of a unit."""

    alpha_s: spec.Seconds
    """time of a message of no bytes"""
    lanes: int = 4


def test_both_names_are_read_and_the_key_is_written() -> None:
    assert Part.model_validate({"alpha": "2 us"}) == Part.model_validate({"alpha_s": 2e-6})
    assert Part.model_validate({"alpha": "2 us"}).model_dump() == {"alpha": 2e-6, "lanes": 4}


def test_unknown_fields_are_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="lane"):
        Part.model_validate({"alpha": 0, "lane": 3})


def test_parts_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Part.model_validate({"alpha": 0}).lanes = 5


def test_schema_shows_the_unit_and_the_docstring() -> None:
    schema = Part.model_json_schema()["properties"]["alpha"]
    number, text = schema["anyOf"]
    assert number == {"type": "number", "description": "in s", "maximum": 1e10}
    assert text == {"type": "string", "description": "with its unit, such as '3.7 us'"}
    assert schema["examples"] == ["3.7 us"]
    assert "time of a message" in schema["description"]
