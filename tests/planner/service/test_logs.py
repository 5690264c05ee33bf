"""No secret is in the log."""

import json
import logging

import pytest

from planner.service.logs import JsonFormatter
from tests.planner.service.middleware_cases import raw
from tests.planner.service.running import TOKEN, running


def test_no_secret_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Neither the token nor what is nearly it, wherever in a request it lies; for requests that succeed and fail."""
    near = "nearly-the-real-token"
    with caplog.at_level(logging.DEBUG), running() as site:
        site.submit("a")
        for secret in (TOKEN, near):
            for header in (f"Bearer {secret}", f"Basic {secret}", secret, f"Bearer {secret} {secret}"):
                site.client.get("/v1/jobs", headers={"Authorization": header, "X-Token": secret})
                site.client.post("/v1/jobs", headers={"Authorization": header, "Cookie": secret}, content=b"{")
            site.client.get("/v1/jobs", params={"token": secret})
            raw(site, f"GET /v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization Bearer {secret}\r\n\r\n".encode())
        site.client.get(f"/v1/jobs/{TOKEN}")
    records = [record for record in caplog.records if record.name.startswith(("planner", "uvicorn"))]
    lines = [JsonFormatter(TOKEN).format(record) for record in records]
    assert len(lines) > 20
    assert not [line for line in lines if TOKEN in line or near in line]
    requests = [line for line in map(json.loads, lines) if line["message"] == "request"]
    assert {"time", "level", "request_id", "method", "path", "status", "took_s", "address"} <= set(requests[0])
    assert "/v1/jobs/***" in {line["path"] for line in requests}
