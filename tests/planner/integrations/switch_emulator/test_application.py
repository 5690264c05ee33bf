"""Over real sockets with a plain client: addresses, login, a switch that hangs, the referee's address."""

import base64
import urllib.request

import pytest

from planner.integrations.switch_emulator.application import Login
from planner.integrations.switch_emulator.server import serving
from tests.planner.integrations.switch_emulator.clients import ADD, STATE, ask, emulator


@pytest.mark.parametrize("is_by_path", [False, True])
def test_each_switch_has_an_address(is_by_path: bool) -> None:
    with serving(emulator(), is_by_path=is_by_path) as addresses:
        assert len({address.split("/")[2] for address in addresses.values()}) == (2 if is_by_path else 3)
        assert ask(addresses["ocs1"] + "/operations/sonic-ocs:bulk-update", ADD)[0] == 200
        held = [
            len(ask(addresses[name] + STATE)[1]["sonic-ocs:OCS_CROSS_CONNECT_TABLE"]["OCS_CROSS_CONNECT_LIST"])
            for name in ("ocs0", "ocs1")
        ]
        assert held == [0, 1]
        _, found = ask(addresses["referee"] + "/light")
        assert [(each["switch"], each["until_s"]) for each in found["light"]] == [("ocs1", None)]
        root = addresses["ocs0"].removesuffix("/restconf")
        with urllib.request.urlopen(root + "/.well-known/host-meta", timeout=5) as answer:
            assert f"href='/{'ocs0/' if is_by_path else ''}restconf'" in answer.read().decode()
        assert ask(root + "/nothing")[0] == 404


def test_a_fault_is_ordered_and_told_at_the_referee() -> None:
    with serving(emulator()) as addresses:
        order = {"switch": "ocs0", "class": "read", "kind": "hang"}
        assert ask(addresses["referee"] + "/faults", order)[0] == 204
        with pytest.raises(TimeoutError):
            urllib.request.urlopen(addresses["ocs0"] + STATE, timeout=0.05)
        assert ask(addresses["ocs0"] + STATE)[0] == 200
        assert [each["kind"] for each in ask(addresses["referee"] + "/faults")[1]] == ["hang"]
        assert ask(addresses["referee"] + "/faults", {"switch": "ocs9"})[0] == 400


def test_nobody_else_is_let_in() -> None:
    with serving(emulator(), login=Login("admin", "secret")) as addresses:
        status, body = ask(addresses["ocs0"] + STATE)
        assert (status, body["ietf-restconf:errors"]["error"][0]["error-tag"]) == (401, "access-denied")
        right = {"Authorization": "Basic " + base64.b64encode(b"admin:secret").decode()}
        assert ask(addresses["ocs0"] + STATE, **right)[0] == 200
