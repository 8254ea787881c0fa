"""Shared by the browser tests: a page that notes every problem."""

import os
import re
import time
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from shop import ROOT, wait

SHOTS = Path(os.environ.get("CONSOLE_SHOTS", ROOT / "target/console/shots"))
AXE = Path(os.environ.get("CONSOLE_AXE", ROOT / "target/console/node_modules/axe-core/axe.min.js"))
CHROMIUM = os.environ.get("CONSOLE_CHROMIUM", "/usr/bin/chromium")
# Notes violations of the policy, and scripts of stored texts that run, before any script of the page runs.
WATCH = """window.__violations = [];
window.__ran = [];
for (const name of ['alert', 'confirm', 'prompt']) window[name] = (text) => void window.__ran.push(`${name} ${text}`);
document.addEventListener('securitypolicyviolation', (e) => window.__violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));"""
# Two frames, after which the effects of what was drawn have begun to load.
READY = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() =>
    done(!document.querySelector('#main .skeleton, #main [aria-busy=true]'))))))"""
LOGINS = []


def await_login(login):
    """Keeps within the limit of five logins a minute of an employee. The demo itself uses some of the owner's."""
    wait(lambda: len([one for one, at in LOGINS if one == login and at > time.monotonic() - 61]) < 3, 70, 0.5)
    LOGINS.append((login, time.monotonic()))


class Watched:
    """A page that notes errors of the console, violations of the policy and requests to the API."""

    def __init__(self, browser, shop, **context):
        self.browser, self.shop = browser, shop
        self.origin = f"http://127.0.0.1:{shop.port}"
        self.context = browser.new_context(**{"viewport": {"width": 1360, "height": 860}, "locale": "en-GB", **context})
        self.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=self.origin)
        self.page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.add_init_script(WATCH)
        self.errors, self.requests, self.running = [], set(), set()
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(f"{message.text} {message.location.get('url', '')}"))
        self.page.on("pageerror", lambda error: self.errors.append(f"{error}\n{error.stack}"))
        self.page.on("request", self.note)
        self.page.on("requestfinished", lambda request: self.running.discard(request))
        self.page.on("requestfailed", lambda request: self.running.discard(request))

    def note(self, request):
        if not request.url.startswith(self.origin):
            return
        self.running.add(request)
        path = request.url.removeprefix(self.origin).split("?")[0]
        if path.startswith("/api/"):
            self.requests.add((request.method, path))

    def open(self, path="/"):
        self.running.clear()
        self.page.goto(f"{self.origin}/console{path}")

    def sign_in(self, staff, path="/"):
        """Loads the page and signs in; returns the token of the session."""
        self.open(path)
        self.page.fill("input[name=login]", staff[0])
        token = self.give_password("input[name=password]", staff)
        # The page of the sign-in has a main and a heading too.
        self.page.wait_for_selector("#main h1")
        self.settle()
        return token

    def give_password(self, field, staff):
        await_login(staff[0])
        self.page.fill(field, staff[1])
        with self.page.expect_response("**/api/login") as answer:
            self.page.keyboard.press("Enter")
        return answer.value.json()["user"]["access_token"]["value"]

    def as_owner(self):
        """Signs the owner in, unless they are."""
        if self.shop.token is None:
            self.shop.token = self.sign_in(self.shop.owner)

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

    def settle(self, seconds=10):
        """Waits until all is loaded. A network that was idle once stays so for Playwright, so requests are counted."""
        if not wait(lambda: self.page.evaluate(READY) and not self.running, seconds):
            raise AssertionError(f"still loading after {seconds} s: {[one.url for one in self.running]}")

    def until(self, expression, seconds=10):
        """Waits for an expression. The policy forbids the eval of Playwright's own wait."""
        if not wait(lambda: self.page.evaluate(expression), seconds):
            raise AssertionError(f"not within {seconds} s: {expression}")

    def problems(self):
        seen = self.page.evaluate("({ policy: window.__violations.splice(0), ran: window.__ran.splice(0) })")
        found = [f"{kind}: {one}" for kind, all_of_it in seen.items() for one in all_of_it] + [f"console: {one}" for one in self.errors]
        self.errors.clear()
        return found

    def expect_error(self, text):
        """Drops the errors of an answer that the test provokes."""
        self.errors[:] = [one for one in self.errors if text not in one]

    def axe(self, options):
        """Findings of axe of impact serious or critical. Its source is given to the page by the debugger, past the policy."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text() + ";0")
        result = self.page.evaluate("(options) => axe.run(document, { resultTypes: ['violations'], ...options })", options)
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


def name_of(path):
    """The name of a screen's screenshot."""
    return re.sub(r"\W+", "-", re.sub(r"[0-9a-f]{8}-[0-9a-f-]+|\d+", "one", path)).strip("-") or "today"
