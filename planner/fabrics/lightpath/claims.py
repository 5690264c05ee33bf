"""Claims of jobs over fibers: wavelengths of fibers and of shared waveguides; lasers and receivers must work."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from costmodel.fabrics import FabricBase, Lightpath
from planner.fabrics.claims import Claims, Placed, ports_of
from planner.fabrics.rack_claims import IN, OUT
from planner.fabrics.server_shares.claims import SharedClaims
from planner.model.cluster import Cluster
from planner.model.lying import Lying
from planner.model.plan import Circuit


class LightpathClaims(SharedClaims):
    """Light of a job is its own on every fiber, and inside servers where waveguides are shared."""

    def of_lying(self, cluster: Cluster, job: Lying) -> Claims:
        """By number where light takes one fiber and waveguides are no job's: there a controller asks most."""
        fabric = cluster.fabric
        assert isinstance(fabric, Lightpath)
        is_spread = fabric.rack_of(job.servers[0]) != fabric.rack_of(job.servers[-1])
        if fabric.transit or fabric.waveguides == "shared" or cluster.has_failed_light or is_spread or job.upper:
            return super().of_lying(cluster, job)
        owned, servers = dict.fromkeys(job.device_names, 1), job.servers
        owned.update((fabric.fiber_name(servers[a], servers[b], i), mask) for (a, b, i), mask in job.wiring.fiber_masks)
        return Claims(owned, {}, tuple(ports_of(job.device_names)) if cluster.failed_parts else ())

    def owned(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        assert isinstance(fabric, Lightpath)
        masks: dict[str, int] = {}
        for circuit in _circuits(job):
            bits = sum(1 << wavelength for wavelength in {*circuit.wavelengths})
            for part in circuit.fibers:
                masks[part] = masks.get(part, 0) | bits
            for part in _waveguides(fabric, circuit) if fabric.waveguides == "shared" else ():
                masks[part] = masks.get(part, 0) | bits
        return dict(sorted(masks.items()))

    def relied_on(self, fabric: FabricBase, job: Placed) -> Iterable[str]:
        return sorted({part for circuit in _circuits(job) for part in _ends(circuit)})

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Collection[str]:
        return {*circuit.fibers, *_ends(circuit)}

    def named(self, part: str, bits: int) -> str:
        if part.endswith((IN, OUT)):
            return f"port {part}"
        number = (bits & -bits).bit_length() - 1
        return f"wavelength {number} of {part if part.startswith('waveguide ') else f'fiber {part}'}"


def _circuits(job: Placed) -> Iterator[Circuit]:
    return (circuit for held in job.circuits for circuit in held.circuits)


def _ends(circuit: Circuit) -> Iterator[str]:
    """Lasers and receivers of one circuit."""
    for wavelength in circuit.wavelengths:
        yield f"{circuit.source}:w{wavelength}"
        yield f"{circuit.destination}:rx:w{wavelength}"


def _waveguides(fabric: Lightpath, circuit: Circuit) -> Iterator[str]:
    """Waveguides between neighbouring tiles that a circuit crosses."""
    source, destination = fabric.parse_device(circuit.source), fabric.parse_device(circuit.destination)
    for server, here, there in fabric.crossed(source, tuple(map(fabric.parse_fiber, circuit.fibers)), destination):
        yield f"waveguide {fabric.device_name(server, here)} to {fabric.device_name(server, there)}"
