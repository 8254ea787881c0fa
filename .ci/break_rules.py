"""Breaks rules of docs/rules.tsv in the handlers, the domain or the storage: the test named for each must fail.

usage: break_rules.py [RULES] [--seed SEED]    RULES is their number, 40 unless given; the commit chooses them, or SEED
       break_rules.py --rule RULE              one rule
       break_rules.py --check                  compares the table with the tree; compiles and runs nothing

.ci/broken_rules.tsv has the rules that can be broken: the text that is replaced, and the test. First the tests must pass.
Then up to nine rules with tests in different files are broken in one build, and each test must fail. If one passes, if the
build fails, or if a test fails that has nothing to do with the rules, the rules in question are broken again, one by one.
So a rule of a group shows that its test fails in a tree in which its rule is broken, among others; the report has the place
of the failure. Tests run on SQLite. The report is target/broken-tree/rules.tsv.
"""

import argparse
import hashlib
import re
import sys
import time

from broken_tree import ROOT, WORK, Ran, broken, change, check_out, git, run, table

COLUMNS = ["rule", "test", "file", "text", "replacement"]
GROUP = 9
# A test that takes longer hangs, and has failed.
PATIENCE = 600
# It needs a service that starts, and nothing that the table breaks.
CONTROL = "http::transport::bodies_are_checked_before_anything_else"
ENVIRONMENT = {
    "CARGO_INCREMENTAL": "1",
    "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1",
    "RUST_TEST_THREADS": "4",
    "TEST_DATABASES": "sqlite",
    "REQUIRE_POSTGRES": "0",
}


def contract() -> dict[str, dict]:
    """Rules of docs/rules.tsv."""
    names = ["rule", "area", "requirement", "state", "tests", "remark"]
    lines = (ROOT / "docs/rules.tsv").read_text().splitlines()[1:]
    rules = [dict(zip(names, line.split("\t"))) for line in lines]
    return {rule["rule"]: {**rule, "tests": rule["tests"].split("; ")} for rule in rules}


def check(rows: list[dict]) -> None:
    """Ends with an error if a row does not fit the tree or docs/rules.tsv."""
    rules, seen, wrong = contract(), set(), []
    for row in rows:
        rule, misfit = row["rule"], change(row).misfit()
        if rule in seen:
            wrong.append(f"{rule}: listed twice")
        if rule not in rules or row["test"] not in rules[rule]["tests"]:
            wrong.append(f"{rule}: docs/rules.tsv does not name {row['test']}")
        if misfit:
            wrong.append(f"{rule}: {misfit}")
        seen.add(rule)
    if wrong:
        sys.exit("\n".join([".ci/broken_rules.tsv does not fit:", *wrong]))
    areas = {rules[rule]["area"] for rule in seen}
    print(f"{len(rows)} rules of {len(areas)} areas can be broken")


def place(test: str) -> tuple[str, str]:
    """The binary of a test, `lib` for unit tests, and its path in there."""
    first, path = test.split("::", 1)
    return ("lib" if first.startswith("kontor") else first), path


def file_of(row: dict) -> str:
    """The file of a test, which is the path without its name."""
    return row["test"].rsplit("::", 1)[0]


def target(binary: str) -> list[str]:
    return ["--lib"] if binary == "lib" else ["--test", binary]


def build(binaries: set[str]) -> Ran:
    targets = [argument for binary in sorted(binaries) for argument in target(binary)]
    return run(["cargo", "test", "--quiet", "--locked", "--workspace", *targets, "--no-run"], ENVIRONMENT)


def run_tests(binary: str, paths: list[str]) -> Ran:
    command = ["cargo", "test", "--quiet", "--locked", "--workspace", *target(binary), "--", *paths]
    return run(command, ENVIRONMENT, PATIENCE * len(paths))


def passed(ran: Ran) -> int:
    """Number of tests that passed, 0 if one failed."""
    return sum(map(int, re.findall(r"^test result: ok\. (\d+) passed", ran.output, re.M))) if ran.code == 0 else 0


def failure(test: str) -> str | None:
    """Place and reason of the failure of a test; None if it passed."""
    binary, path = place(test)
    ran = run_tests(binary, [path])
    if passed(ran) > 0:
        return None
    if ran.code is None:
        return f"no end after {PATIENCE} s"
    panic = re.search(r"panicked at (\S+?):?\n(.*)", ran.output)
    if panic is None and "test result: FAILED" not in ran.output:
        sys.exit(f"{test} did not run:\n{ran.output[-3000:]}")
    return " ".join(panic.groups())[:200] if panic else "failed"


