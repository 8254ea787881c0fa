#!/usr/bin/env python3
"""Runs the browser tests of the console against a demo. Usage: run.py KONTOR [THEME...]

Needs Chromium, the package `playwright` and axe-core (installed by `.ci/console/check`). Screenshots are in
target/console/shots.
"""

import sys
import time

import daily
import screens
import weight
from browser import chromium, demo

THEMES = {"weight": weight, "daily": daily, "screens": screens}


def main():
    binary, chosen = sys.argv[1], sys.argv[2:] or list(THEMES)
    problems = []
    with chromium() as browser, demo(binary) as (kontor, staff):
        for name in chosen:
            start = time.monotonic()
            found = THEMES[name].run(browser, kontor, staff)
            print(f"{name}: {len(found)} problems, {time.monotonic() - start:.1f} s")
            problems += found
    for problem in problems:
        print(problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
