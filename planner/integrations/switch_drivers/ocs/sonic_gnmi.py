"""A switch that runs SONiC, over gNMI: the tables of `sonic-ocs`."""

from collections.abc import Collection, Mapping

from planner.integrations.switch_drivers.ocs.gnmi_client import GnmiSwitch
from planner.integrations.switch_drivers.ocs.switch import SwitchSilentError
from planner.integrations.switch_drivers.ocs.tables import CrossConnectRow, SwitchTables, entries_of, tables_of

MODULE, LIST, KEY = "sonic-ocs:sonic-ocs", "OCS_CROSS_CONNECT_LIST", "cross_connect_id"
CONFIG = "OCS_CROSS_CONNECT"


class SonicGnmiSwitch(GnmiSwitch):
    """The same tables as over RESTCONF; a Set is the transaction."""

    def tables(self) -> SwitchTables:
        return self._read(CONFIG, "OCS_CROSS_CONNECT_TABLE", "OCS_PORT_TABLE")

    def configured(self) -> Mapping[str, CrossConnectRow]:
        return self._read(CONFIG).rows

    def update(self, delete: Collection[CrossConnectRow], add: Collection[CrossConnectRow]) -> None:
        """Entries are written together, which is the transaction of `bulk-update`."""
        gone = [(MODULE, CONFIG, (LIST, {KEY: row.name})) for row in sorted(delete)]
        self.set(gone, (MODULE, CONFIG), {f"sonic-ocs:{LIST}": entries_of(add)} if add else None)

    def _read(self, *names: str) -> SwitchTables:
        answers = [self.get((MODULE, name)) for name in reversed(names)][::-1]
        try:
            return tables_of(*answers)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SwitchSilentError(f"{self.name} reports tables that cannot be read: {error!r}") from None