def require_passing(rows: list[dict]) -> None:
    """Ends with an error unless all tests pass in the whole tree."""
    paths: dict[str, set[str]] = {}
    for test in [CONTROL, *(row["test"] for row in rows)]:
        binary, path = place(test)
        paths.setdefault(binary, set()).add(path)
    built = build(set(paths))
    if built.code != 0:
        sys.exit(f"the whole tree does not compile:\n{built.output[-3000:]}")
    for binary, known in paths.items():
        ran = run_tests(binary, sorted(known))
        if passed(ran) < len(known):
            sys.exit(f"not every test of {binary} passes in the whole tree:\n{ran.output[-3000:]}")


def groups(rows: list[dict]) -> list[list[dict]]:
    """Rows whose tests are in different files, where one rule rarely fails the test of another. Unit tests stay together,
    since they need another build."""
    made: list[list[dict]] = []

    def fits(row: dict, group: list[dict]) -> bool:
        alike = len({place(other["test"])[0] == "lib" for other in [row, *group]}) == 1
        return alike and len(group) < GROUP and all(file_of(other) != file_of(row) for other in group)

    for row in rows:
        group = next((group for group in made if fits(row, group)), None)
        if group is None:
            made.append([row])
        else:
            group.append(row)
    return made


def try_together(rows: list[dict]) -> dict[str, tuple[str, str]]:
    """What became of each rule, and why."""
    binaries = {place(row["test"])[0] for row in rows}
    control = None if binaries == {"lib"} else CONTROL
    if control:
        binaries.add(place(control)[0])
    with broken([change(row) for row in rows]):
        built = build(binaries)
        if built.code != 0:
            error = re.search(r"^error.*", built.output, re.M)
            return {row["rule"]: ("does not compile", error[0] if error else "") for row in rows}
        disturbed = failure(control) if control else None
        if disturbed:
            return {row["rule"]: ("too broad", disturbed) for row in rows}
        failures = {row["rule"]: failure(row["test"]) for row in rows}
    return {rule: ("noticed", why) if why else ("survived", "") for rule, why in failures.items()}


def try_group(rows: list[dict]) -> dict[str, tuple[str, str]]:
    outcomes = try_together(rows)
    for row in rows if len(rows) > 1 else []:
        outcome = outcomes[row["rule"]][0]
        if outcome != "noticed":
            print(f"{row['rule']} {outcome} in its group: once more, alone", flush=True)
            outcomes |= try_together([row])
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rules", nargs="?", type=int, default=40)
    parser.add_argument("--seed")
    parser.add_argument("--rule")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    rows = table("broken_rules.tsv", COLUMNS)
    check(rows)
    if asked.check:
        return
    commit, began = git("rev-parse", "HEAD"), time.monotonic()
    seed = asked.seed or commit
    rows.sort(key=lambda row: hashlib.sha256(f"{seed} {row['rule']}".encode()).hexdigest())
    chosen = [row for row in rows if row["rule"] == asked.rule] if asked.rule else rows[: asked.rules]
    if not chosen:
        sys.exit(f"no such rule in .ci/broken_rules.tsv: {asked.rule}")
    check_out(commit)
    print(f"commit {commit}, seed {seed}: {len(chosen)} rules", flush=True)
    require_passing(chosen)
    print(f"their tests pass in the whole tree ({time.monotonic() - began:.0f} s)", flush=True)
    missed = []
    with (WORK / "rules.tsv").open("w") as report:
        for group in groups(chosen):
            started = time.monotonic()
            outcomes = try_group(group)
            for row in group:
                outcome, why = outcomes[row["rule"]]
                missed += [row["rule"]] if outcome != "noticed" else []
                line = "\t".join([row["rule"], outcome, row["test"], why])
                print(line)
                report.write(f"{line}\n")
            report.flush()
            print(f"{len(group)} rules in {time.monotonic() - started:.0f} s", flush=True)
    noticed = len(chosen) - len(missed)
    print(f"{noticed} of {len(chosen)} tests failed when their rule was broken, in {time.monotonic() - began:.0f} s")
    sys.exit(f"not noticed: {' '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
