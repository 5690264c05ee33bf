"""Claims of jobs in pooled racks: units, ports of trays and uplinks; the switches of their circuits must work."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.claims import JobClaims, Placed
from planner.model.cluster import Cluster
from planner.model.plan import Circuit


class SipamClaims(JobClaims):
    """A job owns its parts of the pool through all phases of its workload; uplinks are counted by rail as well."""

    def owned(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        uplinks = (circuit.fibers for held in job.circuits for circuit in held.circuits)
        plugged = {name for plug in job.memory for name in (plug.port, *plug.units)}
        return dict.fromkeys(sorted(plugged.union(*uplinks)), 1)

    def counted(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        uplinks = {name for held in job.circuits for circuit in held.circuits for name in circuit.fibers}
        return {**Counter(name.rpartition("#")[0] for name in sorted(uplinks)), **super().counted(fabric, job)}

    def relied_on(self, fabric: FabricBase, job: Placed) -> Iterable[str]:
        assert isinstance(fabric, Sipam)
        used = {fabric.switch_name(plug.rail, fabric.parse_device(plug.device)[0]) for plug in job.memory}
        circuits = (circuit for held in job.circuits for circuit in held.circuits)
        return sorted(used.union(*(_switches(fabric, circuit) for circuit in circuits)))

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Collection[str]:
        assert isinstance(fabric, Sipam)
        return {*circuit.fibers, *_switches(fabric, circuit)}

    def capacity(self, cluster: Cluster) -> Mapping[str, int]:
        """Working uplinks of each spine rail of each server, none where a switch on the way has failed."""
        fabric, failed = cluster.fabric, cluster.failed_parts
        assert isinstance(fabric, Sipam)
        found = {**super().capacity(cluster)}
        for server in range(fabric.num_servers):
            for rail in range(fabric.local_rails, fabric.num_io):
                switches = [fabric.switch_name(rail, number) for number in (server, _zone(fabric, server))]
                names = [fabric.uplink_name(server, rail, number) for number in range(fabric.uplinks)]
                works = failed.isdisjoint(switches)
                found[switches[0]] = sum(name not in failed for name in names) if works else 0
        return found


def _zone(fabric: Sipam, server: int) -> int:
    """Number of the switch that joins the uplinks of all servers of a rack."""
    return fabric.num_servers + fabric.rack_of(server)


def _switches(fabric: Sipam, circuit: Circuit) -> set[str]:
    """Switches of both servers, and of their zone where a circuit leaves a server."""
    servers = {fabric.parse_device(name)[0] for name in (circuit.source, circuit.destination)}
    numbers = {*servers, *(_zone(fabric, server) for server in servers if len(servers) > 1)}
    return {fabric.switch_name(rail, number) for rail in circuit.wavelengths for number in numbers}
