"""Opens every screen: no violation of the policy, no error, no serious finding of axe, no horizontal scroll, focus never lost."""

import json
import re

from browser import ROOT, Watched, call, token_of

TABLES = {"orders": "orders", "items": "nomenclatures", "stock": "inventories", "customers": "counterparties", "tasks": "tasks", "agents": "agents",
          "subscriptions": "subscriptions", "pages": "pages", "shops": "shops",
          "branches": "branches", "warehouses": "warehouses"}


def seed(kontor, token):
    """A customer, an order and a task, so that every screen has a record to show."""
    customer = call(kontor, "POST", "/api/counterparties", token, {"is_company": False, "first_name": "Anna", "last_name": "Petersen", "phone_1": "+7 900 555-01-01"})["counterparty"]["id"]
    items = [one["nomenclature"]["id"] for one in call(kontor, "GET", "/api/inventories?per_page=4&quantity_gt=9", token)["inventories"]]
    for _ in range(3):
        order = call(kontor, "POST", "/api/orders", token, {"counterparty_id": customer, "delivery_type_id": 1, "shop_id": 1, "comment": "Ring twice, please.",
                                                           "products": [{"id": one, "quantity": 1} for one in dict.fromkeys(items)]})["order"]["id"]
        call(kontor, "POST", f"/api/orders/{order}/record-payment", token, {"method": "cash"})
    call(kontor, "POST", "/api/tasks", token, {"title": "Call the supplier", "responsible_id": 1, "deadline": "2027-02-01T12:00:00Z"})
    call(kontor, "POST", "/api/agents", token, {"name": "Night import", "permissions": ["view-nomenclatures", "edit-inventories"]})
    call(kontor, "POST", "/api/discounts", token, {"name": "Spring weeks", "type": "percent", "value": "5.00", "code": "SPRING5", "usage_limit": 100})
    call(kontor, "POST", "/api/pages", token, {"title": "Delivery and returns", "content": "<h2>Delivery</h2><p>Two days.</p><script>alert(1)</script>", "tags": ["help"]})
    shop = call(kontor, "GET", "/api/shops?per_page=1", token)["shops"][0]["id"]
    call(kontor, "POST", f"/api/shops/{shop}/hours", token, {"weekday": 1, "opens_at": "09:00", "closes_at": "19:00"})
    call(kontor, "POST", f"/api/shops/{shop}/exceptions", token, {"date": "2027-12-31", "opens_at": "10:00", "closes_at": "15:00", "note": "New Year's Eve"})
    call(kontor, "POST", f"/api/shops/{shop}/holidays", token, {"date": "2027-01-01", "name": "New Year", "is_yearly": True})
    application = call(kontor, "GET", "/api/applications", token)["applications"][0]["id"]
    block_type = call(kontor, "GET", "/api/block_types", token)["blockTypes"][0]["id"]
    front = call(kontor, "POST", f"/api/applications/{application}/blocks", token, {"name": "Front page", "block_type_id": block_type, "text": "<p>Welcome</p>"})["block"]["id"]
    call(kontor, "POST", f"/api/applications/{application}/blocks", token, {"name": "Banner", "block_type_id": block_type, "parent_id": front})
    top = call(kontor, "POST", f"/api/applications/{application}/menu_items", token, {"name": "Catalogue"})["menuItem"]["id"]
    for name in ("Tea", "Honey"):
        call(kontor, "POST", f"/api/applications/{application}/menu_items", token, {"name": name, "parent_id": top})
    call(kontor, "POST", "/api/branches/1/bank_requisites", token, {"account": "40702810938000000001", "bik": "044525225", "bank_name": "Harbour Bank"})
    call(kontor, "POST", "/api/applications/1/webhooks", token, {"url": "https://books.example/hooks", "name": "Bookkeeping", "is_active": False})
    call(kontor, "POST", "/api/departments", token, {"name": "Packing", "description": "Second floor"})
    permissions = {one["name"]: one["id"] for one in call(kontor, "GET", "/api/permissions", token)["permissions"]}
    call(kontor, "POST", "/api/roles", token, {"name": "Seller", "permissions": [permissions["view-orders"], permissions["edit-orders"]]})


