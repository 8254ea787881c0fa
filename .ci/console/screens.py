"""Opens every screen: no violation of the policy, no error, no serious finding of axe, no horizontal scroll, focus never lost."""

import json
import re
from datetime import date, timedelta

from attacks import PICTURE
from browser import Watched, name_of
from shop import ROOT

TABLES = {"orders": "orders", "items": "nomenclatures", "stock": "inventories", "customers": "counterparties", "tasks": "tasks", "agents": "agents",
          "subscriptions": "subscriptions", "pages": "pages", "shops": "shops",
          "branches": "branches", "warehouses": "warehouses"}


def seed(shop):
    """A customer, an order and a task, so that every screen has a record to show."""
    customer = shop.call("POST", "/api/counterparties", {"is_company": False, "first_name": "Anna", "last_name": "Petersen", "phone_1": "+7 900 555-01-01"})["counterparty"]["id"]
    items = [one["nomenclature"]["id"] for one in shop.call("GET", "/api/inventories?per_page=4&quantity_gt=9")["inventories"]]
    for _ in range(3):
        order = shop.call("POST", "/api/orders", {"counterparty_id": customer, "delivery_type_id": 1, "shop_id": 1, "comment": "Ring twice, please.",
                                                        "products": [{"id": one, "quantity": 1} for one in dict.fromkeys(items)]})["order"]["id"]
        shop.call("POST", f"/api/orders/{order}/record-payment", {"method": "cash"})
    shop.call("POST", "/api/tasks", {"title": "Call the supplier", "responsible_id": 1, "deadline": f"{date.today() + timedelta(days=200)}T12:00:00Z"})
    shop.call("POST", "/api/agents", {"name": "Night import", "permissions": ["view-nomenclatures", "edit-inventories"]})
    spring = shop.call("POST", "/api/discounts", {"name": "Spring weeks", "type": "percent", "value": "5.00", "code": "SPRING5", "usage_limit": 100})["discount"]["id"]
    shop.call("POST", "/api/promotions", {"name": "Spring", "description": "<p>All of April</p>", "discount_ids": [spring], "nomenclature_ids": items[:2]})
    shop.upload("/api/files", "shelf.png", PICTURE, file_type_id=2)
    shop.call("POST", "/api/pages", {"title": "Delivery and returns", "content": "<h2>Delivery</h2><p>Two days.</p><script>alert(1)</script>", "tags": ["help"]})
    store = shop.call("GET", "/api/shops?per_page=1")["shops"][0]["id"]
    shop.call("POST", f"/api/shops/{store}/hours", {"weekday": 1, "opens_at": "09:00", "closes_at": "19:00"})
    shop.call("POST", f"/api/shops/{store}/exceptions", {"date": "2027-12-31", "opens_at": "10:00", "closes_at": "15:00", "note": "New Year's Eve"})
    shop.call("POST", f"/api/shops/{store}/holidays", {"date": "2027-01-01", "name": "New Year", "is_yearly": True})
    application = shop.call("GET", "/api/applications")["applications"][0]["id"]
    block_type = shop.call("GET", "/api/block_types")["blockTypes"][0]["id"]
    front = shop.call("POST", f"/api/applications/{application}/blocks", {"name": "Front page", "block_type_id": block_type, "text": "<p>Welcome</p>"})["block"]["id"]
    shop.call("POST", f"/api/applications/{application}/blocks", {"name": "Banner", "block_type_id": block_type, "parent_id": front})
    top = shop.call("POST", f"/api/applications/{application}/menu_items", {"name": "Catalogue"})["menuItem"]["id"]
    for name in ("Tea", "Honey"):
        shop.call("POST", f"/api/applications/{application}/menu_items", {"name": name, "parent_id": top})
    for name in ("Honey weeks", "New teas"):
        shop.call("POST", f"/api/applications/{application}/slides", {"title": name, "description": "<p>Until May</p>", "link": "/sale", "ends_at": "2030-05-01T00:00:00Z"})
    shop.call("POST", "/api/branches/1/bank_requisites", {"account": "40702810938000000001", "bik": "044525225", "bank_name": "Harbour Bank"})
    shop.call("POST", "/api/applications/1/webhooks", {"url": "https://books.example/hooks", "name": "Bookkeeping", "is_active": False})
    shop.call("POST", "/api/departments", {"name": "Packing", "description": "Second floor"})
    permissions = {one["name"]: one["id"] for one in shop.call("GET", "/api/permissions")["permissions"]}
    shop.call("POST", "/api/roles", {"name": "Seller", "permissions": [permissions["view-orders"], permissions["edit-orders"]]})


