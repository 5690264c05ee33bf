"""Processor time of the driver of optical switches: `python -m tests.benchmarks.bench_switches --protocol tl1`.

48 switches of 136 simplex ports, 68 cross-connects on each, answer in a process of their own: stubs over restconf,
emulated switches over gnmi, openconfig, tl1 and scpi. One job is pointed
elsewhere several times: its old circuits are released, its new ones connected and read back until ports report light.
"""

import argparse
import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from planner.controller.switch_driver import Circuits
from planner.integrations.switch_drivers import driver_of
from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.gnmi import gnmi_server
from planner.integrations.switch_emulator.line_server import serving_lines
from planner.integrations.switch_emulator.scpi import ScpiSession
from planner.integrations.switch_emulator.tl1 import Tl1ServerSession
from planner.integrations.wiring.cables import CableTable
from planner.model.cluster import Cluster
from tests.fabrics import FABRICS
from tests.planner.integrations.switch_drivers.ocs.site import (
    SCHEMES,
    access_of,
    files_of,
    path_name,
    ports_of,
    spoken,
)
from tests.planner.integrations.switch_drivers.ocs.stub import StubServer, StubSwitch

SETTLING_S = 0.003
SERVERS, RAILS, SWITCHES = 68, 8, 6
FABRIC = FABRICS["ocs_rail"] | {
    "servers": SERVERS,
    "gpus_per_server": RAILS,
    "switches": SWITCHES,
    "ports": 2 * SERVERS,
}


def _serve(protocol: str, ports: dict[str, list[str]], pipe: Connection) -> None:
    """Sends where each switch is asked."""
    names = {name: path_name(name) for name in ports}
    if protocol == "restconf":
        server = StubServer({names[name]: StubSwitch(each) for name, each in ports.items()})
        pipe.send(dict.fromkeys(ports, server.url))
        server.serve_forever()
    emulator = Emulator([SwitchSpec(names[name], len(each)) for name, each in ports.items()], settling_s=SETTLING_S)
    if protocol in ("tl1", "scpi"):
        session = Tl1ServerSession if protocol == "tl1" else ScpiSession
        with serving_lines([*names.values()], lambda name: session(emulator, name)) as addresses:
            pipe.send({name: addresses[path] for name, path in names.items()})
            pipe.recv()
    _, port = gnmi_server(emulator, "127.0.0.1:0")
    pipe.send(dict.fromkeys(ports, f"http://127.0.0.1:{port}"))
    pipe.recv()


def _circuits(shift: int) -> Circuits:
    """Rings over every so-manieth server, on all switches of all rails."""
    ways = [
        {"from": f"s{s}.g{g}", "to": f"s{(s + shift) % SERVERS}.g{g}", "wavelengths": [*range(SWITCHES)], "fibers": []}
        for s in range(SERVERS)
        for g in range(RAILS)
    ]
    return [{"dimension": "data", "circuits": ways}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--protocol", choices=sorted(SCHEMES), default="restconf")
    given = parser.parse_args()
    table = CableTable.of(Cluster.model_validate({"device": "h100-sxm", "fabric": FABRIC}).fabric)
    ports = ports_of(table)
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(given.protocol, ports, there), daemon=True
    )
    process.start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        access = {
            switch: {**access_of(folder, given.protocol, url), "timeout": "60 s"} for switch, url in here.recv().items()
        }
        path = files_of(folder, FABRIC, spoken(table, given.protocol), access)
        driver = driver_of({"kind": "ocs", "config": str(path)}, folder / "driver")
        driver.connect("a", _circuits(1))
        for number in range(given.times):
            cpu_s, wall_s = time.process_time(), time.perf_counter()
            driver.release("a")
            driver.connect("a", _circuits(number + 2))
            cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
            print(f"{given.protocol}: {len(ports)} switches re-pointed: {cpu_s:.2f} s of a processor, {wall_s:.2f} s")
    process.terminate()
    process.join()


if __name__ == "__main__":
    main()
