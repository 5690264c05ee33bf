"""Optical switches between the faces of cubes."""

from pydantic import Field

from costmodel.spec import JoulesPerByte, Spec, SwitchingTime


class SwitchesConfig(Spec):
    """Circuit switches between the faces of all cubes of a rack: one for each axis and place on the face."""

    ports: int = Field(ge=2, le=4096)
    """of one switch, 136 or 300 in products; each cube takes two of each switch"""
    energy_j_per_byte: JoulesPerByte
    """of a byte that goes from cube to cube, its link included"""
    reconfiguration_s: SwitchingTime = 0.0
    """time to set circuits, before a job starts; they stay while it runs"""
    twisted: bool = Field(default=False, exclude_if=lambda twisted: not twisted)
    """whether slices of n x n x 2n and n x 2n x 2n chips may be wired as twisted tori, too, for jobs with all-to-alls
    over all of a slice"""
