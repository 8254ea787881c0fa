"""Shared by the browser tests: a demo, and a signed-in page that notes every problem."""

import json
import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SHOTS = Path(os.environ.get("CONSOLE_SHOTS", ROOT / "target/console/shots"))
AXE = Path(os.environ.get("CONSOLE_AXE", ROOT / "target/console/node_modules/axe-core/axe.min.js"))
CHROMIUM = os.environ.get("CONSOLE_CHROMIUM", "/usr/bin/chromium")
# Notes violations of the policy before any script of the page runs.
WATCH = """window.__violations = [];
document.addEventListener('securitypolicyviolation', (e) => window.__violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def call(port, method, path, token=None, body=None, **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method, data=None if body is None else json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    for name, value in headers.items():
        request.add_header(name.replace("_", "-"), value)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


LOGINS = []


def wait(holds, seconds, step=0.02):
    """Waits for a condition. False if it does not hold in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


def await_login():
    """Keeps within the limit of logins, five a minute. The demo itself uses some."""
    wait(lambda: len([one for one in LOGINS if one > time.monotonic() - 61]) < 3, 70, 0.5)
    LOGINS.append(time.monotonic())


def token_of(kontor, staff):
    await_login()
    return call(kontor, "POST", "/api/login", body={"login": staff[0], "password": staff[1]})["user"]["access_token"]["value"]


@contextmanager
def demo(binary):
    """Runs a demo; yields its port and the employee's login."""
    kontor, sandbox = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([binary, "demo", "--bind", f"127.0.0.1:{kontor}", "--sandbox-bind", f"127.0.0.1:{sandbox}",
                                    "--data", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield kontor, login(Path(folder) / "demo.json", kontor)
        finally:
            process.terminate()
            process.wait(timeout=20)


def login(file, port):
    def answers():
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                return file.exists()
        except OSError:
            return False

    if not wait(answers, 60, 0.1):
        raise SystemExit("the demo did not start within a minute")
    return staff_of(json.loads(file.read_text()))


def staff_of(known):
    staff = known["staff"]
    return staff["login"], staff["password"]


class Watched:
    """A page that notes errors of the console, violations of the policy and requests to the API."""

    def __init__(self, browser, port, **context):
        self.port = port
        self.context = browser.new_context(**{"viewport": {"width": 1360, "height": 860}, "locale": "en-GB", **context})
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=f"http://127.0.0.1:{port}")
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.add_init_script(WATCH)
        self.errors, self.requests = [], set()
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(f"{error}\n{error.stack}"))
        self.page.on("request", self.note)

    def note(self, request):
        path = re.sub(r"^https?://[^/]+", "", request.url).split("?")[0]
        if path.startswith("/api/"):
            self.requests.add((request.method, path))

    def open(self, path="/"):
        self.page.goto(f"http://127.0.0.1:{self.port}/console{path}")

    def sign_in(self, staff, path="/"):
        self.open(path)
        await_login()
        self.page.fill("input[name=login]", staff[0])
        self.page.fill("input[name=password]", staff[1])
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector("main h1")

    def go(self, path):
        """Opens a screen within the page: a reload would end the session."""
        self.page.evaluate("""(to) => {
            const link = document.createElement('a');
            link.href = `/console${to}`;
            document.body.append(link);
            link.click();
            link.remove();
        }""", path)
        self.settle()

    def settle(self):
        self.page.wait_for_load_state("networkidle")
        self.until("!document.querySelector('main .skeleton, main [aria-busy=true]')")

    def until(self, expression, seconds=10):
        """Waits for an expression. The policy forbids the eval of Playwright's own wait."""
        if not wait(lambda: self.page.evaluate(expression), seconds):
            raise AssertionError(f"not within {seconds} s: {expression}")

    def problems(self):
        violations = self.page.evaluate("window.__violations")
        found = [f"policy: {one}" for one in violations] + [f"console: {one}" for one in self.errors]
        self.page.evaluate("window.__violations.length = 0")
        self.errors.clear()
        return found

    def axe(self):
        """Findings of axe of impact serious or critical. Its source is given to the page by the debugger, past the policy."""
        self.page.evaluate(AXE.read_text() + ";0")
        result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [f"axe {one['id']}: {node['html'][:160]} {node['failureSummary'][:200]}" for one in result["violations"]
                if one["impact"] in ("serious", "critical") for node in one["nodes"][:3]]

    def shot(self, name):
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=str(SHOTS / f"{name}.png"))


@contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()
