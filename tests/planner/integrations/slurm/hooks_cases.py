"""Shared by the tests of `hooks`."""

import os
import subprocess


def processor_time_s(command: list[str], env: dict[str, str]) -> float:
    """Of one run of a program and all that it started."""
    before = os.times()
    subprocess.run(command, env=env, check=True, timeout=240)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system
