"""A demo for the scripts that work through `POST /mcp`: its owner, its records, its agents and their clients."""

import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from examples import until
from fuzz import free_port, sign_in, wait_for


def check(holds: object, text: str) -> None:
    if not holds:
        sys.exit(f"{text}: not so")


class Refused(Exception):
    """Answer of the API with an error."""


class Caller:
    """Sends requests with the headers of one caller."""

    def __init__(self, base: str, headers: dict[str, str] | None = None):
        self.base, self.headers = base, headers or {}

    def call(self, method: str, path: str, body: object = None):
        data = None if body is None else json.dumps(body).encode()
        return self.send(method, path, data, "application/json")

    def send(self, method: str, path: str, data: bytes | None, content_type: str):
        headers = {"Content-Type": content_type, **self.headers}
        request = urllib.request.Request(f"{self.base}{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as refusal:
            raise Refused(f"{method} {path}: {refusal.code} {refusal.read().decode(errors='replace')}") from refusal

    def all(self, path: str, key: str) -> list[dict]:
        """Every record of a list."""
        records, page = [], 1
        while True:
            rows = self.call("GET", f"{path}{'&' if '?' in path else '?'}per_page=100&page={page}")[key]
            records += rows
            if len(rows) < 100:
                return records
            page += 1


class Shop:
    """A running demo."""

    def __init__(self, file: dict):
        customer, staff = sign_in(file)
        self.api, self.application, self.password = file["base_url"], file["application_id"], file["staff"]["password"]
        self.owner = Caller(self.api, {"Authorization": f"Bearer {staff}"})
        self.customer = Caller(self.api, {"Authorization": f"Bearer {customer}", "Token": file["app_token"]})
        self.sandbox = Caller(file["sandbox_url"])

    def text(self, path: str) -> str:
        """A document of the service, read without a token."""
        with urllib.request.urlopen(f"{self.api}{path}", timeout=20) as answer:
            return answer.read().decode()

    def permissions(self) -> list[str]:
        """The permissions that all tools together need."""
        return self.owner.call("GET", "/.well-known/oauth-protected-resource/mcp")["scopes_supported"]

    def new_agent(self, name: str, permissions: list[str]) -> tuple[int, str]:
        """A new agent: its id and a bearer."""
        agent = self.owner.call("POST", "/api/agents", {"name": name, "permissions": permissions})["agent"]["id"]
        token = self.owner.call("POST", f"/api/agents/{agent}/tokens", {"name": "Token"})["access_token"]["value"]
        return agent, token

    def make(self, path: str, root: str, body: dict) -> int:
        """Creates a record. Its id."""
        return self.owner.call("POST", path, body)[root]["id"]

    def new_order(self, paid: bool, **fields) -> int:
        """Places an order for two units of one item. Its id."""
        person = {"is_company": False, "first_name": "Anna", "last_name": "Petersen"}
        customer = self.make("/api/counterparties", "counterparty", person)
        stock = self.owner.call("GET", "/api/inventories?per_page=1&quantity_gt=5&order_by=quantity_desc")
        item = stock["inventories"][0]["nomenclature"]["id"]
        body = {"counterparty_id": customer, "delivery_type_id": 1, "shop_id": 1, "products": [{"id": item, "quantity": 2}]}
        order = self.make("/api/orders", "order", {**body, **fields})
        if paid:
            self.owner.call("POST", f"/api/orders/{order}/record-payment", {"method": "cash"})
        return order

    def order(self, order: int) -> dict:
        return self.owner.call("GET", f"/api/orders/{order}")["order"]

    def subscriptions(self, status: str) -> list[int]:
        listed = self.owner.call("GET", f"/api/subscriptions?status={status}")["subscriptions"]
        return [one["id"] for one in listed]

    def subscribe(self) -> str:
        """The customer subscribes and pays. The id of the payment, which is also that of the saved card."""
        plan = self.customer.call("GET", "/api/counterparty/subscription-plans")["data"][0]["nomenclature_id"]
        order = {"nomenclature_id": plan, "autopay_consent": True}
        self.customer.call("POST", "/api/counterparty/subscriptions/checkout", order)
        payment = self.sandbox.call("GET", "/control/payments")["payments"][0]["id"]
        self.sandbox.call("POST", f"/control/payments/{payment}", {"outcome": "succeed"})
        check(until(lambda: self.subscriptions("active")), "the subscription is active")
        return payment

    def decline(self, card: str) -> None:
        """The bank declines the next charges of the card, and time passes until one is due."""
        step = {"outcome": "decline", "reason": "insufficient_funds", "times": None}
        self.sandbox.call("POST", f"/control/payment_methods/{card}/script", {"steps": [step]})
        for days in (31, 1, 1, 1):
            self.sandbox.call("POST", "/control/clock", {"advance_seconds": days * 86_400})
            if self.subscriptions("past_due"):
                return
        sys.exit("no subscription is past due")


@contextmanager
def demo(kontor: Path) -> Iterator[Shop]:
    """Runs a demo on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        binds = ["--bind", f"127.0.0.1:{free_port()}", "--sandbox-bind", f"127.0.0.1:{free_port()}"]
        command = [kontor, "demo", "--data", folder, *binds]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield Shop(wait_for(Path(folder) / "demo.json", process))
        finally:
            process.terminate()
            process.wait(60)


@asynccontextmanager
async def connected(api: str, bearer: str, mode: str = "auto") -> AsyncIterator[Client]:
    """The official client with the token of an agent. It holds every result against the schema of its tool."""
    headers = {"Authorization": f"Bearer {bearer}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with Client(streamable_http_client(f"{api}/mcp", http_client=http), mode=mode) as client:
            yield client
