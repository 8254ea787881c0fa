"""A checkout of a commit in which texts are replaced, so that tests fail. Used by break_rules.py and planted_faults.py.

It is a worktree below target/broken-tree. What it compiles goes to target/broken-tree/target, or to CARGO_TARGET_DIR.
Changes that are not committed are not in it.
"""

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target/broken-tree"
CHECKOUT = WORK / "checkout"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", WORK / "target")).resolve()
UNIT_TESTS = re.compile(r"^#\[cfg\(test\)\]\nmod \w+ \{", re.M)


class Change(NamedTuple):
    """The text of a file that is replaced, and its replacement."""

    file: str
    text: str
    replacement: str

    def misfit(self) -> str | None:
        """Why it does not fit the files of this checkout, if so."""
        path = ROOT / self.file
        if not path.is_file():
            return f"{self.file} is missing"
        content = path.read_text()
        if content.count(self.text) != 1:
            return f"{self.file} has the text {content.count(self.text)} times: {self.text}"
        tests = UNIT_TESTS.search(content)
        if tests and content.index(self.text) > tests.start():
            return f"{self.file}: the text is part of the tests: {self.text}"
        return f"{self.file}: nothing is replaced: {self.text}" if self.text == self.replacement else None


def table(name: str, columns: list[str]) -> list[dict[str, str]]:
    """Rows of a table beside this script."""
    head, *lines = (ROOT / ".ci" / name).read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    if head.split("\t") != columns or any(len(row) != len(columns) for row in rows):
        raise SystemExit(f".ci/{name}: each line needs the columns {', '.join(columns)}")
    return [dict(zip(columns, row)) for row in rows]


def change(row: dict[str, str]) -> Change:
    return Change(row["file"], row["text"], row["replacement"])


def git(*arguments: str, folder: Path = ROOT) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr}")
    return done.stdout.strip()


def check_out(commit: str) -> None:
    """Brings the checkout to a commit. Files that are the same keep their times, so that little is compiled."""
    WORK.mkdir(parents=True, exist_ok=True)
    if (CHECKOUT / ".git").exists():
        git("reset", "--quiet", "--hard", commit, folder=CHECKOUT)
    else:
        git("worktree", "prune")
        git("worktree", "add", "--force", "--detach", str(CHECKOUT), commit)


@contextmanager
def broken(changes: list[Change]) -> Iterator[None]:
    """Replaces the texts, and restores the files in the end."""
    before: dict[Path, str] = {}
    try:
        for one in changes:
            path = CHECKOUT / one.file
            content = path.read_text()
            before.setdefault(path, content)
            if content.count(one.text) != 1:
                raise SystemExit(f"{one.file} has the text {content.count(one.text)} times: {one.text}")
            path.write_text(content.replace(one.text, one.replacement))
        yield
    finally:
        for path, content in before.items():
            path.write_text(content)


class Ran(NamedTuple):
    """Exit code of a command, or None if it did not end in time, and its output."""

    code: int | None
    output: str


def run(command: list[str], environment: dict[str, str], seconds: float | None = None) -> Ran:
    """Runs a command in the checkout. It is killed with everything that it started if it takes longer."""
    env = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "CARGO_TERM_COLOR": "never", "CARGO_PROFILE_DEV_DEBUG": "0"}
    # The tests start servers of their own.
    env.pop("TEST_DATABASE_URL", None)
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        process = subprocess.Popen(
            command, cwd=CHECKOUT, env=env | environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        code = None
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if code is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        out.seek(0)
        return Ran(code, out.read())
