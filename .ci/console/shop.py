"""A demo shop for the browser tests: its processes, its API and its employees."""

import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.request
import uuid
from contextlib import contextmanager, nullcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Runs a PostgreSQL server until the end of the input.
SERVER = """set -e
folder=$(mktemp -d)
"$1/initdb" -D "$folder/data" -U postgres -A trust -N -E UTF8 --locale=C.UTF-8 >"$folder/log" 2>&1
"$1/postgres" -D "$folder/data" -h 127.0.0.1 -p "$2" -k "$folder" -F -c full_page_writes=off >>"$folder/log" 2>&1 &
server=$!
for _ in $(seq 100); do "$1/pg_isready" -q -h 127.0.0.1 -p "$2" && break; sleep 0.1; done
echo ready
cat >/dev/null
kill -INT $server
wait $server || true
rm -rf "$folder"
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait(holds, seconds, step=0.02):
    """Waits for a condition. False if it does not hold in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


class Shop:
    """A running demo. `token` is that of the owner's session, as soon as a page has signed in."""

    def __init__(self, binary, port, database, file):
        known = started(file, port)
        self.binary, self.port, self.database, self.file = binary, port, database, file
        self.project, self.owner, self.token = known["project_id"], (known["staff"]["login"], known["staff"]["password"]), None
        self.agent = None

    def send(self, method, path, data, token, content_type="application/json"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method, data=data)
        request.add_header("Content-Type", content_type)
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def call(self, method, path, body=None):
        """Calls the API as the owner."""
        return self.send(method, path, None if body is None else json.dumps(body).encode(), self.token)

    def anonymous(self, method, path, body):
        """Calls the API without a session, as an agent that asks for access does."""
        return self.send(method, path, json.dumps(body).encode(), None)

    def agent_call(self, method, path, body):
        """Sends a call of an agent that waits for approval; returns the proposal. The agent and its policy are made at the first call."""
        if self.agent is None:
            made = self.call("POST", "/api/agents", {"name": "Brand assistant", "permissions": ["view-brands", "create-brands", "edit-brands"]})["agent"]["id"]
            self.agent = self.call("POST", f"/api/agents/{made}/tokens", {"name": "Tests", "expires_in_days": 365})["access_token"]["value"]
            policy = self.call("GET", "/api/agent-policy")["agentPolicy"]
            policy["rules"]["write"] = "needs_approval"
            self.call("PUT", "/api/agent-policy", policy)
        return self.send(method, path, json.dumps(body).encode(), self.agent)["agentAction"]

    def upload(self, path, name, content, **fields):
        """Uploads a file under a name."""
        mark = uuid.uuid4().hex
        quoted = name.replace('"', "%22")
        parts = [f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields.items()]
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\nContent-Type: image/png\r\n\r\n'.encode()
        return self.send("POST", path, b"".join([*parts, head, content, f"\r\n--{mark}--\r\n".encode()]), self.token, f"multipart/form-data; boundary={mark}")

    def employee(self, login, role):
        """Adds an employee by the command line; returns login and password."""
        made = subprocess.run([self.binary, "user", "create", "--json", "--database", self.database, "--project", str(self.project), "--login", login,
                               "--email", f"{login}@shop.example", "--role", str(role)], check=True, capture_output=True, text=True, timeout=60)
        return login, json.loads(made.stdout)["password"]


@contextmanager
def postgres():
    """Runs a PostgreSQL server; yields the address of an empty database. Root runs it with the account of the package."""
    places = [Path(one) for one in os.environ["PATH"].split(":")] + sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    binaries = next((one for one in places if all((one / name).exists() for name in ("initdb", "postgres", "pg_isready"))), None)
    if binaries is None:
        raise SystemExit("no PostgreSQL server was found: install the package postgresql")
    account = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    port = free_port()
    shell = subprocess.Popen([*account, "sh", "-c", SERVER, "sh", str(binaries), str(port)], cwd="/",
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        if shell.stdout.readline().strip() != b"ready":
            raise SystemExit("the PostgreSQL server did not start")
        yield f"postgres://postgres@127.0.0.1:{port}/postgres"
    finally:
        shell.stdin.close()
        shell.wait(timeout=30)


@contextmanager
def demo(binary, database=None):
    """Runs a demo on SQLite, on a database of this address, or with `postgres` on a server of its own."""
    kontor, sandbox = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder, postgres() if database == "postgres" else nullcontext(database) as url:
        process = subprocess.Popen([binary, "demo", "--bind", f"127.0.0.1:{kontor}", "--sandbox-bind", f"127.0.0.1:{sandbox}", "--data", folder,
                                    *(["--database", url] if url else [])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield Shop(binary, kontor, url or f"sqlite:{folder}/kontor.db", Path(folder) / "demo.json")
        finally:
            process.terminate()
            process.wait(timeout=20)


def started(file, port):
    """Waits until the demo answers; returns what it says of itself."""
    def answers():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                return file.exists()
        except OSError:
            return False

    if not wait(answers, 60, 0.1):
        raise SystemExit("the demo did not start within a minute")
    return json.loads(file.read_text())
