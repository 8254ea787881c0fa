"""Breaks rules of docs/rules.tsv by mutations in the handlers or the domain; the test named for a rule must fail.

usage: break_rules.py [RULES [SEED]]    RULES is their number, 40 unless given; SEED chooses them, the commit unless given.

cargo-mutants lists the mutations. For each rule the functions whose words are nearest to those of the rule and of its test
are broken one after the other, until the test fails. A mutation that fails a test of another area, too, is too broad and
does not count. Everything runs on SQLite, in a checkout below target/break-rules with a target folder of its own; the
report is target/break-rules/report.tsv. It takes some minutes for each rule.
"""

import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target/break-rules"
CHECKOUT = WORK / "checkout"
# Adapters and tools decide no rule.
EXCLUDED = r"^(apps/(bench|examples)|crates/(adapter-[a-z]+|console|faulty-disk|sandbox|simulator))/|/testing|/tests?[/.]"
FUNCTIONS, PER_FUNCTION, TRIES = 10, 2, 8
PATIENCE = 600
ENVIRONMENT = {
    **os.environ,
    "CARGO_TARGET_DIR": str(WORK / "target"),
    "CARGO_TERM_COLOR": "never",
    "CARGO_INCREMENTAL": "1",
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "TEST_DATABASES": "sqlite",
    "REQUIRE_POSTGRES": "0",
}


