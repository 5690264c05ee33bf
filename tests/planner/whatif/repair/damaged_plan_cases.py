"""Shared by the tests of `damaged_plan`."""

from collections.abc import Iterator
from itertools import product

from costmodel.fabrics import DividedPorts, FabricBase, Lightpath, OcsRail, Sipam
from planner.model.plan import Assignment


def parts_of(fabric: FabricBase) -> Iterator[str]:
    """Every part that can fail, by name."""
    for server, slot in product(range(fabric.num_servers), range(fabric.devices_per_server)):
        device = fabric.device_name(server, slot)
        yield from (device, f"{device}:port")
        if isinstance(fabric, Lightpath):
            yield from (f"{device}:{end}w{w}" for end in ("", "rx:") for w in range(fabric.wavelengths_per_tile))
    yield from fabric.switch_names
    for a, b in product(range(fabric.num_servers), repeat=2):
        names = fabric.server_name(a), fabric.server_name(b)
        yield from (f"{names[0]}>{names[1]}#{number}" for number in range(fabric.num_fibers(a, b)))
    for server in range(fabric.num_servers if isinstance(fabric, Sipam) else 0):
        assert isinstance(fabric, Sipam)
        home = fabric.server_name(server)
        for tray in range(fabric.trays_per_server):
            yield from (f"{home}.m{tray}.u{unit}" for unit in range(fabric.units_per_tray))
            ports = product(range(fabric.local_rails), range(fabric.tray_ports))
            yield from (f"{home}.m{tray}.q{rail}#{port}" for rail, port in ports)
        spine = product(range(fabric.local_rails, fabric.num_io), range(fabric.uplinks))
        yield from (f"{home}.q{rail}#{uplink}" for rail, uplink in spine)


def parts_used(fabric: FabricBase, job: Assignment) -> Iterator[str]:
    """Parts without which a job could not go on as it runs."""
    needs_port = len(job.devices) > 1 or isinstance(fabric, Sipam | DividedPorts)
    for device in job.devices:
        yield from (device, *([f"{device}:port"] if needs_port else []))
    for plug in job.memory:
        yield from (plug.port, *plug.units, f"{plug.device.rpartition('.')[0]}.q{plug.rail}")
    for circuit in (circuit for held in job.circuits for circuit in held.circuits):
        ends = [name.rpartition(".") for name in (circuit.source, circuit.destination)]
        yield from circuit.fibers
        for w in circuit.wavelengths:
            yield from (f"{circuit.source}:w{w}", f"{circuit.destination}:rx:w{w}")
            if isinstance(fabric, OcsRail):
                yield f"q{ends[0][2][1:]}#{w}"
            if isinstance(fabric, Sipam):
                yield from (*(f"{server}.q{w}" for server, _, _ in ends), f"q{w}")
