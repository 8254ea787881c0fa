"""Kills the primary of a Patroni cluster while customers order with idempotency keys, and looks for loss.

usage: failover.py KONTOR [KILLS]    KONTOR is the binary. The first kill hits a process, the second a node; both by default.

- process: kill -9 of the first process of the primary. node: kill -9 of Patroni with every process of the primary.
- Every answered order is stored, on both servers; no key has two orders; repeated keys get the same order.
- While there is no primary, requests get 503 and nothing else. `kontor doctor` finds no difference at the end.
"""

import http.client
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import uuid
from collections import Counter
from pathlib import Path

from examples import until
from fuzz import ask, free_port, sign_in, sign_in_customer, wait_for
from patroni_cluster import Cluster, cluster

CUSTOMERS = 8
# Seconds between two orders of a customer.
PACE = 0.16
# The longest time without an answered order, in seconds.
LIMITS = {"process": 5.0, "node": 25.0}
PATTERN = ("process", "node", "node", "process")
# A request that takes longer is an outlier.
SLOW = 1.0


class Order:
    """An intended order: its key, its answers, and the number of the order."""

    def __init__(self, body: dict):
        self.key, self.body = str(uuid.uuid4()), json.dumps(body)
        self.begun, self.ended, self.id = time.monotonic(), 0.0, 0
        # An answer said that the commit may have been stored; two answers named different orders.
        self.unknown = self.doubled = False
        self.statuses: list[int | str] = []


class Customer(threading.Thread):
    """Places one order after another, and repeats each under its key until it is answered."""

    def __init__(self, api: str, headers: dict[str, str], item: int):
        super().__init__(daemon=True)
        self.place, self.headers = urllib.parse.urlsplit(api).netloc, {"Content-Type": "application/json", **headers}
        self.body = {"delivery_type_id": 1, "shop_id": 1, "products": [{"id": item, "quantity": 1}]}
        self.connection = http.client.HTTPConnection(self.place, timeout=40)
        self.orders: list[Order] = []
        # Begin, duration and status of every request.
        self.requests: list[tuple[float, float, int | str]] = []
        self.leaves = threading.Event()

    def send(self, method: str, path: str, body: str | None = None, key: str | None = None):
        """The status and the body of an answer, or the name of the failure."""
        headers = self.headers | ({"Idempotency-Key": key} if key else {})
        begun = time.monotonic()
        try:
            self.connection.request(method, path, body, headers)
            answer = self.connection.getresponse()
            status, text = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as failure:
            self.connection.close()
            status, text = type(failure).__name__, b""
        self.requests.append((begun, time.monotonic() - begun, status))
        return status, text

    def attempt(self, order: Order) -> int | str:
        status, text = self.send("POST", "/api/counterparty/orders", order.body, order.key)
        order.statuses.append(status)
        order.unknown |= status == 503 and b"may have been stored" in text
        if status == 201:
            number = json.loads(text)["order"]["id"]
            if not order.id:
                order.id, order.ended = number, time.monotonic()
            order.doubled |= order.id != number
        return status

    def run(self) -> None:
        while not self.leaves.is_set():
            order = Order(self.body)
            self.orders.append(order)
            while self.attempt(order) != 201 and time.monotonic() < order.begun + 120:
                time.sleep(0.1)
            self.send("GET", "/api/counterparty/orders?per_page=1")
            self.leaves.wait(max(0.0, order.begun + PACE - time.monotonic()))


