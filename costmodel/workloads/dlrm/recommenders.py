"""Shapes of deep learning recommendation models (DLRM), published ones by name."""

from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from costmodel.catalog import documents, unknown_name
from costmodel.spec import Bytes, Count, Spec


class EmbeddingTable(Spec):
    """Tables of one size."""

    rows: int = Field(ge=1)
    """of a table"""
    pooling: int = Field(default=1, ge=1)
    """rows that are added up for one sample"""
    count: int = Field(default=1, ge=1)
    """tables of this size"""


class DlrmShape(Spec):
    """Sizes of a recommendation model; biases are left out.

    The bottom network makes one vector of the dense features, each table one of its looked-up rows; the vectors
    interact, and the top network makes a score of the result. Source: Naumov et al. 2019 (arXiv:1906.00091).
    """

    dense_features: Count
    """numbers of a sample beside its lookups"""
    bottom: tuple[Count, ...] = Field(min_length=1)
    """outputs of the layers of the bottom network, the last one as wide as a row"""
    tables: tuple[EmbeddingTable, ...] = Field(min_length=1)
    """embedding tables, by size"""
    dimension: Count
    """numbers of a row"""
    interaction: Literal["dot", "cross"] = "dot"
    """dot: products of all pairs of vectors, beside the bottom network's; cross: low-rank cross layers (DCNv2)"""
    cross_layers: int = Field(default=0, ge=0)
    """low-rank cross layers; 0 with dot"""
    cross_rank: int = Field(default=0, ge=0)
    """rank of their matrices; 0 with dot"""
    top: tuple[Count, ...] = Field(min_length=1)
    """outputs of the layers of the top network"""
    gather_efficiency: float = Field(gt=0, le=1)
    """share of the memory peak that gathering single rows reaches"""
    index_bytes: Bytes = 8.0
    """of the number of a row, read for each lookup"""
    source: str = ""
    """where the shape comes from"""
    sources: dict[str, str] = Field(default_factory=dict)
    """source of single numbers, by key"""
    aliases: tuple[str, ...] = ()
    """other names of the model"""

    @model_validator(mode="after")
    def _vectors_are_of_one_width(self) -> Self:
        if self.bottom[-1] != self.dimension:
            raise ValueError(f"bottom: its last layer has {self.bottom[-1]} outputs; give dimension, {self.dimension}")
        has_cross = self.cross_layers > 0 and self.cross_rank > 0
        if has_cross != (self.interaction == "cross") or (not has_cross and self.cross_layers + self.cross_rank):
            raise ValueError(
                f"cross_layers, cross_rank: {self.cross_layers} and {self.cross_rank} where interaction is "
                f"{self.interaction}; give both with cross, none with dot"
            )
        return self

    @property
    def label(self) -> str:
        """The shape in a few words."""
        return f"{self.num_tables} tables, {self.num_rows:,} rows of {self.dimension}"

    @property
    def num_tables(self) -> int:
        return sum(table.count for table in self.tables)

    @property
    def num_rows(self) -> int:
        """Of all tables."""
        return sum(table.count * table.rows for table in self.tables)

    @property
    def lookups(self) -> int:
        """Rows that one sample looks up in all tables."""
        return sum(table.count * table.pooling for table in self.tables)

    @property
    def vectors(self) -> int:
        """That interact: one of each table, and the bottom network's."""
        return self.num_tables + 1

    @property
    def bottom_layers(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each layer."""
        return list(zip((self.dense_features, *self.bottom), self.bottom, strict=False))

    @property
    def cross_matrices(self) -> list[tuple[int, int]]:
        """Inputs and outputs: each cross layer goes down to its rank and up again."""
        width = self.vectors * self.dimension
        return [(width, self.cross_rank), (self.cross_rank, width)] * self.cross_layers

    @property
    def top_inputs(self) -> int:
        """Numbers of a sample that the interaction leaves."""
        if self.interaction == "cross":
            return self.vectors * self.dimension
        return self.dimension + self.vectors * (self.vectors - 1) // 2

    @property
    def top_layers(self) -> list[tuple[int, int]]:
        """Inputs and outputs of each layer."""
        return list(zip((self.top_inputs, *self.top), self.top, strict=False))

    @property
    def dense_parameters(self) -> int:
        """Of all layers, which each rank holds whole; tables are not among them."""
        layers = [*self.bottom_layers, *self.cross_matrices, *self.top_layers]
        return sum(inputs * outputs for inputs, outputs in layers)

    @property
    def forward_flops(self) -> float:
        """Matrix operations of one sample, forward; the dot interaction forms all products of two vectors."""
        dot = self.vectors**2 * self.dimension if self.interaction == "dot" else 0
        return 2.0 * (self.dense_parameters + dot)


def recommender_names() -> tuple[str, ...]:
    """Names of the published shapes."""
    return tuple(documents()["recommenders"]["recommenders"])


@cache
def load_recommender(name: str) -> DlrmShape:
    """A published shape by its name or an alias, whatever the case; ValueError names the nearest ones."""
    plain = name.lower()
    for known, content in documents()["recommenders"]["recommenders"].items():
        if plain == known or plain in content.get("aliases", ()):
            return DlrmShape.model_validate(content)
    raise unknown_name("recommender", name, recommender_names())


def _known_recommender(name: str) -> str:
    load_recommender(name)
    return name


def _list_recommenders(schema: dict[str, Any]) -> None:
    schema["enum"] = list(recommender_names())


def _name_or_shape(value: object) -> str:
    return "name" if isinstance(value, str) else "shape"


_Name = Annotated[str, AfterValidator(_known_recommender), Field(json_schema_extra=_list_recommenders)]
Recommender = Annotated[
    Annotated[_Name, Tag("name")] | Annotated[DlrmShape, Tag("shape")],
    Discriminator(_name_or_shape),
]
"""Name of a published shape, or a shape."""