def nested(shop):
    """Addresses of screens with two numbers."""
    account = shop.call("GET", "/api/branches/1/bank_requisites")["bankRequisites"][0]["id"]
    webhook = shop.call("GET", "/api/applications/1/webhooks")["webhooks"][0]["id"]
    return {"/branches/:id/accounts/:account": f"/branches/1/accounts/{account}", "/webhooks/:application/:id": f"/webhooks/1/{webhook}"}


def screens(shop):
    """Addresses of all screens in lib/sections.js, with records that exist."""
    source = (ROOT / "crates/console/static/lib/sections.js").read_text()
    found = re.findall(r"\{ path: '([^']+)', title: '[^']+'", source)
    first = {}
    for name, table in TABLES.items():
        rows = shop.call("GET", f"/api/tables/{table}?per_page=1")[table]
        if rows:
            number = rows[0]["id"]
            first[name] = number["value"] if isinstance(number, dict) else number
    first["employees"] = shop.call("GET", "/api/users?per_page=1")["users"][0]["id"]
    first["applications"] = shop.call("GET", "/api/applications")["applications"][0]["id"]
    first["promotions"] = shop.call("GET", "/api/promotions?per_page=1")["promotions"][0]["id"]
    first["discounts"] = shop.call("GET", "/api/discounts?per_page=1")["data"]["discounts"][0]["id"]
    brand = shop.call("POST", "/api/brands", {"name": "Meadow"})["brand"]["id"]
    first["agent-actions"] = shop.agent_call("PUT", f"/api/brands/{brand}", {"name": "Meadow and sons"})["publicId"]
    request = shop.anonymous("POST", "/api/agent-access-requests", {
        "name": "Stock assistant", "reason": "Compares the stock with the supplier's list every night.",
        "permissions": ["view-nomenclatures", "view-inventories", "edit-inventories"]})
    two = nested(shop)
    for path in found:
        section = path.strip("/").split("/")[0]
        if path in two:
            yield two[path]
        elif path.endswith("/:id"):
            number = request["publicId"] if section == "approvals" else first.get(section)
            if number is not None:
                yield path.replace(":id", str(number))
            if section in ("items", "customers", "tasks", "agents", "discounts", "pages", "shops", "branches", "warehouses", "employees", "promotions"):
                yield path.replace(":id", "new")
        elif path == "/orders/print":
            yield f"/orders/print?id={first['orders']}"
        else:
            yield path
    yield from ("/agent-actions?tab=all", "/orders?queue=all", "/subscriptions?tab=upcoming", "/subscriptions?tab=all", "/items/new?plan=1", "/reports?period=90",
                "/reports?period=own&from=2026-01-01&to=2026-01-31")


def addresses(shop):
    """Addresses of all screens, with records made for them at the first call."""
    if not hasattr(shop, "addresses"):
        seed(shop)
        shop.addresses = list(screens(shop))
    return shop.addresses


def wide(watched):
    """Names what sticks out of a page that scrolls sideways."""
    return watched.page.evaluate("""() => {
        const width = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= width) return [];
        const scrolled = (node) => { for (let at = node.parentElement; at; at = at.parentElement) if (getComputedStyle(at).overflowX !== 'visible') return true; return false; };
        return [...document.querySelectorAll('body *')].filter((node) => node.getBoundingClientRect().right > width + 1 && !scrolled(node))
            .slice(0, 3).map((node) => `${node.tagName}.${node.className} ${Math.round(node.getBoundingClientRect().right)} > ${width}`);
    }""")


