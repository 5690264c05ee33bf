"""Shared by the tests of `job_requests`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from planner.integrations.slurm.job_requests import descriptor_of, request_of
from planner.integrations.slurm.rows import JobRow
from tests.planner.integrations.slurm.fragile import site

CONFIG = site(Path("/state"), Path("/bindings")).config
ASKS = "photonplan:nodes=2-4:gpus=4:type=any"


def row(**changes: Any) -> JobRow:
    plain_row = JobRow(
        job_id=7, state="PENDING", reason="JobHeldUser", is_held=True, user="alice", user_id=1000, account="",
        comment="", admin_comment=ASKS, nice=0, time_limit_s=600.0, submitted_s=1.0, eligible_s=0.0, restarts=0,
        can_requeue=True, dependency="", nodes="", takes_gpus=False,
    )  # fmt: skip
    return replace(plain_row, **changes)


def asked(**changes: Any) -> Any:
    given_row = row(**changes)
    descriptor = descriptor_of(given_row)
    assert descriptor is not None
    return request_of(given_row, descriptor, CONFIG, num_servers=3)
