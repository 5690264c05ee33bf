"""etcd, kube-apiserver, kube-scheduler and `planner serve --kubernetes` as processes of one folder, on loopback."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import yaml

from planner.integrations.kubernetes.config import Kubernetes
from planner.integrations.kubernetes.manifests import scheduler_configuration
from tests.paths import ROOT
from tests.planner.service.running import START
from tests.planner.simulate.grounds import BERT, CHAT, cluster

LIMIT_S = 120.0
ADMIN, TOKEN = "admin-of-the-test", "planner-of-the-test"
NODES = tuple(f"gpu-{i}" for i in range(4))
CONFIG = {"nodes": "gpu-[0-3]", "workloads": {"bert": BERT, "chat": CHAT}, "default_workload": "bert"}
ACCOUNT = "/api/v1/namespaces/photonplan/serviceaccounts/photonplan/token"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@dataclass
class Servers:
    """All processes; `binaries` holds kube-apiserver, etcd and, where wanted, kube-scheduler."""

    folder: Path
    binaries: Path
    processes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ports = {name: _free_port() for name in ("etcd", "peers", "api", "planner")}
        key, public = self.folder / "account.key", self.folder / "account.pub"
        for command in (["genrsa", "-out", key, "2048"], ["rsa", "-in", key, "-pubout", "-out", public]):
            subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text(f'{ADMIN},admin,admin,"system:masters"\n')
        (self.folder / "token").write_text(TOKEN)
        (self.folder / "token").chmod(0o600)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.ports['api']}"

    def start(self, name: str, command: Sequence[str | Path]) -> None:
        """Output goes to a file of the folder, name.log."""
        with (self.folder / f"{name}.log").open("ab") as log:
            environment = os.environ | {"PYTHONPATH": str(ROOT)}
            self.processes[name] = subprocess.Popen(
                list(map(str, command)), cwd=self.folder, env=environment, stdout=log, stderr=log
            )

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def close(self) -> None:
        for name in reversed(tuple(self.processes)):
            self.kill(name)

    def start_etcd(self) -> None:
        client, peers = (f"http://127.0.0.1:{self.ports[name]}" for name in ("etcd", "peers"))
        self.start(
            "etcd",
            [self.binaries / "etcd", "--data-dir=etcd", f"--listen-client-urls={client}",
             f"--advertise-client-urls={client}", f"--listen-peer-urls={peers}",
             f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=default={peers}"],
        )  # fmt: skip

    def start_api(self) -> None:
        """Ready when this returns."""
        self.start(
            "kube-apiserver",
            [self.binaries / "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}",
             "--bind-address=127.0.0.1", f"--secure-port={self.ports['api']}", "--cert-dir=certificates",
             "--authorization-mode=Node,RBAC", "--token-auth-file=tokens.csv",
             "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=account.pub",
             "--service-account-signing-key-file=account.key", "--service-cluster-ip-range=10.0.0.0/24",
             "--disable-admission-plugins=ServiceAccount"],
        )  # fmt: skip
        until_s = time.monotonic() + LIMIT_S
        while not self._is_ready():
            if time.monotonic() > until_s or self.processes["kube-apiserver"].poll() is not None:
                log = (self.folder / "kube-apiserver.log").read_text(errors="replace")
                raise SystemExit(f"kube-apiserver did not get ready; it said last:\n{log[-2000:]}")
            time.sleep(0.5)

    def _is_ready(self) -> bool:
        try:
            return self.admin().get("/readyz").status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False

    def admin(self) -> httpx.Client:
        """Who may do all."""
        headers = {"Authorization": f"Bearer {ADMIN}"}
        return httpx.Client(base_url=self.url, verify=False, headers=headers, timeout=20.0)

    def write_planner(self, version: str, token: str) -> None:
        """cluster.yaml, kubernetes.yaml, and kubeconfig files of the planner's account and of the scheduler."""
        (self.folder / "cluster.yaml").write_text(cluster("fat_tree").model_dump_json(by_alias=True))
        config = CONFIG | {"kubeconfig": "planner.config", "kueue": version}
        (self.folder / "kubernetes.yaml").write_text(yaml.safe_dump(config))
        self._write_config("planner.config", token)
        self._write_config("admin.config", ADMIN)

    def _write_config(self, name: str, token: str) -> None:
        certificate = str(self.folder / "certificates" / "apiserver.crt")
        server = {"server": self.url, "certificate-authority": certificate}
        lists: dict[str, Any] = {
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "clusters": [{"name": "a", "cluster": server}], "users": [{"name": "a", "user": {"token": token}}],
        }  # fmt: skip
        (self.folder / name).write_text(yaml.safe_dump({"current-context": "a"} | lists))

    def start_planner(self) -> None:
        options = ["--journal", "j.db", "--token-file", "token", "--port", str(self.ports["planner"])]
        command = [sys.executable, "-c", START, "serve", "cluster.yaml", *options, "--kubernetes", "kubernetes.yaml"]
        self.start("planner", command)

    def start_scheduler(self, version: str) -> None:
        """kube-scheduler with the extender, by the configuration that the planner writes."""
        config = yaml.safe_load(scheduler_configuration(Kubernetes.model_validate(CONFIG), "x"))
        address = f"http://planner:{TOKEN}@127.0.0.1:{self.ports['planner']}/scheduler"
        config["extenders"][0]["urlPrefix"] = address
        config |= {
            "apiVersion": f"kubescheduler.config.k8s.io/{version}",
            "clientConnection": {"kubeconfig": str(self.folder / "admin.config")},
            "leaderElection": {"leaderElect": False},
        }
        (self.folder / "scheduler.yaml").write_text(json.dumps(config))
        self.start("kube-scheduler", [self.binaries / "kube-scheduler", "--config=scheduler.yaml"])
