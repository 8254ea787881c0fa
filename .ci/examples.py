"""Sends the recorded examples to a demo, so that the records whose numbers the description shows are there."""

import datetime
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "apps/server/examples"
# In the order in which later ones build on what earlier ones made.
FILES = re.findall(
    r'include_str!\("../../examples/([a-z-]+)\.json"\)',
    (FOLDER.parent / "src/service/openapi_examples.rs").read_text(),
)
# The test that records the examples has the values that were sent.
RECORDER = (FOLDER.parent / "tests/http/examples.rs").read_text()
TOLD_ON = datetime.date.fromisoformat(re.search(r'const MOMENT: &str = "([\d-]+)T', RECORDER)[1])
BOT_TOKEN = re.search(r'const BOT_TOKEN: &str = "([^"]+)"', RECORDER)[1]
PATIENCE = 20


def until(holds, seconds: float = PATIENCE) -> bool:
    """Waits for a condition. False if it does not hold in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Stage:
    """All callers, and the values of earlier responses."""

    def __init__(self, shop: dict, callers: dict[str, str]):
        self.shop = shop
        self.callers = callers
        login, password = shop["staff"]["login"], shop["staff"]["password"]
        self.kept = {"staff_login": login, "staff_password": password, "bot_token": BOT_TOKEN}
        today = datetime.datetime.now(datetime.timezone.utc).date()
        self.away = today - TOLD_ON
        self.kept |= {"week_ago": str(today - datetime.timedelta(7)), "tomorrow": str(today + datetime.timedelta(1))}

    def filled(self, value):
        """The body with the real values; days lie as far from today as they lay from the day of the files."""
        if isinstance(value, dict):
            return {name: self.filled(field) for name, field in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        if not isinstance(value, str):
            return value
        if name := re.fullmatch(r"<([a-z_]+)>", value):
            return self.kept.get(name[1], value)
        if day := re.fullmatch(r"(\d{4}-\d\d-\d\d)(T.*)?", value):
            return f"{datetime.date.fromisoformat(day[1]) + self.away}{day[2] or ''}"
        return value

    def send(self, example: dict):
        method = example["operation"].split(" ")[0]
        path = re.sub(r"<([a-z_]+)>", lambda name: str(self.kept.get(name[1], name[0])), example["path"])
        caller = example["caller"]
        base = self.shop["sandbox_url" if caller == "outside" else "base_url"]
        headers = {"Accept": "application/json"}
        if caller not in ("nobody", "outside", "staff", "backend"):
            headers["Token"] = self.shop["app_token"]
        if caller in self.kept:
            headers["Authorization"] = f"Bearer {self.kept[caller]}"
        elif caller in self.callers:
            headers["Authorization"] = self.callers[caller]
        data = None
        if "form" in example:
            data = urllib.parse.urlencode(self.filled(example["form"])).encode()
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        elif "upload" in example:
            data, headers["Content-Type"] = multipart(example["upload"])
        elif "request" in example:
            data, headers["Content-Type"] = json.dumps(self.filled(example["request"])).encode(), "application/json"
        request = urllib.request.Request(base + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, read(answer.read())
        except urllib.error.HTTPError as refusal:
            return refusal.code, read(refusal.read())

    def pay(self):
        """The customer pays the last payment, and the service has heard of it."""
        outside = {"caller": "outside", "path": "/control/payments", "operation": "GET /control/payments"}
        newest = self.send(outside)[1]["payments"][0]["id"]
        path = f"/control/payments/{newest}"
        self.send({**outside, "path": path, "operation": f"POST {path}", "request": {"outcome": "succeed"}})
        listed = {"caller": "customer", "path": "/api/counterparty/subscriptions", "operation": "GET x"}
        until(lambda: self.send(listed)[1]["data"][0]["status"] == "active")

    def play(self, example: dict) -> bool:
        """Whether it was answered with the status that the example shows."""
        if example["caller"] == "payer":
            self.pay()
            return True
        status, body = self.send(example)

        def is_there() -> bool:
            return all(at(body, place) == value for place, value in example.get("until", {}).items())

        def look() -> bool:
            nonlocal status, body
            status, body = self.send(example)
            return is_there()

        if not is_there():
            until(look)
        for name, place in example.get("keep", {}).items():
            self.kept[name] = at(body, place)
        return status == example["status"]


def read(body: bytes):
    try:
        return json.loads(body)
    except ValueError:
        return None


def at(body, place: str):
    """Value at this JSON pointer."""
    for step in place.split("/")[1:]:
        if isinstance(body, list):
            body = body[int(step)] if int(step) < len(body) else None
        else:
            body = (body or {}).get(step)
    return body


def multipart(upload: dict) -> tuple[bytes, str]:
    mark = "the-part-ends-here"
    parts = [f'name="{name}"\r\n\r\n{text}' for name, text in upload.get("fields", {}).items()]
    parts.append(f'name="file"; filename="{upload["file"]}"\r\n\r\n{upload["content"]}')
    lines = "".join(f"--{mark}\r\nContent-Disposition: form-data; {part}\r\n" for part in parts)
    return f"{lines}--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def play(shop: dict, callers: dict[str, str]) -> tuple[int, int]:
    """How many examples were answered as they show, and how many were sent. What deletes, or ends a session, is left out.

    `callers` has the header `Authorization` of `customer`, `staff` and `backend`."""
    stage = Stage(shop, callers)
    answered = sent = 0
    for name in FILES:
        for example in json.loads((FOLDER / f"{name}.json").read_text()):
            operation = example["operation"]
            if operation.startswith("DELETE") or re.search(r"/(logout|leave)$", operation):
                continue
            sent += 1
            reported = stage.play(example)
            answered += reported
            if not reported:
                print(f"  not as the example shows: {operation}")
    return answered, sent