def run(*command, cwd=CHECKOUT, timeout=None) -> tuple[int, str]:
    """Exit code and output of a command; -1 if it did not end in time, and was killed with all that it started."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(command, cwd=cwd, env=ENVIRONMENT, stdout=out, stderr=err, start_new_session=True)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = -1
        told = [(file.seek(0), file.read())[1] for file in [out, err]]
    return code, "".join(told)


def order(seed: str, *what) -> str:
    return hashlib.sha256(" ".join([seed, *map(str, what)]).encode()).hexdigest()


def rules() -> list[dict]:
    lines = (ROOT / "docs/rules.tsv").read_text().splitlines()
    names = ["rule", "area", "says", "stands", "tests", "remark"]
    every = [dict(zip(names, line.split("\t"))) for line in lines[1:]]
    return [{**rule, "tests": rule["tests"].split("; ")} for rule in every if rule["stands"] == "held"]


def command(test: str) -> list[str]:
    """Arguments of `cargo test` for a test of the list."""
    first, *_, name = test.split("::")
    integration = ["--workspace", "--test", first]
    choice = integration if not first.startswith("kontor") else ["-p", first.replace("_", "-"), "--lib"]
    return ["cargo", "test", "--quiet", "--locked", *choice, "--", name]


def passes(test: str) -> bool:
    """True if it passed, and something ran. Also false if it never ends."""
    code, output = run(*command(test), timeout=PATIENCE)
    if code == 0 and not re.search(r"result: ok\. [1-9]\d* passed", output):
        raise SystemExit(f"{test} ran no test:\n{output[-2000:]}")
    return code == 0


def compiles(test: str) -> bool:
    return run(*command(test)[:-2], "--no-run")[0] == 0


def words(text: str) -> Counter:
    """Words by number, endings cut off; names of several words are taken apart."""
    apart = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text).lower())
    return Counter(word[:6].rstrip("s") for word in apart if len(word) > 2)


def source(test: str) -> str:
    """Body of the test."""
    name = test.split("::")[-1]
    for file in [*ROOT.glob("apps/server/tests/**/*.rs"), *ROOT.glob("crates/*/tests/**/*.rs"), *ROOT.glob("crates/*/src/**/*.rs")]:
        text = file.read_text()
        place = text.find(f"fn {name}(")
        if place >= 0:
            lines = text[place:].splitlines()
            indent = re.search(r"[ ]*$", text[:place].rsplit("\n", 1)[-1].split("async")[0].split("fn")[0])[0]
            end = next((at for at, line in enumerate(lines) if line == f"{indent}}}"), 80)
            return "\n".join(lines[: end + 1])
    return ""


class Function:
    """A function with its mutations."""

    def __init__(self, file: str, name: str):
        self.file, self.name, self.mutants, self.words = file, name, [], Counter()

    def fill(self):
        span = self.mutants[0]["function"]["span"]
        lines = (CHECKOUT / self.file).read_text().splitlines()
        start, end = span["start"]["line"] - 1, span["end"]["line"]
        above = start
        while above > 0 and lines[above - 1].strip().startswith(("///", "#[")):
            above -= 1
        body, place, name = words("\n".join(lines[above:end])), words(self.file), words(self.name)
        self.words = Counter({word: min(body[word], 2) + 2 * place[word] + 3 * name[word] for word in body | place | name})


def functions() -> list[Function]:
    code, listed = run("cargo", "mutants", "--no-config", "--list", "--json", "--workspace", "--colors", "never")
    start = listed.find("[")
    if code != 0 or start < 0:
        raise SystemExit(f"cargo mutants --list: {listed[-2000:]}")
    found: dict[tuple[str, str], Function] = {}
    for mutant in json.JSONDecoder().raw_decode(listed[start:])[0]:
        if mutant["function"] is None or re.search(EXCLUDED, mutant["file"]):
            continue
        at = (mutant["file"], mutant["function"]["function_name"])
        found.setdefault(at, Function(*at)).mutants.append(mutant)
    for function in found.values():
        function.fill()
    return list(found.values())


def nearest(rule: dict, known: list[Function], rare: dict[str, float]) -> list[Function]:
    wanted = Counter()
    for text, weight in [(rule["says"], 3), (rule["area"], 2), *((test, 2) for test in rule["tests"])]:
        for word in words(text):
            wanted[word] += weight
    for test in rule["tests"]:
        for word, times in words(source(test)).items():
            wanted[word] += min(times, 2)

    def score(function: Function) -> float:
        shared = sum(wanted[word] * times * rare.get(word, 0) ** 2 for word, times in function.words.items())
        return shared / math.sqrt(20 + function.words.total())

    return sorted(known, key=score, reverse=True)[:FUNCTIONS]


def broken(mutant: dict) -> str:
    """The file with the mutation."""
    lines = (CHECKOUT / mutant["file"]).read_text().split("\n")
    start, end = mutant["span"]["start"], mutant["span"]["end"]
    head = "\n".join([*lines[: start["line"] - 1], lines[start["line"] - 1][: start["column"] - 1]])
    tail = "\n".join([lines[end["line"] - 1][end["column"] - 1 :], *lines[end["line"] :]])
    return f"{head}{mutant['replacement']} {tail}"


def try_rule(rule: dict, control: str, candidates: list[dict]) -> tuple[str, str]:
    """What became of a rule, and the mutation that shows it."""
    tried, broad, last = 0, 0, ""
    for mutant in candidates:
        if tried >= TRIES:
            break
        file = CHECKOUT / mutant["file"]
        before = file.read_text()
        file.write_text(broken(mutant))
        try:
            if not all(compiles(test) for test in [rule["tests"][0], control]):
                continue
            tried += 1
            if all(passes(test) for test in rule["tests"]):
                last = mutant["name"]
                continue
            if passes(control):
                return "noticed", mutant["name"]
            broad += 1
        finally:
            file.write_text(before)
    return f"not noticed ({tried} mutations, {broad} too broad)", last


def main() -> None:
    if subprocess.run(["cargo", "mutants", "--version"], capture_output=True).returncode != 0:
        raise SystemExit("needs cargo-mutants: cargo install cargo-mutants --locked")
    commit = run("git", "rev-parse", "HEAD", cwd=ROOT)[1].strip()
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    seed = sys.argv[2] if len(sys.argv) > 2 else commit
    WORK.mkdir(parents=True, exist_ok=True)
    run("git", "worktree", "remove", "--force", str(CHECKOUT), cwd=ROOT)
    code, told = run("git", "worktree", "add", "--force", "--detach", str(CHECKOUT), commit, cwd=ROOT)
    if code != 0:
        raise SystemExit(told)
    every = sorted(rules(), key=lambda rule: order(seed, rule["rule"]))
    chosen = every[:number]
    known = functions()
    seen = Counter(word for function in known for word in function.words)
    rare = {word: math.log(len(known) / times) for word, times in seen.items()}
    print(f"just break-rules {number} {seed}: {len(known)} functions of commit {commit}", flush=True)
    report, unnoticed = WORK / "report.tsv", []
    with report.open("w") as file:
        for rule in chosen:
            # A test of another area in the same binary: what fails it, too, breaks more than the rule.
            binary = rule["tests"][0].split("::")[0]
            others = [test for other in every if other["area"] != rule["area"] for test in other["tests"]]
            own = [test for test in others if test.split("::")[0] == binary and test not in rule["tests"]]
            control = (own or others)[0]
            tests = [*rule["tests"], control]
            broken_before = [test for test in tests if not compiles(test) or not passes(test)]
            if broken_before:
                raise SystemExit(f"{broken_before} fail without a mutation")
            candidates = []
            for function in nearest(rule, known, rare):
                apart = sorted(function.mutants, key=lambda mutant: (mutant["genre"] == "FnValue", order(seed, mutant["name"])))
                candidates += apart[:PER_FUNCTION]
            outcome, mutation = try_rule(rule, control, candidates)
            if outcome != "noticed":
                unnoticed.append(rule["rule"])
            line = "\t".join([rule["rule"], outcome, mutation, "; ".join(rule["tests"])])
            print(line, flush=True)
            file.write(f"{line}\n")
            file.flush()
    run("git", "worktree", "remove", "--force", str(CHECKOUT), cwd=ROOT)
    print(f"{len(chosen) - len(unnoticed)} of {len(chosen)} rules: the named test failed. To look at: {' '.join(unnoticed) or 'none'}")
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()
