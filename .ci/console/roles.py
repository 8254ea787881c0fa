"""Narrower roles: only what the role may do is drawn, and the API refuses nothing that a screen asks for."""

import re

from browser import Watched
from screens import addresses
from shop import ROOT

READ, WRITE = ("view",), ("view", "create", "edit")
# Resources of each role with the verbs that it has.
ROLES = {
    "seller": {"dictionaries": READ, "orders": WRITE, "counterparties": WRITE, "tasks": WRITE, "nomenclatures": READ, "categories": READ, "inventories": READ,
               "warehouses": READ, "shops": READ, "discounts": READ},
    "warehouse": {"dictionaries": READ, "orders": ("view", "edit"), "nomenclatures": READ, "inventories": WRITE, "warehouses": READ, "tasks": READ},
    "content": {"dictionaries": READ, "pages": WRITE, "blocks": WRITE, "slides": WRITE, "files": WRITE, "shops": ("view", "edit"), "applications": READ, "nomenclatures": WRITE,
                "categories": WRITE, "brands": WRITE},
    "accountant": {"dictionaries": READ, "orders": READ, "counterparties": READ, "subscriptions": READ, "statistics": READ, "branches": READ, "users": READ},
    "approver": {"agent-actions": ("view", "approve"), "agents": READ, "brands": WRITE},
    "viewer": None,
}
SCREEN = re.compile(r"\{ path: '([^']+)', title: '[^']+'(.*?) permission: (?:'([\w-]+)'|null)")
ACTION = re.compile(r"\{ id: '([\w-]+)', title: .*? permission: '([\w-]+)', to:")
# What only those see who may write: buttons that write, fields, and places for files.
WRITES = "#main .button.primary, #main .button.danger, #main form.form fieldset:not([disabled]), #main .drop"


class Sections:
    """Screens and actions of lib/sections.js with their permissions."""

    def __init__(self):
        source = (ROOT / "crates/console/static/lib/sections.js").read_text()
        self.screens = [(path, permission, "icon:" in middle) for path, middle, permission in SCREEN.findall(source)]
        self.actions = ACTION.findall(source)
        self.patterns = [(re.compile(re.sub(r":\w+", "[^/]+", path) + "$"), permission) for path, permission, _ in self.screens]
        assert len(self.screens) > 40 and len(self.actions) > 5, "lib/sections.js reads otherwise"

    def needs(self, address):
        """Permission for the screen of an address; empty if every employee may open it."""
        path = address.split("?")[0]
        return next((permission for pattern, permission in self.patterns if pattern.match(path)), "")


def hire(shop, name, verbs, permissions):
    """Makes the role by the API and its employee by the command line."""
    held = {one for one in permissions if (one.startswith("view-") if verbs is None else one.split("-", 1)[0] in verbs.get(one.split("-", 1)[1], ()))}
    role = shop.call("POST", "/api/roles", {"name": f"Test {name}", "permissions": [permissions[one] for one in sorted(held)]})["role"]["id"]
    return held, shop.employee(name, role)


def listed(page, selector, read):
    return set(page.eval_on_selector_all(selector, f"(found) => found.map((one) => {read})"))


def compare(what, drawn, wanted):
    return [f"{what} is drawn: {one}" for one in sorted(drawn - wanted)] + [f"{what} is missing: {one}" for one in sorted(wanted - drawn)]


def frame(guest, sections, may):
    """The navigation and the palette have what the role may open and do, and no more."""
    links = listed(guest.page, "nav.side li a", "one.getAttribute('href').slice('/console'.length)")
    found = compare("section", links, {path for path, permission, shown in sections.screens if shown and may(permission)})
    guest.page.keyboard.press("Control+k")
    guest.page.wait_for_selector("dialog.palette [role=option]")
    entries = listed(guest.page, "dialog.palette [role=option]", r"one.id.replace(/^palette-\d+-/, '')")
    guest.page.keyboard.press("Escape")
    guest.page.wait_for_selector("dialog.palette", state="detached")
    found += compare("screen of the palette", {one for one in entries if one.startswith("go-")},
                     {f"go-{path}" for path, permission, _ in sections.screens if ":" not in path and path != "/orders/print" and may(permission)})
    known = {f"do-{name}" for name, _ in sections.actions}
    return found + compare("action", entries & known, {f"do-{name}" for name, permission in sections.actions if may(permission)})


def walk(guest, sections, paths, may, writes):
    """Opens the sections and one record of each; reports what the role should not see."""
    found = []
    for path in paths:
        guest.go(path)
        found += [f"{path}: {one}" for one in guest.problems()]
        if guest.page.locator("main .failure").count():
            found.append(f"{path}: the screen shows an error")
        if guest.page.locator("#main .empty-title:has-text('No access')").count():
            found.append(f"{path}: no access, though the role has the permission")
        links = listed(guest.page, "#main a[href^='/console']", "one.getAttribute('href').slice('/console'.length)")
        found += [f"{path}: leads to {one}" for one in sorted(links) if not may(sections.needs(one))]
        # A reader opens requests of agents by their link.
        if not writes and path != "/approvals" and guest.page.locator(WRITES).count():
            found.append(f"{path}: offers a write: {guest.page.locator(WRITES).first.evaluate('(one) => one.outerHTML.slice(0, 160)')}")
    return found


def denied(guest, path):
    """A screen without the permission says so, and asks the API for nothing."""
    guest.requests.clear()
    guest.go(path)
    found = [f"{path}: {one}" for one in guest.problems()]
    if not guest.page.locator("#main .empty-title:has-text('No access')").count():
        found.append(f"{path}: opens without the permission")
    return found + ([f"{path}: asks the API without the permission"] if guest.requests else [])


def run(watched, shop):
    problems = []
    watched.as_owner()
    sections = Sections()
    every = [path for path in addresses(shop) if not path.endswith("/new") and "?" not in path]
    permissions = {one["name"]: one["id"] for one in shop.call("GET", "/api/permissions")["permissions"]}
    guest = Watched(watched.browser, shop)
    for name, verbs in ROLES.items():
        held, staff = hire(shop, name, verbs, permissions)
        may = lambda permission: not permission or permission in held
        guest.sign_in(staff)
        found = [*guest.problems(), *frame(guest, sections, may)]
        found += walk(guest, sections, [path for path in every if may(sections.needs(path))], may, writes=verbs is not None)
        closed = next((path for path in every if not may(sections.needs(path))), None)
        found += denied(guest, closed) if closed else []
        problems += [f"{name}: {one}" for one in found]
    guest.context.close()
    return problems
