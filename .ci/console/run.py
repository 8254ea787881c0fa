#!/usr/bin/env python3
"""Runs the browser tests of the console against a demo. Usage: run.py [--database ADDRESS] KONTOR [THEME...]

The demo uses SQLite, the empty database of the address (or of KONTOR_CONSOLE_DATABASE), or with `postgres` a server that is
started for it. Needs Chromium, the package `playwright` and axe-core (installed by `.ci/console/check`). Screenshots are in
target/console/shots.
"""

import argparse
import os
import sys
import time

import attacks
import daily
import roles
import screens
import weight
from browser import Watched, chromium
from shop import demo

# In this order: the weight is that of a page that was just opened, and the attacks leave their texts in every list.
THEMES = {"weight": weight, "daily": daily, "roles": roles, "screens": screens, "attacks": attacks}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", default=os.environ.get("KONTOR_CONSOLE_DATABASE"))
    parser.add_argument("kontor")
    parser.add_argument("themes", nargs="*", metavar="theme", help=", ".join(THEMES))
    arguments = parser.parse_args()
    problems, began = [], time.monotonic()
    with chromium() as browser, demo(arguments.kontor, arguments.database) as shop:
        watched = Watched(browser, shop)
        for name in arguments.themes or THEMES:
            start = time.monotonic()
            found = THEMES[name].run(watched, shop)
            print(f"{name}: {len(found)} problems, {time.monotonic() - start:.1f} s", flush=True)
            problems += found
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems, {time.monotonic() - began:.1f} s")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