class Load:
    """All customers."""

    def __init__(self, shop: dict):
        api, self.customers = shop["base_url"], []
        staff = {"Authorization": f"Bearer {sign_in(shop)[1]}"}
        stock = ask(f"{api}/api/inventories?per_page={CUSTOMERS}&order_by=quantity_desc", staff)["inventories"]
        for number, row in enumerate(stock):
            customer = Customer(api, staff, row["nomenclature"]["id"])
            customer.send("PUT", f"/api/inventories/{row['id']}", json.dumps({"quantity": 1_000_000}))
            if customer.requests.pop()[2] != 200:
                sys.exit("the stock cannot be set")
            bearer = sign_in_customer(shop, f"7900555010{number}")
            customer.headers |= {"Authorization": f"Bearer {bearer}", "Token": shop["app_token"]}
            self.customers.append(customer)

    def start(self) -> None:
        for customer in self.customers:
            customer.start()

    def end(self) -> None:
        for customer in self.customers:
            customer.leaves.set()
        for customer in self.customers:
            customer.join(180)

    def orders(self) -> list[Order]:
        return [order for customer in self.customers for order in list(customer.orders)]

    def all_ordered_since(self, moment: float) -> bool:
        """True if every customer has an order that was answered after this moment."""
        return all(any(order.ended > moment for order in one.orders[-3:]) for one in self.customers)

    def requests(self) -> list[tuple[float, float, int | str]]:
        return [request for customer in self.customers for request in list(customer.requests)]

    def pause(self, since: float, end: float) -> tuple[float, float]:
        """The longest time without an answered order, and the moment at which it ended."""
        ends = sorted(order.ended for order in self.orders() if since <= order.ended <= end)
        return max((later - earlier, later) for earlier, later in zip(ends, ends[1:]))


class Drill:
    """What was done so far, and what was wrong."""

    def __init__(self, pair: Cluster, load: Load):
        self.pair, self.load = pair, load
        # Moments of each kill: begin, and all customers order again.
        self.kills: list[tuple[float, float]] = []
        self.failures: list[str] = []

    def strike(self, kind: str) -> None:
        """Kills the primary once."""
        primary, standby = self.pair.settled(60)
        before = time.monotonic()
        if not until(lambda: self.load.all_ordered_since(before), 30):
            sys.exit(f"not every customer can order before the kill\n{self.pair.logs()}")
        time.sleep(random.uniform(1, 3))
        killed = time.monotonic()
        primary.kill_process() if kind == "process" else primary.kill_node()
        if not until(lambda: standby.is_primary() or time.sleep(0.1), 60):
            sys.exit(f"{kind} killed: the standby does not take over within a minute\n{self.pair.logs()}")
        promoted = time.monotonic()
        if not until(lambda: self.load.all_ordered_since(promoted), 60):
            sys.exit(f"{kind} killed: not every customer can order within a minute\n{self.pair.logs()}")
        self.kills.append((killed, time.monotonic()))
        if kind == "node":
            primary.start()
        leader, _ = self.pair.settled(90)
        whole = time.monotonic()
        outage, first = self.load.pause(killed - 1, self.kills[-1][1])
        print(
            f"{kind} killed: outage {outage:.1f} s (at most {LIMITS[kind]:.0f}); after the kill: new primary {promoted - killed:.1f} s, "
            f"first order {first - killed:.1f} s, all customers {self.kills[-1][1] - killed:.1f} s, new standby {whole - killed:.1f} s",
            flush=True,
        )
        if outage > LIMITS[kind]:
            self.failures.append(f"{kind} killed: outage of {outage:.1f} s")
        if leader is not standby:
            self.failures.append(f"{kind} killed: the killed server is the primary again")

    def repeat(self) -> None:
        """Repeats keys that had an unknown or failed answer, and those answered just before a kill."""
        unclear = recent = 0
        for customer in self.load.customers:
            for order in customer.orders:
                if len(order.statuses) > 1:
                    unclear += 1
                elif any(killed - 1 < order.ended <= killed for killed, _ in self.kills):
                    recent += 1
                else:
                    continue
                if customer.attempt(order) != 201:
                    self.failures.append(f"a repeated key is answered with {order.statuses[-1]}")
        unknown = sum(order.unknown for order in self.load.orders())
        print(
            f"repeated keys: {unclear} after a failed answer, {unknown} of them after an unknown commit, "
            f"{recent} answered in the second before a kill"
        )

    def compare(self, stored_before: set[str]) -> None:
        """Holds the answers against the stored orders of both servers."""
        primary, standby = self.pair.settled(60)
        query = "SELECT id FROM orders"
        stored = set(primary.sql(query)) - stored_before
        if not until(lambda: set(standby.sql(query)) - stored_before == stored, 10):
            self.failures.append("the standby has other orders than the primary")
        orders = self.load.orders()
        numbers = Counter(str(order.id) for order in orders if order.id)
        found = {
            "lost": len(set(numbers) - stored),
            "doubled": len(stored - set(numbers)),
            "repeated with another number": sum(order.doubled for order in orders),
            "under two keys": sum(count - 1 for count in numbers.values()),
            "never answered": sum(not order.id for order in orders),
        }
        print(f"orders: {len(numbers)} answered, {', '.join(f'{count} {what}' for what, count in found.items())}")
        self.failures += [f"{count} orders {what}" for what, count in found.items() if count]

    def answers(self) -> None:
        """Looks at the status and the duration of every request."""
        requests = self.load.requests()
        statuses = Counter(status for _, _, status in requests)
        print(f"answers: {', '.join(f'{count} of {status}' for status, count in statuses.most_common())}")
        self.failures += [f"{statuses[one]} answers of {one}" for one in statuses if one not in (200, 201, 503)]
        calm = [
            (took, status)
            for begun, took, status in requests
            if not any(begun + took > killed and begun < resumed for killed, resumed in self.kills)
        ]
        took = sorted(took for took, _ in calm)
        refused = sum(status == 503 for _, status in calm)
        outliers = sum(one > SLOW for one in took)
        longest = max(order.ended - order.begun for order in self.load.orders() if order.id)
        print(
            f"latency outside of outages: p50 {statistics.median(took) * 1000:.0f} ms, p99 {took[len(took) * 99 // 100] * 1000:.0f} ms, "
            f"longest {took[-1] * 1000:.0f} ms, {outliers} above {SLOW:.0f} s, {refused} of 503; "
            f"longest order with its repetitions {longest:.1f} s"
        )
        if refused:
            self.failures.append(f"{refused} answers of 503 while there was a primary")