def tab_returns(watched, limit=400):
    """`true` if Tab reaches the start of the screen again and never loses the focus within."""
    watched.page.evaluate("document.activeElement.blur(); window.__seen = new Set()")
    for _ in range(limit):
        watched.page.keyboard.press("Tab")
        state = watched.page.evaluate("""() => {
            const at = document.activeElement;
            if (!at || at === document.body) return 'out';
            if (window.__seen.has(at)) return 'again';
            window.__seen.add(at);
            const box = at.getBoundingClientRect();
            return at.getClientRects().length && getComputedStyle(at).visibility !== 'hidden' ? 'on' : `hidden ${at.outerHTML.slice(0, 120)}`;
        }""")
        if state in ("out", "again"):
            return []
        if state != "on":
            return [f"focus on something hidden: {state}"]
    return ["Tab does not return"]


WIDE = (1360, 860)
# Size and colours of each look, and what axe looks for: names and roles do not follow the colours. 200 % zoom leaves a quarter of the space.
LOOKS = {
    "light": (WIDE, "light", {}), "dark": (WIDE, "dark", {"runOnly": {"type": "rule", "values": ["color-contrast"]}}),
    "phone": ((360, 740), "light", {"rules": {"color-contrast": {"enabled": False}}}), "zoom": ((680, 430), "light", None),
}
# Each screen is opened once in each language and shown in two looks.
VISITS = {"English": ("light", "zoom"), "Русский": ("dark", "phone")}


def dress(watched, label):
    size, colours, _ = LOOKS[label]
    watched.page.set_viewport_size({"width": size[0], "height": size[1]})
    watched.page.emulate_media(color_scheme=colours)


def sign_in_page(guest, label, language):
    dress(guest, label)
    guest.page.click(f".sign-in-foot button:has-text('{language}')")
    guest.page.wait_for_selector(f".sign-in-foot [aria-pressed=true]:has-text('{language}')")
    guest.shot(f"{label}-sign-in")
    return [f"{label} sign-in: {one}" for one in [*guest.axe({}), *guest.problems()]]


def speak(watched, language):
    """Chooses the language in the menu of the employee."""
    watched.page.click(".user-button")
    watched.page.click(f".menu-item:has-text('{language}')")
    watched.page.wait_for_selector(f".menu-item[aria-checked=true]:has-text('{language}')")
    watched.page.keyboard.press("Escape")
    watched.page.wait_for_selector(".user-button[aria-expanded=false]")
    watched.settle()


def look(watched, path, label):
    """Checks the open screen in a look."""
    dress(watched, label)
    watched.settle()
    found = [*watched.problems(), *[f"sideways: {one}" for one in wide(watched)]]
    rules = LOOKS[label][2]
    if rules is not None:
        watched.shot(f"{label}-{name_of(path)}")
        found += watched.axe(rules)
    if label == "light":
        found += tab_returns(watched)
    return [f"{label} {path}: {one}" for one in found]


def run(watched, shop):
    """One session for all looks: logins are limited."""
    problems = []
    watched.as_owner()
    paths = addresses(shop)
    guest = Watched(watched.browser, shop)
    guest.open()
    guest.page.wait_for_selector("input[name=login]")
    for language, labels in VISITS.items():
        for label in labels:
            problems += sign_in_page(guest, label, language)
        dress(watched, "light")
        speak(watched, language)
        for path in paths:
            watched.go(path)
            if watched.page.locator("main .failure").count():
                problems.append(f"{path}: the screen shows an error")
            for label in labels:
                problems += look(watched, path, label)
    guest.context.close()
    dress(watched, "light")
    speak(watched, "English")
    return problems + [f"not in the description: {method} {path}" for method, path in undocumented(watched.requests)]


def undocumented(requests):
    paths = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    known = [(method.upper(), re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path) + "$")) for path, methods in paths.items() for method in methods]
    return sorted({one for one in requests if not any(one[0] == method and pattern.match(one[1]) for method, pattern in known)})
