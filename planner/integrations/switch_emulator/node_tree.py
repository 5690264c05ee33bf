"""The published node tree of the YANG module `sonic-ocs`, revision 2024-11-21 (sonic-molex/sonic-buildimage), as data.

Two words for the state of a port are in the field, so leaves of ports are named by a vocabulary.
"""

from dataclasses import dataclass

MODULE = "sonic-ocs"
NAMESPACE = "http://github.com/sonic-net/sonic-ocs"
REVISION = "2024-11-21"
RPC = "bulk-update"

OVERRIDES = ("powered_off", "normal", "force_blocked")
CIRCUIT_STATES = ("disabled", "enabled", "invalid")


@dataclass(frozen=True)
class Leaf:
    """One leaf, a string unless it says otherwise."""

    name: str
    words: tuple[str, ...] = ()
    """of an enumeration"""
    digits: int | None = None
    """fraction digits of a decimal64"""
    is_list: bool = False
    """a leaf-list"""


@dataclass(frozen=True)
class Table:
    """A container with one list."""

    name: str
    list_name: str
    keys: tuple[str, ...]
    leaves: tuple[Leaf, ...]
    """keys included"""
    is_config: bool

    def leaf(self, name: str) -> Leaf | None:
        return next((leaf for leaf in self.leaves if leaf.name == name), None)


@dataclass(frozen=True)
class Vocabulary:
    """How one generation of the module names the state of ports."""

    override: str
    """leaf of the configuration"""
    state: str
    """leaf of the state"""
    lit: str
    """word for a port within 0.5 dB of its target"""

    @property
    def states(self) -> tuple[str, ...]:
        return ("powered_off", "blocked", "tuning", self.lit, "failed")


VOCABULARIES = {
    "oper_status": Vocabulary("config_status", "oper_status", "connected"),
    "state": Vocabulary("state", "state", "tuned"),
    "status": Vocabulary("state", "status", "tuned"),
}
"""by the leaf of a port's state: the module as published; the other one in the field; the design document"""

CIRCUIT = Leaf("cross_connect_id")
PORT = Leaf("simplex_port_id")
SIDES = (Leaf("a_side"), Leaf("b_side"))
CIRCUIT_LIST = "OCS_CROSS_CONNECT_LIST"
PORT_LIST = "OCS_PORT_LIST"

CIRCUITS = Table("OCS_CROSS_CONNECT", CIRCUIT_LIST, ("cross_connect_id",), (CIRCUIT, *SIDES), True)
CIRCUIT_STATE = Table(
    "OCS_CROSS_CONNECT_TABLE",
    CIRCUIT_LIST,
    ("cross_connect_id",),
    (CIRCUIT, Leaf("status", CIRCUIT_STATES), Leaf("physical_path", is_list=True), Leaf("insertion_loss_dB", digits=2)),
    False,
)
FACTORY_LOSS = Table(
    "OCS_FACTORY_INSERTION_LOSS_TABLE",
    "OCS_FACTORY_INSERTION_LOSS_LIST",
    ("cross_connect_id", "frequency_THz", "temperature_C"),
    (
        CIRCUIT,
        Leaf("temperature_C", digits=2),
        Leaf("frequency_THz", digits=3),
        Leaf("loss_dB", digits=2),
        Leaf("accuracy_dB", digits=2),
    ),
    False,
)


def tables(vocabulary: Vocabulary) -> dict[str, Table]:
    """All tables by name, configuration first."""
    ports = Table(
        "OCS_PORT", PORT_LIST, ("simplex_port_id",), (PORT, Leaf("label"), Leaf(vocabulary.override, OVERRIDES)), True
    )
    port_state = Table(
        "OCS_PORT_TABLE",
        PORT_LIST,
        ("simplex_port_id",),
        (
            PORT,
            Leaf("connector_type"),
            Leaf("connector_pin"),
            Leaf("target_simplex_port_id"),
            Leaf(vocabulary.state, vocabulary.states),
        ),
        False,
    )
    return {table.name: table for table in (ports, CIRCUITS, port_state, CIRCUIT_STATE, FACTORY_LOSS)}