def run(kontor: Path, kills: int, pair: Cluster, folder: Path) -> list[str]:
    """The whole drill. What was wrong."""
    started = time.monotonic()
    primary, _ = pair.settled(90)
    print(f"cluster: a primary with its synchronous standby after {time.monotonic() - started:.1f} s", flush=True)
    binds = ["--bind", f"127.0.0.1:{free_port()}", "--sandbox-bind", f"127.0.0.1:{free_port()}"]
    log = folder / "demo.log"
    with log.open("wb") as told:
        command = [kontor, "demo", "--data", folder, "--database", pair.url(), *binds]
        demo = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told)
    try:
        drill = Drill(pair, Load(wait_for(folder / "demo.json", demo)))
        stored_before = set(primary.sql("SELECT id FROM orders"))
        drill.load.start()
        for number in range(kills):
            drill.strike(PATTERN[number % len(PATTERN)])
        drill.load.end()
        drill.repeat()
        drill.compare(stored_before)
        drill.answers()
        if demo.poll() is not None:
            drill.failures.append(f"the service ended with {demo.returncode}")
    finally:
        demo.terminate()
        demo.wait(60)
    doctor = subprocess.run([kontor, "doctor", "--database", pair.url()], capture_output=True, text=True, timeout=120)
    print(f"doctor: {doctor.stdout.strip() or 'silent'}")
    if doctor.returncode != 0:
        drill.failures.append(f"doctor: {doctor.stderr.strip()}")
    if drill.failures:
        print("the log of the service ends with:", *log.read_text(errors="replace").splitlines()[-30:], sep="\n")
    return drill.failures


def main() -> None:
    kontor, kills = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 2
    # Whatever ends this script, it ends its processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, cluster() as pair:
        failures = run(kontor, kills, pair, Path(folder))
    print(f"{kills} kills in {time.monotonic() - started:.0f} s")
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
