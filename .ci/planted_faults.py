"""Plants a fault for each kind of test of which .ci/run runs a part, and expects the part that is to find it to fail.

usage: planted_faults.py [KIND...]     KIND is disk, crash, profile, simulation, fuzz or mutants; all unless given
       planted_faults.py --expected    after how many commits on average each part is chosen; compiles and runs nothing

.ci/planted_faults.tsv has the faults. The part must pass in the whole tree first. The simulator must find its fault with
every seed of .ci/run. A fault is found after 1/p commits on average, p being the share of commits that run its part; more
than ten is an error. Two choices within a part are finer, and only shown: one seed of the simulator, one mutation.
Needs PostgreSQL, and for fuzz and mutants what .ci/run installs below target.
"""

import os
import re
import sys
import time

from broken_tree import CHECKOUT, ROOT, TARGET, broken, change, check_out, git, run, table

COLUMNS = ["kind", "part", "file", "text", "replacement"]
MOST = 10
# The choice of .ci/run that decides about a kind, if it has another name.
CHOICES = {"fuzz": "turn", "mutants": "turn"}
# Choices within a part, and the choice of that part.
WITHIN = {"seed": "simulation", "mutants": "turn"}
ENVIRONMENT = {
    "CARGO_INCREMENTAL": "1",
    "RUST_TEST_THREADS": "4",
    "REQUIRE_POSTGRES": "1",
    "PATH": os.pathsep.join([str(ROOT / "target/peers/bin"), str(ROOT / "target/tools/bin"), os.environ["PATH"]]),
}
RUN = (ROOT / ".ci/run").read_text()
# A part that takes longer hangs; .ci/run waits as long.
PATIENCE = 45 * 60


def choice_of(kind: str) -> str:
    return CHOICES.get(kind, kind)


def array(name: str) -> list[str]:
    """Elements of an array of .ci/run."""
    found = re.search(rf"^{name}=\(([^()]*)\)", RUN, re.M)
    if found is None:
        sys.exit(f".ci/run has no array {name}")
    return found[1].split()


def choices() -> dict[str, list[str]]:
    """Elements among which each `choose` of .ci/run chooses one; all are equally likely."""
    found = re.findall(r"\$\(choose (\w+) (?:\$\{#(\w+)\[@\]\}|(\d+))\)", RUN)
    if len(found) != RUN.count("$(choose "):
        sys.exit(".ci/run has a choice that this script cannot read")
    return {name: array(of) if of else [str(number) for number in range(int(count))] for name, of, count in found}


def show_expected(faults: list[dict]) -> None:
    """Prints for each part the average number of commits until it runs. Ends with an error if one is too large."""
    known, wrong = choices(), [f"{fault['kind']}: {misfit}" for fault in faults if (misfit := change(fault).misfit())]
    finders = {(choice_of(fault["kind"]), fault["part"]): fault["kind"] for fault in faults}
    for name, elements in known.items():
        count = len(elements)
        if name in WITHIN:
            commits = len(known[WITHIN[name]]) * count
            print(f"{name}: one of {count} within a part of {WITHIN[name]}, after {commits} commits; not bounded")
            continue
        for element in elements:
            kind = finders.get((name, element))
            print(f"{name}: {element} after {count} commits{f', finds the fault of {kind}' if kind else ''}")
        if count > MOST:
            wrong.append(f"{name}: a part runs after {count} commits on average, more than {MOST}")
        if not any(choice == name for choice, _ in finders):
            wrong.append(f"{name}: no fault is planted for it")
    never = [(choice, part) for choice, part in finders if part not in known.get(choice, [])]
    wrong += [f"{choice}: .ci/run never chooses {part}" for choice, part in never]
    if wrong:
        sys.exit("\n".join(wrong))


def tests(binary: str, *arguments: str) -> list[str]:
    return ["cargo", "test", "--locked", "--workspace", "--test", binary, "--", *arguments]


