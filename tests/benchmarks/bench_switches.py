"""Processor time of the driver for SONiC's switches: `python -m tests.benchmarks.bench_switches`.

48 switches of 136 simplex ports, 68 cross-connects on each, answer in a process of their own. One job is pointed
elsewhere several times: its old circuits are released, its new ones connected and read back until ports report light.
"""

import argparse
import multiprocessing
import re
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import yaml

from planner.controller.switch_driver import Circuits
from planner.integrations.switch_drivers import driver_of
from planner.integrations.wiring.cables import CableTable
from planner.model.cluster import Cluster
from tests.fabrics import FABRICS
from tests.planner.integrations.switch_drivers.ocs.stub import StubServer, StubSwitch

SERVERS, RAILS, SWITCHES = 68, 8, 6
FABRIC = FABRICS["ocs_rail"] | {
    "servers": SERVERS,
    "gpus_per_server": RAILS,
    "switches": SWITCHES,
    "ports": 2 * SERVERS,
}


def _serve(ports: dict[str, list[str]], pipe: Connection) -> None:
    server = StubServer({name: StubSwitch(each) for name, each in ports.items()})
    pipe.send(server.url)
    server.serve_forever()


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
    times = parser.parse_args().times
    cluster = {"device": "h100-sxm", "fabric": FABRIC}
    table = CableTable.of(Cluster.model_validate(cluster).fabric)
    ports: dict[str, list[str]] = {}
    for cable in table.cables:
        ports.setdefault(re.sub("[^A-Za-z0-9]+", "-", cable.switch), []).append(cable.port)
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(ports, there), daemon=True)
    process.start()
    switches = {"*": {"url": here.recv(), "timeout": "60 s"}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cluster.yaml").write_text(yaml.safe_dump(cluster))
        (folder / "wiring.csv").write_text(table.to_csv())
        config = {"cluster": "cluster.yaml", "wiring": "wiring.csv", "settle": "20 s", "switches": switches}
        (folder / "switches.yaml").write_text(yaml.safe_dump(config))
        driver = driver_of({"kind": "ocs", "config": str(folder / "switches.yaml")}, folder / "driver")
        driver.connect("a", _circuits(1))
        for number in range(times):
            cpu_s, wall_s = time.process_time(), time.perf_counter()
            driver.release("a")
            driver.connect("a", _circuits(number + 2))
            cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
            print(f"{len(ports)} switches re-pointed: {cpu_s:.2f} s of a processor, {wall_s:.2f} s")
    process.terminate()
    process.join()


if __name__ == "__main__":
    main()
