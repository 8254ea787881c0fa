"""Asks a demo whatever its own description allows and forbids, and holds every answer against that description.

usage: fuzz.py KONTOR [CLIENT [EXAMPLES [SEED [PART]]]]    KONTOR is the binary, CLIENT a program that is given the file of the
demo, or empty; PART is such as 1/3 for the second third of the resources, or "none"; schemathesis must be on the path.
"""

import base64
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from examples import BOT_TOKEN, play, until

CLIENT = r"^/api/counterparty(/|$)"
CALLBACKS = r"^/callbacks/"
BACKEND = r"^/api/counterparty/auth/introspect$"
# A caller that logs out or is deleted has no access for the rest of the run.
ENDS_THE_CALLER = r"logout$"
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(url: str, headers: dict[str, str] | None = None, body: object = None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def wait_for(file: Path, demo: subprocess.Popen) -> dict:
    if not until(lambda: file.exists() or demo.poll() is not None, 60):
        sys.exit("the demo does not start")
    if demo.poll() is not None:
        sys.exit(f"the demo ended with {demo.returncode}")
    return json.loads(file.read_text())


def sign_in_customer(shop: dict, phone: str) -> str:
    """The token of a customer."""
    api, app = shop["base_url"], {"Token": shop["app_token"]}
    ask(f"{api}/api/counterparty/send_password", app, {"phone": phone})
    code = ask(f"{shop['sandbox_url']}/control/messages?to={phone}")["messages"][0]["code"]
    customer = ask(f"{api}/api/counterparty/login", app, {"phone": phone, "password": code})
    return customer["counterparty"]["access_token"]["value"]


def sign_in(shop: dict) -> tuple[str, str]:
    """The tokens of a customer and of an employee."""
    staff = ask(f"{shop['base_url']}/api/login", None, {key: shop["staff"][key] for key in ("login", "password")})
    return sign_in_customer(shop, shop["customer"]["phone"]), staff["user"]["access_token"]["value"]


def operate(kontor: Path, arguments: list[str], database: str, answer: str = "") -> str:
    """What an operator's command prints."""
    command = [kontor, *arguments, "--database", database]
    return subprocess.run(command, input=answer, capture_output=True, text=True, check=True, timeout=60).stdout


def introduce(kontor: Path, shop: dict, folder: str) -> str:
    """The header `Authorization` of a backend. The mini-app gets its bot, too."""
    database = f"sqlite:{next(Path(folder).glob('*.db'))}"
    application = ["--application", str(shop["application_id"])]
    operate(kontor, ["miniapp", "set", *application, "--provider", "max"], database, BOT_TOKEN)
    issued = operate(kontor, ["introspection", "issue", *application, "--audience", "club", "--json"], database)
    backend = json.loads(issued)
    pair = f"{backend['client_id']}:{backend['client_secret']}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"


def paths_of(api: str, part: str) -> list[str]:
    """Paths of a part of the resources. What belongs to one resource stays together: its operations lead to each other."""
    number, parts = map(int, part.split("/"))
    every = list(ask(f"{api}/openapi.json")["paths"])
    resource = {path: re.match(r"(/api/counterparty|/api|)(/[^/]+)?", path)[0] for path in every}
    resources = sorted(set(resource.values()))
    return [path for path in every if resources.index(resource[path]) % parts == number]


def fuzz(
    name: str, api: str, folder: str, examples: str, seed: str, selection: list[str], headers: dict[str, str]
) -> bool:
    command = ["schemathesis", "run", f"{api}/openapi.json", "--url", api, "--no-shrink"]
    command += ["--phases", "examples,coverage,fuzzing,stateful"]
    command += ["--seed", seed, "--max-examples", examples, "--checks", ",".join(CHECKS), "--continue-on-failure"]
    command += ["--request-timeout", "30", *selection]
    for key, value in headers.items():
        command += ["--header", f"{key}: {value}"]
    started = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    print(f"{name}: {'passed' if run.returncode == 0 else 'FAILED'} in {time.monotonic() - started:.0f} s")
    cases = re.search(r"(\d+) generated", run.stdout)
    if run.returncode != 0:
        print(run.stdout, run.stderr, sep="\n")
    elif not cases or int(cases[1]) == 0:
        print(run.stdout)
        print(f"{name}: nothing was asked")
        return False
    else:
        print(f"  {cases[0]} cases")
        print(*re.findall(r"^(?:Missing test data|Authentication failed):.*$", run.stdout, re.M), sep="\n")
    return run.returncode == 0


def main() -> None:
    kontor = Path(sys.argv[1]).resolve()
    client, examples, seed, part = [*sys.argv[2:6], *["", "2", "1", "0/1"][len(sys.argv) - 2 :]]
    if shutil.which("schemathesis") is None:
        sys.exit("schemathesis is not installed")
    with tempfile.TemporaryDirectory() as folder:
        binds = ["--bind", f"127.0.0.1:{free_port()}", "--sandbox-bind", f"127.0.0.1:{free_port()}"]
        log = Path(folder) / "demo.log"
        with log.open("wb") as answer:
            demo = subprocess.Popen([kontor, "demo", "--data", folder, *binds], stdout=subprocess.DEVNULL, stderr=answer)
        passed = [False]
        try:
            shop = wait_for(Path(folder) / "demo.json", demo)
            customer, staff = sign_in(shop)
            backend = introduce(kontor, shop, folder)
            callers = {"customer": f"Bearer {customer}", "staff": f"Bearer {staff}", "backend": backend}
            answered, sent = play(shop, callers)
            print(f"{answered} of {sent} examples are answered as they show")
            if client:
                subprocess.run([Path(client).resolve(), Path(folder) / "demo.json"], check=True, timeout=60)
            app, authorized = {"Token": shop["app_token"]}, lambda caller: {"Authorization": callers[caller]}
            leave = ["--exclude-operation-id", "counterparty_delete_account"]
            paths = [] if part == "none" else paths_of(shop["base_url"], part)
            of_part = ["--include-path-regex", f"^({'|'.join(map(re.escape, paths))})$"]
            of_clients = [path for path in paths if re.search(CLIENT, path)]
            runs = [
                ("client surface",
                 ["--include-path-regex", f"^({'|'.join(map(re.escape, of_clients))})$",
                  "--exclude-path-regex", f"{ENDS_THE_CALLER}|{BACKEND}", *leave],
                 app | authorized("customer")),
                ("backends", ["--include-path-regex", BACKEND], authorized("backend")),
                ("platform surface", [*of_part, "--exclude-path-regex", f"{CLIENT}|{CALLBACKS}|{ENDS_THE_CALLER}"],
                 authorized("staff")),
                ("callbacks", ["--include-path-regex", CALLBACKS], {}),
            ]
            if part == "none":
                runs = []
            passed = [answered == sent]
            passed += [
                fuzz(name, shop["base_url"], folder, examples, seed, selection, headers)
                for name, selection, headers in runs
            ]
            if demo.poll() is not None:
                sys.exit(f"the demo ended with {demo.returncode}")
        finally:
            demo.terminate()
            demo.wait(60)
            if not all(passed):
                print("the log of the demo ends with:", *log.read_text().splitlines()[-40:], sep="\n")
    if not all(passed):
        sys.exit(1)


if __name__ == "__main__":
    main()
