"""What counts of a log."""

from typing import Any

from costmodel.calibrate.public_tables import block_steps


def test_a_block_without_samples_or_batch_is_left_out() -> None:
    def event(time_ms: int, key: str, value: Any = None, **metadata: Any) -> dict[str, Any]:
        kind = "POINT_IN_TIME" if value is not None else "INTERVAL_START"
        return {"time_ms": time_ms, "event_type": kind, "key": key, "value": value, "metadata": metadata}

    blocks = [event(0, "block_start", samples_count=0), event(5000, "block_stop", samples_count=64)]
    assert block_steps(blocks) == ({}, [])
    told = [event(0, "global_batch_size", 32), *blocks, event(6000, "block_start", samples_count=64)]
    same = [*told, event(8000, "block_stop", samples_count=64), event(9000, "block_start", samples_count=64)]
    assert block_steps([*same, event(13000, "block_stop", samples_count=128)])[1] == [2.0]
