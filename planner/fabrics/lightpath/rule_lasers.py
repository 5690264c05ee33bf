"""Lasers and receivers that have failed."""

from collections.abc import Iterator

from costmodel.fabrics import Lightpath
from planner.checks.names import admitted, tile_of
from planner.fabrics.lightpath.rule_fibers import failed_wavelengths
from planner.fabrics.lightpath.rule_light import circuits_of, named
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_lasers(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """No circuit leaves a tile on a wavelength whose laser has failed, or enters one whose receiver has."""
    cluster, fabric = instance.cluster, instance.cluster.fabric
    assert isinstance(fabric, Lightpath)
    lasers, receivers = failed_wavelengths(cluster)
    if not lasers and not receivers:
        return
    for _, assignment in admitted(instance, plan):
        for _, _, circuit in circuits_of(assignment):
            where = named(assignment, circuit)
            for end, failed, verb in ((circuit.source, lasers, "send"), (circuit.destination, receivers, "receive")):
                tile = tile_of(fabric, end)
                lost = [w for w in sorted(set(circuit.wavelengths)) if tile is not None and (*tile, w) in failed]
                if lost:
                    message = f"{where}: {end} cannot {verb} wavelengths {lost}"
                    yield Violation("lasers", where, message, float(len(lost)))
