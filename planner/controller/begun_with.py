"""Cluster and settings that a journal was begun with, and whether what it holds can be."""

from pydantic import ValidationError

from planner.controller.journal import Journal
from planner.controller.ledger import Ledger
from planner.controller.settings import Settings
from planner.controller.validator import restored_objection
from planner.model.cluster import Cluster
from planner.model.errors import InputError


def require_sound(cluster: Cluster, ledger: Ledger, path: str) -> None:
    """InputError where a place of the journal breaks a rule, by the validator."""
    running = [(entry.request, entry.place) for entry in ledger.jobs.values() if entry.place is not None]
    wrong = restored_objection(cluster, running)
    if wrong is not None:
        problem = f"a job of it runs where it cannot: {wrong}; put a copy in its place, or begin a new one"
        raise InputError("journal", path, problem)


def agreed(journal: Journal, cluster: Cluster | None, settings: Settings | None) -> tuple[Cluster, Settings]:
    """Cluster and settings of a journal, written there where they are new, unless it is only read."""
    written, rules = journal.meta("cluster"), journal.meta("settings")
    if written is None:
        if cluster is None:
            raise InputError("journal", journal.path, "is new; say which cluster it is for")
    else:
        try:
            old = Cluster.model_validate_json(written)
        except ValidationError as error:
            raise _damaged(journal, f"holds no cluster: {error.errors()[0]['msg']}") from None
        if cluster is not None and cluster != old:
            raise InputError("journal", journal.path, "is of another cluster; give that one, or a new file")
        cluster = old
    if settings is None:
        try:
            settings = Settings() if rules is None else Settings.model_validate_json(rules)
        except ValidationError as error:
            raise _damaged(journal, f"holds no settings: {error.errors()[0]['msg']}") from None
    values = {"cluster": cluster.model_dump_json(by_alias=True), "settings": settings.model_dump_json(by_alias=True)}
    if not journal.is_reader and (values["cluster"], values["settings"]) != (written, rules):
        journal.set_meta(values)
    return cluster, settings


def _damaged(journal: Journal, problem: str) -> InputError:
    return InputError("journal", journal.path, f"{problem}; put a copy in its place (`planner backup` makes one)")
