"""Nodes and servers: who is cordoned here is drained there, who is not ready has failed, and back.

Drained, too, is who has a taint of Kubernetes' own, or accelerators that its device plugin offers no more: which ones
it does not say. Taints of others only choose who may run there.

Of several nodes that are one server each fails with its own accelerators. Only whole servers are drained, for as long
as one of their nodes is to be. Nothing is remembered here: the journal says what is down for the sake of nodes, and
a node is who has its name now, so that one that was made anew while no planner ran is in use again.
"""

import logging

from planner.controller.controller import Controller
from planner.integrations.inventories.kubernetes import DOWN_TAINTS
from planner.integrations.kubernetes.client import KubernetesClient, path_of
from planner.integrations.kubernetes.config import KubernetesSite, Object
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.pod_groups import whole_number
from planner.model.errors import InputError

KEEPER = "kubernetes"
"""of what is down for the sake of a node: what others have drained, or failed, stays so"""
log = logging.getLogger("planner.kubernetes")


class Nodes:
    """The health of servers follows that of their nodes."""

    def __init__(self, controller: Controller, api: KubernetesClient, site: KubernetesSite) -> None:
        self.informer = Informer(api, path_of("v1", "nodes"))
        self._controller, self._site = controller, site
        self._uneven: set[str] = set()
        """nodes of which it was said that they have another number of accelerators than their share"""
        self._closed: dict[str, str] = {}
        """why no job begins on a node, as it was said last"""

    def label(self, node: str) -> str:
        """Value of the label of a node that selectors go by: most often its name."""
        about = self.informer.objects.get(("", node), {}).get("metadata", {})
        return str((about.get("labels") or {}).get(self._site.config.node_label, node))

    def follow(self) -> None:
        """Tell the controller what has changed: what goes down before what comes back, so that a node that fails while
        it is cordoned takes nobody in between."""
        to_fail, to_drain = self._wanted()
        view = self._controller.view(0)
        for part in sorted(to_fail.difference(view.failed)):
            self._controller.fail(part, keeper=KEEPER)
        for server in sorted(to_drain.difference(view.drained)):
            self._controller.drain(server, keeper=KEEPER)
        failed, drained = self._controller.kept_down(KEEPER)
        try:
            for part in sorted(failed - to_fail):
                self._controller.repair(part, keeper=KEEPER)
            for server in sorted(drained - to_drain):
                self._controller.undrain(server, keeper=KEEPER)
        except InputError as error:
            log.info("somebody else puts it back: %s", error)

    def _wanted(self) -> tuple[set[str], set[str]]:
        """Parts that are to have failed, and servers that are to be drained, for the sake of nodes."""
        to_fail, to_drain = set[str](), set[str]()
        for node, server in self._site.server_of.items():
            item = self.informer.objects.get(("", node))
            if item is None or self._is_lost(node, item):
                to_fail.update(self._site.parts_of[node])
            elif self._is_closed(node, item):
                to_drain.add(server)
        return to_fail, to_drain

    def _is_lost(self, node: str, item: Object) -> bool:
        """True if a node is not ready, or not what the configuration says."""
        status = item.get("status") or {}
        conditions = status.get("conditions") or ()
        is_ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
        return not is_ready or self._is_uneven(node, status.get("capacity") or {})

    def _is_closed(self, node: str, item: Object) -> bool:
        """True if it is cordoned, or not to be used in full."""
        spec, usable = item.get("spec") or {}, self._number((item.get("status") or {}).get("allocatable") or {})
        taints = [str(one.get("key")) for one in spec.get("taints") or () if one.get("effect") != "PreferNoSchedule"]
        said = next((f"has the taint {key}" for key in taints if key.startswith(DOWN_TAINTS)), "")
        if usable is not None and usable < self._site.per_node:
            said = said or f"can use {usable} of {self._site.per_node} accelerators"
        if spec.get("unschedulable"):
            said = "is cordoned"
        if said and self._closed.get(node) != said:
            log.warning("node %s %s: no job begins in server %s until that has changed", node, said,
                        self._site.server_of[node])  # fmt: skip
        self._closed[node] = said
        return bool(said)

    def _number(self, amounts: Object) -> int | None:
        """Accelerators among the resources of a node; None where it names none."""
        named = [str(amounts[resource]) for resource in self._site.config.resources if resource in amounts]
        return sum(whole_number(text) or 0 for text in named) if named else None

    def _is_uneven(self, node: str, capacity: Object) -> bool:
        """True if one of several nodes of a server says that it has another number of accelerators than its share."""
        share, total = self._site.per_node, self._number(capacity)
        if self._site.nodes_per_server == 1 or total is None:
            return False
        if total == share:
            self._uneven.discard(node)
        elif node not in self._uneven:
            self._uneven.add(node)
            log.error(
                "node %s has %d accelerators and its share of server %s is %d: it counts as failed; give the server as"
                " many nodes in `nodes` as share its %d",
                node, total, self._site.server_of[node], share, self._site.per_server,
            )  # fmt: skip
        return total != share
