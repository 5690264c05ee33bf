"""planner kubernetes: what puts the planner into a Kubernetes cluster."""

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.exits import EXIT_CODES
from planner.model.errors import InputError

ConfigPath = Annotated[
    Path,
    typer.Option(
        "--config",
        metavar="FILE",
        help="kubernetes.yaml, whose fields `planner schema kubernetes` lists: nodes, workloads, the check.",
    ),
]


def _namespace(name: str) -> str:
    """As it is: the name becomes a part of an address beside the token."""
    from planner.integrations.kubernetes.config import is_namespace

    if not is_namespace(name):
        problem = f"'{name}' is no name of a namespace; use at most 63 lower-case letters and digits, with - between"
        raise InputError("--namespace", "", problem)
    return name


def _image(name: str) -> str:
    if len(name.split()) != 1 or name != name.strip():
        raise InputError("--image", "", f"'{name}' is no image; write it as registry/name:tag")
    return name


Namespace = Annotated[str, typer.Option(metavar="NAME", help="Namespace of the planner.", callback=_namespace)]

kubernetes = typer.Typer(
    help="Place pods of a Kubernetes cluster with their circuits. `planner schema kubernetes` lists the fields of "
    "kubernetes.yaml.",
    no_args_is_help=True,
)


@kubernetes.command(epilog=EXIT_CODES)
def manifests(
    cluster: Annotated[Path, typer.Argument(metavar="CLUSTER", help="A cluster, or an instance on one.")],
    config: ConfigPath,
    image: Annotated[
        str, typer.Option(metavar="IMAGE", help="With the extras serve and kubernetes installed.", callback=_image)
    ],
    namespace: Namespace = "photonplan",
) -> int:
    """Print what `kubectl apply --server-side -f -` installs: rights, AdmissionCheck, service, and a policy
    (Kubernetes 1.30 or newer) by which nobody else writes the planner's annotations. Its Secret photonplan-token,
    with the key `token`, is made by hand."""
    from planner.integrations.kubernetes.config import SliceSettings, load_site
    from planner.integrations.kubernetes.manifests import MOST_DATA, Deployment
    from planner.integrations.kubernetes.manifests import manifests as written
    from planner.model import files
    from planner.model.cluster import load_cluster

    site = load_site(config, load_cluster(cluster))
    if site.config.kubeconfig is not None:
        raise InputError(str(config), "kubeconfig", "leave it out: a pod uses its own account")
    if site.config.slices is not None and site.config.slices.cluster != SliceSettings().cluster:
        raise InputError(str(config), "slices.cluster", "leave it out: in the pod the cluster is cluster.yaml")
    texts = {"cluster.yaml": files.read_text(cluster), "kubernetes.yaml": files.read_text(config)}
    size = sum(len(text.encode()) for text in texts.values())
    if size > MOST_DATA:
        remedy = "run `planner serve --kubernetes` outside of the cluster, with a kubeconfig"
        problem = f"with {config} it has {size:,} bytes, more than the {MOST_DATA:,} that a ConfigMap holds; {remedy}"
        raise InputError(str(cluster), "", problem)
    print(written(site.config, texts, Deployment(namespace, image)), end="")
    return 0


@kubernetes.command(epilog=EXIT_CODES)
def scheduler(config: ConfigPath, namespace: Namespace = "photonplan") -> int:
    """Print what kube-scheduler reads by --config, so that it asks the planner; write the token in place of TOKEN."""
    from planner.integrations.kubernetes.config import Kubernetes
    from planner.integrations.kubernetes.manifests import scheduler_configuration
    from planner.model import files

    print(scheduler_configuration(files.load(Kubernetes, config), namespace), end="")
    return 0
