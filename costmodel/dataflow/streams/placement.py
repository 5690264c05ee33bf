"""Where absent tensors are: bytes behind each link, bytes that stay, and tensors that are made again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel.spec import BytesPerSecond, Spec

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
EXACT = 1e-9
"""share of a tensor that counts as rounding"""


class Link(Spec):
    """The way to one other memory; copies wait for each other on it, whichever direction they go."""

    name: str
    bandwidth_bytes_per_s: BytesPerSecond
    shares_collectives: bool = False
    """whether collectives run over it as well, one thing at a time"""


@dataclass(frozen=True)
class Placement:
    """Rows are the absences of a program, columns its links; each row adds up to the tensor or is made again."""

    moved_bytes: Floats
    """(A, L) behind each link"""
    kept_bytes: Floats
    """(A,) that stay in local memory"""
    is_remade: Bools
    """(A,) dropped and made again when it is needed"""

    @classmethod
    def by_share(cls, size_bytes: ArrayLike, shares: ArrayLike) -> Self:
        """Every tensor in these shares over the links, of shape (L,) or (A, L); what they leave is kept."""
        size = np.asarray(size_bytes, np.float64)[:, None]
        share = np.broadcast_to(np.asarray(shares, np.float64), (len(size), np.shape(shares)[-1]))
        return cls(size * share, (size[:, 0] * (1 - share.sum(axis=1))).clip(0), np.zeros(len(size), bool))

    @classmethod
    def from_pages(cls, size_bytes: ArrayLike, pages: ArrayLike, kept_pages: ArrayLike, is_remade: ArrayLike) -> Self:
        """Pages behind each link, (A, L), and pages that stay, (A,): the pages of one tensor are of equal size.

        ValueError for a tensor that has no page and is not made again.
        """
        size, moved = np.asarray(size_bytes, np.float64), np.asarray(pages, np.float64)
        kept, remade = np.asarray(kept_pages, np.float64), np.asarray(is_remade, bool)
        count = moved.sum(axis=1) + kept
        if np.any((count <= 0) & ~remade):
            raise ValueError(f"pages: tensor {int(np.argmax((count <= 0) & ~remade))} has none; place it or remake it")
        page_bytes = np.where(remade, 0.0, size / np.maximum(count, 1))
        return cls(moved * page_bytes[:, None], kept * page_bytes, remade)

    def copy_s(self, links: Sequence[Link]) -> Floats:
        """(A,) time of moving each tensor alone: its links work at the same time."""
        bandwidth = np.array([link.bandwidth_bytes_per_s for link in links])
        return np.asarray((self.moved_bytes / bandwidth).max(axis=1, initial=0.0))

    def require(self, size_bytes: Floats, num_links: int) -> None:
        """ValueError where the shapes are wrong or a tensor is not placed exactly once."""
        count = len(size_bytes)
        shapes = (self.moved_bytes.shape, self.kept_bytes.shape, self.is_remade.shape)
        if shapes != ((count, num_links), (count,), (count,)):
            raise ValueError(f"placement: shapes {shapes} do not fit {count} tensors and {num_links} links")
        if np.any(self.moved_bytes < 0) or np.any(self.kept_bytes < 0):
            raise ValueError("placement: bytes must not be negative")
        placed = self.moved_bytes.sum(axis=1) + self.kept_bytes
        wrong = np.abs(placed - np.where(self.is_remade, 0.0, size_bytes)) > EXACT * np.maximum(size_bytes, 1.0)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"placement: tensor {row} has {placed[row]:g} of {size_bytes[row]:g} bytes placed")


def local(size_bytes: ArrayLike, links: Sequence[Link]) -> Placement:
    """Everything behind the first link: the policy LOCAL."""
    return Placement.by_share(size_bytes, np.eye(len(links))[0])


def evenly(size_bytes: ArrayLike, links: Sequence[Link]) -> Placement:
    """As much behind each link: the policy BW_AWARE."""
    return Placement.by_share(size_bytes, np.full(len(links), 1 / len(links)))


def by_bandwidth(size_bytes: ArrayLike, links: Sequence[Link]) -> Placement:
    """In proportion to the links' bandwidths, so that all of them finish together."""
    bandwidth = np.array([link.bandwidth_bytes_per_s for link in links])
    return Placement.by_share(size_bytes, bandwidth / bandwidth.sum())


def kept(size_bytes: ArrayLike, links: Sequence[Link]) -> Placement:
    """Everything in local memory."""
    return Placement.by_share(size_bytes, np.zeros(len(links)))
