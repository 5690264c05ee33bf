"""A table that is cut into parts, one below the other, where it is wider than the terminal."""

from rich.table import Table

PADDING = 2
"""columns of text between two of a table"""


class WideTable(Table):
    """A table without lines whose parts each begin with the first `keys` columns, which name the row."""

    def __init__(self, keys: int) -> None:
        super().__init__(box=None, pad_edge=False, padding=(0, PADDING, 0, 0), header_style="bold")
        self.keys = keys

    def parts(self, width: int) -> "list[WideTable]":
        """Tables of all columns in their order, none wider than `width` columns of text where that can be; this one
        alone where it fits.
        """
        widths = [(column.min_width or 0) + PADDING for column in self.columns]
        key_width = sum(widths[: self.keys])
        if sum(widths) - PADDING <= width or self.keys >= len(widths):
            return [self]
        groups: list[list[int]] = []
        free = 0
        for place in range(self.keys, len(widths)):
            if not groups or widths[place] - PADDING > free:
                groups.append([])
                free = width - key_width
            groups[-1].append(place)
            free -= widths[place]
        return [self._part([*range(self.keys), *group]) for group in groups]

    def _part(self, places: list[int]) -> "WideTable":
        part = WideTable(self.keys)
        chosen = [self.columns[place] for place in places]
        for column in chosen:
            part.add_column(
                column.header,
                justify=column.justify,
                no_wrap=column.no_wrap,
                min_width=column.min_width,
                overflow=column.overflow,
            )
        for row in zip(*(column.cells for column in chosen), strict=True):
            part.add_row(*row)
        return part