def nested(kontor, token):
    """Addresses of screens with two numbers."""
    account = call(kontor, "GET", "/api/branches/1/bank_requisites", token)["bankRequisites"][0]["id"]
    webhook = call(kontor, "GET", "/api/applications/1/webhooks", token)["webhooks"][0]["id"]
    return {"/branches/:id/accounts/:account": f"/branches/1/accounts/{account}", "/webhooks/:application/:id": f"/webhooks/1/{webhook}"}


def screens(kontor, token):
    """Addresses of all screens in lib/sections.js, with records that exist."""
    source = (ROOT / "crates/console/static/lib/sections.js").read_text()
    found = re.findall(r"\{ path: '([^']+)', title: '[^']+'", source)
    first = {}
    for name, table in TABLES.items():
        rows = call(kontor, "GET", f"/api/tables/{table}?per_page=1", token)[table]
        if rows:
            number = rows[0]["id"]
            first[name] = number["value"] if isinstance(number, dict) else number
    first["discounts"] = call(kontor, "GET", "/api/discounts?per_page=1", token)["data"]["discounts"][0]["id"]
    request = call(kontor, "POST", "/api/agent-access-requests", body={
        "name": "Stock assistant", "reason": "Compares the stock with the supplier's list every night.",
        "permissions": ["view-nomenclatures", "view-inventories", "edit-inventories"]})
    two = nested(kontor, token)
    for path in found:
        section = path.strip("/").split("/")[0]
        if path in two:
            yield two[path]
        elif path.endswith("/:id"):
            number = request["publicId"] if section == "approvals" else first.get(section)
            if number is not None:
                yield path.replace(":id", str(number))
            if section in ("items", "customers", "tasks", "agents", "discounts", "pages", "shops", "branches", "warehouses"):
                yield path.replace(":id", "new")
        elif path == "/orders/print":
            yield f"/orders/print?id={first['orders']}"
        else:
            yield path
    yield from ("/orders?queue=all", "/subscriptions?tab=upcoming", "/subscriptions?tab=all", "/items/new?plan=1")


def name_of(path):
    return re.sub(r"\W+", "-", re.sub(r"[0-9a-f]{8}-[0-9a-f-]+|\d+", "one", path)).strip("-") or "today"


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


def run(browser, kontor, staff):
    problems = []
    token = token_of(kontor, staff)
    seed(kontor, token)
    paths = list(screens(kontor, token))
    for label, context in {
        "light": {}, "dark": {"color_scheme": "dark", "locale": "ru-RU"}, "phone": {"viewport": {"width": 360, "height": 740}, "locale": "ru-RU"},
        "zoom": {"viewport": {"width": 680, "height": 430}, "device_scale_factor": 2},
    }.items():
        watched = Watched(browser, kontor, **context)
        watched.open()
        watched.page.wait_for_selector("input[name=login]")
        problems += [f"{label} sign-in: {one}" for one in [*watched.axe(), *watched.problems()]]
        watched.shot(f"{label}-sign-in")
        watched.sign_in(staff)
        for path in paths:
            watched.go(path)
            watched.shot(f"{label}-{name_of(path)}")
            found = [*watched.problems(), *[f"sideways: {one}" for one in wide(watched)]]
            if label in ("light", "dark", "phone"):
                found += watched.axe()
            if label == "light":
                found += tab_returns(watched)
            if watched.page.locator("main .failure").count():
                found.append("the screen shows an error")
            problems += [f"{label} {path}: {one}" for one in found]
        problems += [f"{label}: not in the description: {method} {path}" for method, path in undocumented(watched.requests)]
        watched.context.close()
    return problems


def undocumented(requests):
    paths = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    known = [(method.upper(), re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path) + "$")) for path, methods in paths.items() for method in methods]
    return sorted({one for one in requests if not any(one[0] == method and pattern.match(one[1]) for method, pattern in known)})
