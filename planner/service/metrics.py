"""Metrics in the text format of Prometheus."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest

from planner.controller import Decision
from planner.controller.switch_reconciler import Action
from planner.controller.view import View
from planner.service.service import Service

LATENCIES_S = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """Counters of one service; what the controller holds is asked for at each scrape."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "photonplan_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self.event_s = Histogram(
            "photonplan_event_seconds", "From the queue to the disk", ["event"], buckets=LATENCIES_S,
            registry=self.registry,
        )  # fmt: skip
        self.decisions = Counter(
            "photonplan_decisions", "Decisions answered to requests", ["kind"], registry=self.registry
        )

    def event(self, name: str, took_s: float, decisions: Sequence[Decision]) -> None:
        """An event is on disk."""
        self.event_s.labels(name).observe(took_s)
        for decision in decisions:
            self.decisions.labels(type(decision).__name__.lower()).inc()

    def text(self, view: View, lease: Mapping[str, Any], service: Service) -> bytes:
        """All of it in the format of Prometheus; `lease` is a `LeaseBody`."""
        registry = CollectorRegistry()
        registry.register(_Floor(view, lease, service))
        return generate_latest(self.registry) + generate_latest(registry)


class _Floor:
    """One moment of the controller."""

    def __init__(self, view: View, lease: Mapping[str, Any], service: Service) -> None:
        self._view, self._lease, self._service = view, lease, service

    def collect(self) -> Iterator[Metric]:
        view = self._view
        gauges = {
            "queue_depth": ("Calls that wait for the controller", self._service.num_queued),
            "queue_wait_seconds": ("For how long the oldest of them waits", self._service.waited_s),
            "running_jobs": ("Jobs that run", len(view.running)),
            "waiting_jobs": ("Jobs that wait", view.num_waiting),
            "growing_jobs": (
                "Running jobs that wait for more accelerators",
                sum(job.growth is not None for job in view.running),
            ),
            "free_accelerators": ("Working accelerators that nobody holds", view.num_free),
            "down_parts": ("Failed parts and drained servers", len(view.failed) + len(view.drained)),
            "journal_seq": ("Events in the journal", view.seq),
            "leading": ("1: this controller leads; 0: it stands by", int(not self._service.is_standby)),
            "term": ("Term of the controller that leads", self._lease["term"]),
            "lease_silent_seconds": ("Since its lease was last renewed, as far as was seen", self._lease["silent_s"]),
        }
        for name, (said, value) in gauges.items():
            yield GaugeMetricFamily(f"photonplan_{name}", said, value=value)
        counted = CounterMetricFamily(
            "photonplan_searches", "What searches for places came to since the service started", labels=["outcome"]
        )
        for outcome, number in asdict(view.counts).items():
            counted.add_metric([outcome], number)
        yield counted
        failed = CounterMetricFamily(
            "photonplan_circuit_failures", "Circuits that the driver could not put on, or off", labels=["action"]
        )
        for action in get_args(Action):
            failed.add_metric([action], self._service.failures.get(action, 0))
        yield failed
