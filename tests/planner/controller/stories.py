"""Small clusters on which stories of users are told."""


def servers_of(names: tuple[str, ...]) -> list[str]:
    return sorted({name.rpartition(".")[0] for name in names})
