# SPDX-License-Identifier: Apache-2.0
"""Shell completion: the scripts are what the shells want, and a real shell completes with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rooms.cli.world import run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_our_program_for_completions(shell: str) -> None:
    script = run(f"completion {shell}").stdout

    assert f"_GLASSHOUSE_COMPLETE={shell}_complete" in script
    assert "glasshouse" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["glasshouse", "pub"], {"publish"}),
        (["glasshouse", "publish", "t.csv", "--distinct"], {"--distinct-ell"}),
        (["glasshouse", "publish", "t.csv", "--method", "even"], {"even-split"}),
        (["glasshouse", "completion", ""], {"bash", "zsh", "fish"}),
    ],
)
def test_bash_completes_commands_options_and_choices(typed: list[str], offered: set[str], tmp_path: Path) -> None:
    program = tmp_path / "glasshouse"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m glasshouse "$@"\n')
    program.chmod(0o755)
    words = " ".join(f"'{word}'" for word in typed)
    script = (
        run("completion bash").stdout
        + f"\nCOMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}\n"
        + '_glasshouse_completion glasshouse; printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert set(done.stdout.split()) == offered
