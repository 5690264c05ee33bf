"""The reconcile loop of a controller and a Kubernetes cluster."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from planner.controller.controller import Controller
from planner.integrations.kubernetes.admission import Admission
from planner.integrations.kubernetes.client import ApiError, KubernetesClient, path_of
from planner.integrations.kubernetes.client_config import access
from planner.integrations.kubernetes.config import KubernetesSite, load_site
from planner.integrations.kubernetes.extender import Extender
from planner.integrations.kubernetes.gang_lifecycle import GangLifecycle
from planner.integrations.kubernetes.holders import Holders
from planner.integrations.kubernetes.informer import Informer
from planner.integrations.kubernetes.jobs import Applied
from planner.integrations.kubernetes.nodes import Nodes
from planner.integrations.kubernetes.pods import takes_any
from planner.integrations.kubernetes.requeuer import Requeuer
from planner.integrations.slices.hosts import Hosts, SliceNames
from planner.integrations.slices.partitions import named_by
from planner.model.cluster import Cluster
from planner.model.errors import ConflictError

KUEUE_GROUP, NOT_FOUND = "/kueue.x-k8s.io/", 404
log = logging.getLogger("planner.kubernetes")


class KubernetesLoop:
    """Nodes, Workloads and pods compared with the controller; `extender` answers the scheduler from the same view."""

    period_s = 1.0

    def __init__(
        self,
        controller: Controller,
        api: KubernetesClient,
        site: KubernetesSite,
        applied: Applied | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`applied`: circuits that are surely on, by job; None where there is no driver to wait for."""
        self._site = site
        pods = Informer(api, path_of("v1", "pods"), keeps=lambda item: takes_any(item, site.config.resources))
        holders = Holders(api, pods)
        self._nodes = Nodes(controller, api, site)
        self._admission = (
            Admission(controller, api, site, pods, holders, self._nodes.label, applied, clock)
            if site.config.kueue
            else None
        )
        self._gangs = GangLifecycle(controller, api, site, pods, holders)
        self.extender = Extender(controller, api, site, pods, applied, clock)
        self._requeuer = Requeuer(controller, api, pods, self.extender, clock)
        self.informers = [pods, self._nodes.informer, *([self._admission.informer] if self._admission else ())]
        self.trouble = ""
        """why the last look failed; nothing where it did not"""

    def tick(self) -> None:
        """Look at all that has changed since then, and reconcile; an API that is down is asked again next time."""
        try:
            with ThreadPoolExecutor(len(self.informers)) as pool:
                list(pool.map(Informer.refresh, self.informers))
            self._nodes.follow()
            self._gangs.reconcile()
            if self._admission is not None:
                self._admission.reconcile()
            self._requeuer.reconcile()
        except ApiError as error:
            trouble = f"{error}{_remedy(error)}"
            if self.trouble != trouble:
                log.warning("the Kubernetes API is in trouble: %s", trouble)
            self.trouble = trouble
        else:
            self.trouble = ""

    def slice_names(self) -> SliceNames:
        """Partitions of cubes, and of their hosts as of the last look; ConflictError before the first one."""
        slices, nodes = self._site.config.slices, self._nodes.informer
        cubes = None if slices is None else slices.partitions
        if not self._site.has_hosts:
            return SliceNames(cubes)
        if not nodes.is_known:
            problem = "the labels of the nodes are not known yet; ask again, and the controller that leads"
            raise ConflictError("slices", "nodes", problem)
        return SliceNames(cubes, Hosts(self._site, named_by(nodes.objects.values(), self._site.server_of)))


def _remedy(error: ApiError) -> str:
    """What to write where Kueue is not there, or another release of it."""
    if error.status != NOT_FOUND or KUEUE_GROUP not in str(error):
        return ""
    return "; write `kueue: v1beta1` for a Kueue before 0.15, `kueue: null` where there is none"


def load_loop(path: Path, cluster: Cluster, controller: Controller, applied: Applied | None = None) -> KubernetesLoop:
    """The loop of kubernetes.yaml; InputError names file and field."""
    site = load_site(path, cluster)
    kubeconfig = site.config.kubeconfig
    api = KubernetesClient(access(None if kubeconfig is None else path.parent / kubeconfig))
    return KubernetesLoop(controller, api, site, applied)