def commands(kind: str, part: str) -> list[tuple[list[str], dict[str, str]]]:
    """Commands of a part as in .ci/run, and what they need in the environment."""
    if kind == "disk":
        return [(tests("storage", part), {})]
    if kind == "crash":
        return [(tests("http", part), {})]
    if kind == "profile":
        return [(tests("storage", "--skip", "::sqlite", *array("slice")), {"TEST_POSTGRES_PROFILE": part})]
    if kind == "simulation":
        first = re.search(r"^seed=\$\(\((\d+) \+", RUN, re.M)
        seeds = [int(first[1]) + int(number) for number in choices()["seed"]] if first else sys.exit(".ci/run has no seed")
        return [(tests("simulation", part), {"SIM_SEED": str(seed)}) for seed in seeds]
    if kind == "fuzz":
        fuzz = ["python3", ".ci/fuzz.py", str(TARGET / "debug/kontor"), "", "2", "1", f"{part}/3"]
        return [(fuzz, {})]
    if kind == "mutants":
        return [([".ci/mutants", "0/500", "--in-place", "--cap-lints=false"], {})]
    return sys.exit(f"unknown kind: {kind}")


def build(kind: str) -> None:
    """Compiles what a part runs, so that a fault that does not compile is not taken for one that is found."""
    if kind == "mutants":
        return
    binary = {"disk": "storage", "profile": "storage", "simulation": "simulation"}.get(kind, "http")
    built = run(["cargo", "test", "--locked", "--workspace", "--test", binary, "--no-run"], ENVIRONMENT)
    if built.code != 0:
        sys.exit(f"{kind} does not compile:\n{built.output[-3000:]}")


def passes(kind: str, command: list[str], environment: dict[str, str]) -> bool:
    ran = run(command, ENVIRONMENT | environment, PATIENCE)
    if kind == "mutants":
        # As in .ci/run: mutations may be missed, but not all of them.
        if ran.code not in (0, 2):
            sys.exit(f"{' '.join(command)} did not run:\n{ran.output[-3000:]}")
        return ran.code == 0 or (CHECKOUT / "target/mutants.out/caught.txt").read_text().strip() != ""
    if kind == "fuzz":
        # Without a verdict of the fuzzer, something else went wrong.
        if "client surface: " not in ran.output:
            sys.exit(f"{' '.join(command)} did not run:\n{ran.output[-3000:]}")
        return ran.code == 0
    ran_tests = sum(map(int, re.findall(r"(\d+) passed; \d+ failed", ran.output)))
    failed = "test result: FAILED" in ran.output or ran.code is None
    if ran.code == 0 and ran_tests == 0 or ran.code != 0 and not failed:
        sys.exit(f"{' '.join(command)} did not run:\n{ran.output[-3000:]}")
    return not failed


def found(fault: dict) -> bool:
    """Returns whether every command of the part passes in the whole tree, and fails with the fault."""
    kind, started = fault["kind"], time.monotonic()
    every = commands(kind, fault["part"])
    build(kind)
    for command, environment in every:
        if not passes(kind, command, environment):
            sys.exit(f"{kind}: fails in the whole tree: {' '.join(command)}")
    with broken([change(fault)]):
        build(kind)
        missed = [environment for command, environment in every if passes(kind, command, environment)]
    outcome = f"not found {missed}" if missed else "found"
    print(f"{kind} {fault['part']}: {outcome} in {time.monotonic() - started:.0f} s", flush=True)
    return not missed


def main() -> None:
    faults = table("planted_faults.tsv", COLUMNS)
    show_expected(faults)
    if sys.argv[1:] == ["--expected"]:
        return
    kinds = sys.argv[1:] or [fault["kind"] for fault in faults]
    unknown = set(kinds) - {fault["kind"] for fault in faults}
    if unknown:
        sys.exit(f"unknown: {' '.join(sorted(unknown))}")
    check_out(git("rev-parse", "HEAD"))
    missed = [fault["kind"] for fault in faults if fault["kind"] in kinds and not found(fault)]
    sys.exit(f"not found: {' '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
