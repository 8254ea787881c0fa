"""Stored texts that would run scripts, in every field that a screen shows: nothing runs, and the policy has nothing to report."""

import base64
import json
import re
import urllib.error

from shop import ROOT

# A picture of one pixel.
PICTURE = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def vectors():
    """The texts that the HTTP tests store."""
    source = (ROOT / "apps/server/tests/http/links.rs").read_text()
    block = re.search(r"const VECTORS: \[&str; \d+\] = \[(.*?)\n\];", source, re.S).group(1)
    return [json.loads(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', block)]


class Attack:
    """Stores the texts through the API, and remembers the screens that show them."""

    def __init__(self, shop):
        self.shop, self.paths, self.refused = shop, [], []
        self.all = vectors()
        self.prose = "\n".join(self.all)
        self.line = self.up_to(255)

    def up_to(self, limit):
        """As many of the texts as fit."""
        text = ""
        for one in self.all:
            if len(text) + len(one) <= limit:
                text += one
        return text

    def store(self, path, body, root, screens=()):
        """Creates a record. `{}` in the addresses of screens is its number. The API may refuse a text."""
        return self.keep(path, root, screens, lambda: self.shop.call("POST", path, body))

    def keep(self, path, root, screens, send):
        try:
            answer = send()
        except urllib.error.HTTPError as refusal:
            if refusal.code not in (400, 415, 422):
                raise
            self.refused.append(path)
            return None
        number = answer[root]["id"]
        self.paths += [screen.format(number) for screen in screens]
        return number

    def people(self):
        line, prose = self.line, self.prose
        customer = self.store("/api/counterparties", {"is_company": False, "first_name": line, "last_name": line, "address": self.up_to(500), "phone_1": "+7 900 555-66-01"},
                              "counterparty", ["/customers", "/customers/{}", "/orders/new?customer={}"])
        self.store("/api/counterparties", {"is_company": True, "name": line}, "counterparty", ["/customers/{}"])
        if customer:
            self.store(f"/api/counterparties/{customer}/contacts", {"kind": "other", "value": line, "name": line, "comment": self.up_to(500)}, "contact")
        self.store("/api/agents", {"name": line, "description": prose, "permissions": ["view-orders"]}, "agent", ["/agents", "/agents/{}", "/approvals"])
        self.store("/api/departments", {"name": line, "description": self.up_to(500)}, "department", ["/departments"])
        role = self.store("/api/roles", {"name": line, "description": self.up_to(500), "permissions": []}, "role", ["/roles"])
        self.store("/api/users", {"login": "attack", "email": "attack@shop.example", "first_name": line, "last_name": line, "role_id": role or 1}, "user",
                   ["/employees", "/employees/{}"])
        self.store("/api/tasks", {"title": line, "description": prose}, "task", ["/tasks", "/tasks/{}", "/"])
        asked = self.shop.anonymous("POST", "/api/agent-access-requests", {"name": line, "reason": self.up_to(900), "permissions": ["view-orders"]})
        self.paths.append(f"/approvals/{asked['publicId']}")
        # The arguments of a call are stored before anything checks them.
        for refused in (False, True):
            called = self.shop.agent_call("POST", "/api/brands", {"name": prose, self.up_to(250): [{"refused": refused, "text": prose}]})["publicId"]
            if refused:
                self.shop.call("POST", f"/api/agent-actions/{called}/refuse", {"reason": self.up_to(900)})
            self.paths += [f"/agent-actions/{called}", "/agent-actions", "/agent-policy"]
        return customer

    def goods(self):
        line, prose = self.line, self.prose
        self.store("/api/categories", {"name": line, "description": prose}, "category", ["/categories"])
        self.store("/api/brands", {"name": line}, "brand", ["/brands"])
        item = self.store("/api/nomenclatures", {"name": line, "kind_id": 2, "article": self.up_to(100), "description": prose, "characteristics": prose}, "nomenclature", ["/items", "/items/{}"])
        branch = self.store("/api/branches", {"name": line, "address": self.up_to(500)}, "branch", ["/branches", "/branches/{}"])
        place = self.store("/api/warehouses", {"name": line, "address": self.up_to(500), "branch_id": branch or 1}, "warehouse", ["/warehouses", "/warehouses/{}"])
        if item and place:
            level = self.store("/api/inventories", {"nomenclature_id": item, "warehouse_id": place, "quantity": 1, "price": "1.00"}, "inventory", ["/stock", "/stock/{}"])
            self.keep("reason of a correction", "inventory", [], lambda: self.shop.call("PUT", f"/api/inventories/{level}", {"quantity": 2, "comment": self.up_to(250)}))
        self.store("/api/discounts", {"name": line, "description": prose, "type": "percent", "value": "5.00", "code": "ATTACK"}, "discount", ["/discounts", "/discounts/{}"])
        self.store("/api/promotions", {"name": line, "description": prose}, "promotion", ["/promotions", "/promotions/{}"])

    def orders(self, customer):
        item = self.shop.call("GET", "/api/inventories?per_page=1&quantity_gt=9&order_by=quantity_desc")["inventories"][0]["nomenclature"]["id"]
        order = self.store("/api/orders", {"counterparty_id": customer or 1, "delivery_type_id": 1, "shop_id": 1, "comment": self.prose,
                                           "products": [{"id": item, "quantity": 2}]}, "order", ["/orders?queue=all", "/orders/{}", "/orders/print?id={}"])
        self.shop.call("POST", f"/api/orders/{order}/record-payment", {"method": "cash"})
        self.shop.call("POST", f"/api/orders/{order}/request-refund", {"everything": True, "restock": True, "reason": self.up_to(250)})
        for name in [one.replace("/", "") for one in self.all]:
            self.keep("file of an order", "file", ["/files"], lambda: self.shop.upload(f"/api/orders/{order}/files", f"{name}.png", PICTURE))

    def content(self):
        line, prose = self.line, self.prose
        application = self.shop.call("GET", "/api/applications")["applications"][0]["id"]
        block_type = self.shop.call("GET", "/api/block_types")["blockTypes"][0]["id"]
        self.store("/api/pages", {"title": line, "description": self.up_to(500), "content": prose}, "page", ["/pages", "/pages/{}"])
        self.store(f"/api/applications/{application}/blocks", {"name": line, "text": prose, "block_type_id": block_type}, "block", ["/blocks"])
        self.store(f"/api/applications/{application}/menu_items", {"name": line}, "menuItem", ["/menus"])
        self.store(f"/api/applications/{application}/slides", {"title": line, "description": prose}, "slide", ["/slides"])
        self.store(f"/api/applications/{application}/webhooks", {"name": line, "url": "https://books.example/attack", "is_active": False}, "webhook",
                   ["/webhooks", "/deliveries", f"/webhooks/{application}/{{}}"])
        self.store("/api/applications", {"name": line, "branch_id": 1}, "application", ["/applications", "/applications/{}"])
        self.store("/api/payment_types", {"name": line, "description": self.up_to(500)}, "paymentType", ["/payment-types"])
        self.keep("name of the project", "project", ["/project"], lambda: self.shop.call("PUT", "/api/project", {"name": line}))
        store = self.store("/api/shops", {"name": line, "address": self.up_to(500), "branch_id": 1}, "shop", ["/shops", "/shops/{}"])
        if store:
            self.shop.call("POST", f"/api/shops/{store}/exceptions", {"date": "2027-12-30", "note": self.up_to(250)})
            self.shop.call("POST", f"/api/shops/{store}/holidays", {"date": "2027-01-02", "name": line})


def look(watched, path):
    """Opens the screen and, where there are some, the previews of HTML. What a preview holds back, its own frame reports."""
    watched.go(path)
    found = watched.problems()
    shown = watched.page.content()
    for number in range(watched.page.locator("button:has-text('Show the preview')").count()):
        watched.page.locator("button:has-text('Show the preview')").nth(0).click()
        watched.page.wait_for_selector(f"iframe.preview >> nth={number}")
        watched.page.wait_for_timeout(200)
    found += [one for one in watched.problems() if one.startswith("ran:")]
    return found, "onerror" in shown or "onclick" in shown


def run(watched, shop):
    watched.as_owner()
    attack = Attack(shop)
    attack.goods()
    attack.orders(attack.people())
    attack.content()
    problems, showing = [], 0
    for path in dict.fromkeys(attack.paths):
        found, shows = look(watched, path)
        showing += shows
        problems += [f"{path}: {one}" for one in found]
    watched.page.keyboard.press("Control+k")
    watched.page.wait_for_selector("dialog[open] input:focus")
    watched.page.keyboard.type("onerror")
    watched.until("!document.querySelector('.palette .spinner')")
    watched.page.keyboard.press("Escape")
    problems += [f"palette: {one}" for one in watched.problems()]
    print(f"attacks: {len(set(attack.paths))} screens, {showing} of them show a text; refused by the API: {', '.join(attack.refused) or 'none'}")
    if showing < 20:
        problems.append(f"only {showing} screens show a stored text")
    return problems
