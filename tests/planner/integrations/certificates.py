"""Certificates that sign themselves."""

import subprocess
from pathlib import Path

from tests.need import need_program


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate that signs itself, for localhost, and its key."""
    files = folder / f"{name}.crt", folder / f"{name}.key"
    command = [
        need_program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(files[1]),
        "-out", str(files[0]),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    return files
