"""Daily tasks by keyboard alone, each within a budget of keys, and work that must not be lost."""

import json
import math
import os
import re
import subprocess
import time

from attacks import PICTURE
from browser import Watched
from shop import ROOT


class Keys:
    """Presses keys and counts them; a typed text or a chosen file counts as one step."""

    def __init__(self, watched):
        self.watched, self.page, self.count = watched, watched.page, 0

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            self.count += 1

    def type(self, text):
        self.page.keyboard.type(text)
        self.count += 1

    def reach(self, selector, key="Tab", limit=40):
        """Presses a key until the element has the focus."""
        for _ in range(limit):
            if self.page.locator(f"{selector}:focus").count():
                return
            self.press(key)
        raise AssertionError(f"{key} does not reach {selector}")

    def choose(self, text, shown):
        """Opens the palette, types, and takes the first choice once it shows a text."""
        self.press("Control+k")
        self.page.wait_for_selector("dialog[open] input:focus")
        self.type(text)
        self.page.wait_for_selector(f"[role=option][aria-selected=true]:has-text('{shown}')")
        self.press("Enter")
        self.page.wait_for_selector("dialog.palette", state="detached")

    def within(self, budget):
        assert self.count <= budget, f"{self.count} keys instead of {budget}"


def new_order(shop):
    """Creates an order by hand and returns its number."""
    customer = shop.call("POST", "/api/counterparties", {"is_company": False, "first_name": "Anna", "last_name": "Petersen"})["counterparty"]["id"]
    stock = shop.call("GET", "/api/inventories?per_page=1&quantity_gt=5&order_by=quantity_desc")["inventories"][0]
    return shop.call("POST", "/api/orders", {"counterparty_id": customer, "delivery_type_id": 1, "shop_id": 1, "products": [{"id": stock["nomenclature"]["id"], "quantity": 2}]})["order"]["id"]


def paid_order(shop):
    order = new_order(shop)
    shop.call("POST", f"/api/orders/{order}/record-payment", {"method": "cash"})
    return order


def order_of(shop, number):
    return shop.call("GET", f"/api/orders/{number}")["order"]


def has_item(shop, article):
    return any(one["article"] == article for one in shop.call("GET", f"/api/nomenclatures?query={article}")["nomenclatures"])


def ship_the_oldest_paid_order(watched, shop):
    paid_order(shop)
    order = shop.call("GET", "/api/orders?status_id=22&order_by=id_asc&per_page=1")["orders"][0]["id"]
    watched.go("/")
    keys = Keys(watched)
    keys.press("g", "o")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys.press("i")
    watched.page.wait_for_selector("dialog[open]")
    keys.press("Enter")
    watched.page.wait_for_selector(f".toast.done:has-text('{order}')")
    assert order_of(shop, order)["status"]["id"] == 5
    keys.within(4)


def refund_a_unit(watched, shop):
    order = paid_order(shop)
    watched.go("/")
    keys = Keys(watched)
    keys.choose(str(order), str(order))
    watched.page.wait_for_selector(f"h1:has-text('{order}')")
    watched.settle()
    keys.press("r")
    watched.page.wait_for_selector("dialog[open]")
    keys.press("Tab")
    keys.type("1")
    keys.press("Tab", "Tab")
    keys.type("Dented")
    watched.page.wait_for_selector("dialog .sums .strong")
    watched.shot("daily-refund")
    keys.press("Enter")
    watched.page.wait_for_selector("dialog", state="detached")
    found = order_of(shop, order)
    assert found["refunds"][0]["reason"] == "Dented" and float(found["refunded_amount"]) > 0, found["refunds"]
    keys.within(10)


def cancel_an_order(watched, shop):
    """Actions without a key of their own are in the palette."""
    order = new_order(shop)
    watched.go("/")
    keys = Keys(watched)
    keys.choose(str(order), str(order))
    watched.page.wait_for_selector(f"h1:has-text('{order}')")
    watched.settle()
    keys.choose("Cancel", "Cancel")
    watched.page.wait_for_selector("dialog[open] .danger:focus")
    keys.press("Enter")
    watched.page.wait_for_selector(f".toast.done:has-text('{order}')")
    assert order_of(shop, order)["status"]["id"] == 6
    keys.within(7)


def correct_twenty_figures(watched, shop):
    levels = [one for one in shop.call("GET", "/api/inventories?per_page=100")["inventories"] if one["nomenclature"]["article"]]
    warehouse = levels[0]["warehouse"]["id"]
    levels = [one for one in levels if one["warehouse"]["id"] == warehouse][:20]
    wanted = {one["id"]: one["quantity"] + 3 for one in levels}
    text = "\n".join(f"{one['nomenclature']['article']}\t{wanted[one['id']]}" for one in levels)
    watched.go("/")
    watched.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    start = time.monotonic()
    keys = Keys(watched)
    keys.press("g", "k")
    watched.page.wait_for_selector("input[autocomplete=off]:focus")
    keys.press("Control+v")
    watched.until(f"[...document.querySelectorAll('#main tbody .badge')].filter((one) => one.textContent === 'Ready').length === {len(levels)}")
    keys.press("Control+s")
    watched.page.wait_for_selector(".toast:has-text('corrected')")
    watched.shot("daily-stock")
    assert time.monotonic() - start <= 30
    for number, quantity in wanted.items():
        assert shop.call("GET", f"/api/inventories/{number}")["inventory"]["quantity"] == quantity, number
    keys.within(4)


def search_everywhere(watched, shop):
    shop.call("POST", "/api/counterparties", {"is_company": False, "first_name": "Vera", "last_name": "Lindgren", "phone_1": "+7 900 555-77-12"})
    item = next(one["nomenclature"] for one in shop.call("GET", "/api/inventories?per_page=50")["inventories"] if one["nomenclature"]["article"])
    watched.go("/")
    keys = Keys(watched)
    keys.choose("79005557712", "Lindgren")
    watched.page.wait_for_selector("h1:has-text('Lindgren')")
    watched.settle()
    keys.choose(item["article"], item["article"])
    watched.until(f"document.querySelector('h1')?.textContent === {json.dumps(item['name'])}")
    keys.within(6)


def edit_a_card(watched, shop):
    made = shop.call("POST", "/api/nomenclatures", {"name": "Card to edit", "kind_id": 2, "article": "EDIT-1"})["nomenclature"]["id"]
    watched.go(f"/items/{made}")
    keys = Keys(watched)
    keys.reach("input[name=name]")
    keys.press("Control+a")
    keys.type("Card with a better name")
    keys.press("Control+s")
    watched.page.wait_for_selector("h1:has-text('better name')")
    assert shop.call("GET", f"/api/nomenclatures/{made}")["nomenclature"]["name"] == "Card with a better name"
    keys.within(8)


def raise_prices_in_bulk(watched, shop):
    rows = shop.call("GET", "/api/tables/inventories?per_page=25")["inventories"]
    rows = [one for one in rows if one["price"] is not None]
    watched.go("/")
    keys = Keys(watched)
    keys.press("g", "s")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys.press("Control+a")
    keys.reach(".bulk .button:has-text('Change prices')", "Shift+Tab")
    keys.press("Enter")
    watched.page.wait_for_selector("dialog[open] input:focus")
    keys.press("Tab")
    keys.type("10")
    keys.press("Enter")
    watched.page.wait_for_selector("dialog[open] .dialog-foot .primary:focus")
    keys.press("Enter")
    watched.until(f"document.querySelectorAll('dialog[open] .results .badge.good').length === {len(rows)}", 30)
    watched.page.wait_for_selector("dialog[open] .dialog-foot .button:has-text('Close')")
    keys.press("Escape")
    watched.page.wait_for_selector("dialog", state="detached")
    for row in rows[:3]:
        wanted = math.floor(round(float(row["price"]) * 100) * (1 + 10 / 100) + 0.5)
        assert round(float(shop.call("GET", f"/api/inventories/{row['id']}")["inventory"]["price"]) * 100) == wanted, row
    keys.within(22)


def import_a_sheet(watched, shop):
    """Nothing is written before it is run; what is wrong is in a sheet of its own."""
    sheet = "article;name;kind;price\nDAILY-1;Acacia honey, 250 g;Goods;7.90\nDAILY-2;;Goods;8.10\n"
    watched.go("/")
    keys = Keys(watched)
    keys.choose("Import items", "Import items")
    watched.page.wait_for_selector(".drop")
    watched.settle()
    keys.reach(".drop")
    with watched.page.expect_file_chooser() as chooser:
        keys.press("Enter")
    chooser.value.set_files({"name": "daily.csv", "mimeType": "text/csv", "buffer": sheet.encode()})
    keys.count += 1
    watched.page.wait_for_selector("#main p[role=status]:has-text('1 new')")
    watched.settle()
    watched.shot("daily-import")
    assert watched.page.locator("#main .table-scroll.tall tbody tr").count() > 0, "no error is listed"
    assert not has_item(shop, "DAILY-1"), "written before it was run"
    keys.reach("label:has-text('Import the valid rows') input")
    keys.press("Space")
    keys.reach("#main .button.primary")
    keys.press("Enter")
    watched.page.wait_for_selector("dialog[open] .facts")
    keys.reach("dialog[open] .dialog-foot .primary")
    with watched.page.expect_download() as download:
        keys.press("Enter")
    assert download.value.suggested_filename.endswith(".xlsx"), download.value.suggested_filename
    keys.press("Escape")
    watched.page.wait_for_selector("dialog", state="detached")
    assert has_item(shop, "DAILY-1") and not has_item(shop, "DAILY-2")
    keys.within(26)


def add_a_customer(watched, shop):
    watched.go("/")
    keys = Keys(watched)
    keys.press("c", "c")
    watched.page.wait_for_selector("input[name=last_name]")
    watched.settle()
    keys.reach("input[name=last_name]")
    keys.type("Okhotnikova")
    keys.press("Tab")
    keys.type("Daria")
    keys.press("Control+s")
    watched.page.wait_for_selector("h1:has-text('Okhotnikova Daria')")
    assert shop.call("GET", "/api/counterparties?query=Okhotnikova")["counterparties"][0]["first_name"] == "Daria"
    keys.within(11)


def invite_a_colleague(watched, shop):
    """The colleague gets a narrow role, and nothing beyond it."""
    permissions = {one["name"]: one["id"] for one in shop.call("GET", "/api/permissions")["permissions"]}
    narrow = {"view-orders", "edit-orders"}
    shop.call("POST", "/api/roles", {"name": "Packer", "permissions": [permissions[one] for one in sorted(narrow)]})
    watched.go("/")
    keys = Keys(watched)
    keys.choose("Invite", "Invite an employee")
    watched.page.wait_for_selector("input[name=last_name]")
    watched.page.wait_for_selector("select[name=role_id] option:text-is('Packer')", state="attached")
    watched.settle()
    keys.reach("input[name=last_name]")
    keys.type("Orlova")
    keys.press("Tab")
    keys.type("Vera")
    for field, text in (("input[name=login]", "vera"), ("input[name=email]", "vera@shop.example"), ("select[name=role_id]", "Packer")):
        keys.reach(field)
        keys.type(text)
    watched.shot("daily-invite")
    keys.press("Control+s")
    watched.page.wait_for_selector("h1:has-text('Orlova Vera')")
    found = shop.call("GET", "/api/users?query=vera")["users"][0]
    assert found["role"]["name"] == "Packer" and {one["name"] for one in found["permissions"]} == narrow, found
    keys.within(19)


def read_the_figures_of_today(watched, shop):
    waiting = shop.call("GET", "/api/tables/orders?status_id=22&per_page=1")["pagination"]["total"]
    days = shop.call("GET", "/api/reports/orders")["report"]["rows"]
    watched.go("/orders?queue=all")
    keys = Keys(watched)
    keys.press("g", "t")
    watched.page.wait_for_selector(".tile")
    watched.settle()
    assert watched.page.text_content(".tile >> nth=0 >> b") == str(waiting)
    keys.reach(".chart")
    keys.press("ArrowLeft")
    watched.page.wait_for_selector(".chart-text:not(.faint)")
    name, revenue = watched.page.text_content(".chart-text").split(": ")
    assert name == "/".join(reversed(days[-1]["date"].split("-"))), name
    assert re.sub(r"\D", "", revenue) == days[-1]["revenue"].replace(".", ""), revenue
    keys.press("Enter")
    watched.until(f"document.querySelectorAll('.chart tbody tr').length === {len(days)}")
    keys.press("g", "v")
    watched.page.wait_for_selector("h1:has-text('Reports')")
    watched.settle()
    assert watched.page.locator(".chart svg").count() > 3 and watched.page.locator("#main .failure").count() == 0
    keys.within(18)


def note_printing(watched):
    """Counts the prints of the page, which a browser without a window does not show."""
    watched.page.evaluate("() => { window.__printed = 0; window.print = () => void window.__printed++; }")


def open_order(watched, keys, order):
    keys.choose(str(order), str(order))
    watched.page.wait_for_selector(f"h1:has-text('{order}')")
    watched.settle()


def print_the_slip_of_an_order(watched, shop):
    order = paid_order(shop)
    watched.go("/")
    note_printing(watched)
    keys = Keys(watched)
    open_order(watched, keys, order)
    keys.press("p")
    watched.page.wait_for_selector(f"article.slip h2:has-text('{order}')")
    keys.press("p")
    watched.until("window.__printed === 1")
    keys.within(5)


def print_the_slips_of_two_orders(watched, shop):
    """The paper has the slips alone."""
    for _ in range(2):
        paid_order(shop)
    orders = [one["id"] for one in shop.call("GET", "/api/orders?status_id=22&order_by=id_asc&per_page=2")["orders"]]
    watched.go("/")
    note_printing(watched)
    keys = Keys(watched)
    keys.press("g", "o")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys.press("x", "j", "x")
    keys.reach(".bulk .button:has-text('Print packing slips')", "Shift+Tab")
    keys.press("Enter")
    watched.page.wait_for_selector("article.slip >> nth=1")
    watched.settle()
    keys.press("p")
    watched.until("window.__printed === 1")
    assert watched.page.locator("article.slip h2").all_text_contents() == [f"Order No. {one}" for one in orders]
    watched.page.emulate_media(media="print")
    shown = [watched.page.locator(one).first.is_visible() for one in ("article.slip", "nav.side", ".page-actions")]
    watched.page.emulate_media(media="screen")
    assert shown == [True, False, False], shown
    keys.within(14)


def choose_files(watched, keys, action, *names):
    """Runs an action of the palette that asks for files, and chooses pictures with these names."""
    with watched.page.expect_file_chooser() as chooser:
        keys.choose(action, action)
    chooser.value.set_files([{"name": name, "mimeType": "image/png", "buffer": PICTURE} for name in names])
    keys.count += 1


def upload_view_and_delete_a_file(watched, shop):
    shop.upload("/api/files", "shelf.png", PICTURE, file_type_id=2)
    watched.go("/")
    keys = Keys(watched)
    keys.choose("Files", "Files")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    choose_files(watched, keys, "Upload files", "price-label.png")
    watched.page.wait_for_selector("[role=grid] tbody tr:has-text('price-label.png')")
    keys.press("/")
    watched.page.wait_for_selector("input[type=search]:focus")
    keys.type("price-label")
    watched.until("document.querySelectorAll('[role=grid] tbody tr').length === 1")
    keys.press("ArrowDown")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys.press("v")
    watched.page.wait_for_selector("dialog[open] img.shown-picture")
    watched.shot("daily-file")
    keys.press("Escape")
    watched.page.wait_for_selector("dialog", state="detached")
    keys.press("d")
    watched.page.wait_for_selector("dialog[open] .danger:focus")
    keys.press("Enter")
    watched.page.wait_for_selector("#main .empty")
    assert not shop.call("GET", "/api/files?query=price-label")["files"]
    keys.within(14)


def pick_photos_of_an_item(watched, shop):
    made = shop.call("POST", "/api/nomenclatures", {"name": "Item with photos", "kind_id": 2, "article": "PHOTO-1"})["nomenclature"]["id"]
    watched.go("/")
    keys = Keys(watched)
    keys.choose("PHOTO-1", "PHOTO-1")
    watched.page.wait_for_selector("h1:has-text('Item with photos')")
    watched.settle()
    choose_files(watched, keys, "Add photos", "front.png", "back.png")
    watched.page.wait_for_selector("button[aria-label='Remove photo 2']")
    watched.settle()
    assert len(shop.call("GET", f"/api/nomenclatures/{made}")["nomenclature"]["photos"]) == 2
    keys.within(7)


def attach_a_file_to_an_order_and_delete_it(watched, shop):
    order = new_order(shop)
    watched.go("/")
    keys = Keys(watched)
    open_order(watched, keys, order)
    choose_files(watched, keys, "Add files", "signed-slip.png")
    trash = "button[aria-label='Delete: signed-slip.png']"
    watched.page.wait_for_selector(trash)
    files = shop.call("GET", f"/api/files?order_id={order}")["files"]
    assert [one["name"] for one in files] == ["signed-slip.png"], files
    keys.reach(trash)
    keys.press("Enter")
    watched.page.wait_for_selector("dialog[open] .danger:focus")
    keys.press("Enter")
    watched.page.wait_for_selector(trash, state="detached")
    assert not shop.call("GET", f"/api/files?order_id={order}")["files"]
    keys.within(25)


def comment_on_an_order(watched, shop):
    order = new_order(shop)
    watched.go("/")
    keys = Keys(watched)
    open_order(watched, keys, order)
    keys.reach("textarea[name=comment]")
    keys.type("Ring twice, the bell is quiet")
    keys.press("Control+s")
    watched.page.wait_for_selector(".timeline .changes:has-text('Ring twice')")
    assert order_of(shop, order)["comment"] == "Ring twice, the bell is quiet"
    keys.within(16)


def correct_a_figure_with_its_reason(watched, shop):
    level = shop.call("GET", "/api/tables/inventories?per_page=25")["inventories"][0]
    wanted = level["quantity"] + 2
    watched.go("/")
    keys = Keys(watched)
    keys.press("g", "s")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys.press("e")
    watched.page.wait_for_selector("dialog[open] input[name=quantity]:focus")
    keys.press("Control+a")
    keys.type(str(wanted))
    keys.reach("dialog[open] input[name=comment]")
    keys.type("Found behind the shelf")
    keys.press("Control+s")
    watched.page.wait_for_selector("dialog", state="detached")
    entry = shop.call("GET", f"/api/inventories/{level['id']}/history")["histories"][0]
    assert (entry["comment"], entry["changes"][0]["new"]) == ("Found behind the shelf", str(wanted)), entry
    keys.within(10)


def read_who_changed_a_slide_and_a_payment_type(watched, shop):
    application = shop.call("GET", "/api/applications")["applications"][0]["id"]
    slide = shop.call("POST", f"/api/applications/{application}/slides", {"title": "Spring teas", "link": "/sale"})["slide"]["id"]
    shop.call("PUT", f"/api/applications/{application}/slides/{slide}", {"is_active": False})
    kind = shop.call("POST", "/api/payment_types", {"name": "Gift card"})["paymentType"]["id"]
    shop.call("PUT", f"/api/payment_types/{kind}", {"is_online": True})
    watched.go("/")
    keys = Keys(watched)
    for screen, record, change in (("Slides", "Spring teas", "Shown: Yes → No"), ("Payment types", "Gift card", "Paid online: No → Yes")):
        keys.choose(screen, screen)
        watched.page.wait_for_selector(f"button[aria-label='History: {record}']")
        watched.settle()
        keys.reach(f"button[aria-label='History: {record}']")
        keys.press("Enter")
        watched.page.wait_for_selector(f"dialog[open] .changes:has-text('{change}')")
        keys.press("Escape")
        watched.page.wait_for_selector("dialog", state="detached")
    keys.within(24)


def share_a_view_by_its_link(watched, shop):
    """The address holds filters and sort, so a colleague with a role of their own sees the same view."""
    watched.go("/stock?quantity_gt=5&sort=quantity_desc")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys = Keys(watched)
    keys.reach("button[aria-label='Saved views']", "Shift+Tab")
    keys.press("Enter")
    watched.page.wait_for_selector("[role=menuitem]:has-text('Save this view'):focus")
    keys.press("ArrowDown")
    watched.page.wait_for_selector("[role=menuitem]:has-text('Copy the link'):focus")
    keys.press("Enter")
    watched.until("navigator.clipboard.readText().then((text) => text.includes('/console/stock'))")
    link = watched.page.evaluate("navigator.clipboard.readText()")
    assert link == f"{watched.origin}/console/stock?quantity_gt=5&sort=quantity_desc", link
    keys.within(12)
    permissions = {one["name"]: one["id"] for one in shop.call("GET", "/api/permissions")["permissions"]}
    role = shop.call("POST", "/api/roles", {"name": "Stock clerk", "permissions": [permissions["view-inventories"], permissions["view-dictionaries"]]})["role"]["id"]
    colleague = Watched(watched.browser, shop)
    colleague.sign_in(shop.employee("clerk", role), link.removeprefix(f"{watched.origin}/console"))
    colleague.page.wait_for_selector(".chip:has-text('> 5')")
    colleague.page.wait_for_selector("th[aria-sort=descending]:has-text('In stock')")
    found = colleague.problems()
    colleague.context.close()
    assert not found, found


def find_out_why_a_subscription_is_unpaid(watched, shop):
    """The guide's script buys a plan and lets the bank decline its renewal. It moves the clock of the demo by a month."""
    start, *steps = re.split(r"(?m)^(?=# \d\. )", (ROOT / "docs/guides/subscriptions.sh").read_text())
    script = "".join([start, *(step for step in steps if step[2] in "124")])
    subprocess.run(["sh", "-c", script], env={**os.environ, "DEMO": str(shop.file)}, check=True, capture_output=True, timeout=60)
    watched.go("/")
    keys = Keys(watched)
    keys.press("g", "u")
    watched.page.wait_for_selector(".tab[aria-current]:has-text('Past due') .count:has-text('1')")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys.press("Enter")
    watched.page.wait_for_selector("h1 + .badge:has-text('Past due')")
    watched.page.wait_for_selector(".facts:has-text('The last charge failed')")
    watched.shot("daily-subscription")
    keys.within(3)


def approve_an_agent(watched, shop):
    request = shop.anonymous("POST", "/api/agent-access-requests", {"name": "Reporter", "reason": "Weekly report", "permissions": ["view-orders", "view-tasks"]})
    watched.go("/")
    keys = Keys(watched)
    keys.press("g", "a")
    watched.page.wait_for_selector("main form input:focus")
    keys.type(request["review_url"])
    keys.press("Enter")
    watched.page.wait_for_selector("main blockquote")
    watched.settle()
    watched.shot("daily-approval")
    keys.press("a")
    # Only the answer to the approval leads to the new agent.
    watched.until("location.pathname.startsWith('/console/agents/')")
    status = shop.anonymous("POST", f"/api/agent-access-requests/{request['publicId']}/status", {"secret": request["secret"]})
    assert status["status"] == "approved", status
    keys.within(5)


def approve_a_call_of_an_agent(watched, shop):
    call = shop.agent_call("POST", "/api/brands", {"name": "Northwind"})
    watched.go("/")
    keys = Keys(watched)
    keys.press("g", "l")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus:has-text('Brand assistant')")
    keys.press("Enter")
    watched.page.wait_for_selector("main .facts dd:has-text('Northwind')")
    watched.settle()
    watched.shot("daily-agent-call")
    keys.press("a")
    watched.page.wait_for_selector("dialog[open] .primary:focus")
    keys.press("Enter")
    watched.page.wait_for_selector(".toast.done:has-text('executed')")
    found = shop.call("GET", f"/api/agent-actions/{call['publicId']}")["agentAction"]
    assert (found["state"], found["status_code"]) == ("executed", 201), found
    keys.within(5)


def refuse_a_call_whose_record_has_changed(watched, shop):
    brand = shop.call("POST", "/api/brands", {"name": "Southwind"})["brand"]["id"]
    call = shop.agent_call("PUT", f"/api/brands/{brand}", {"name": "Southwind tea"})
    shop.call("PUT", f"/api/brands/{brand}", {"name": "Southwind coffee"})
    watched.go(f"/agent-actions/{call['publicId']}")
    watched.page.wait_for_selector("main .form-problem:has-text('changed after the proposal')")
    watched.page.wait_for_selector("main .facts dd:has-text('Southwind coffee → Southwind tea')")
    keys = Keys(watched)
    keys.press("d")
    watched.page.wait_for_selector("dialog[open] textarea:focus")
    keys.type("It is called otherwise now")
    keys.press("Tab", "Tab", "Enter")
    watched.page.wait_for_selector("h1 + .badge:has-text('Refused')")
    found = shop.call("GET", f"/api/agent-actions/{call['publicId']}")["agentAction"]
    assert (found["state"], found["reason"]) == ("refused", "It is called otherwise now"), found
    keys.within(5)


def approve_a_call_after_a_new_login(watched, shop):
    """A session that began after the proposal needs the password again."""
    call = shop.agent_call("POST", "/api/brands", {"name": "Eastwind"})
    permissions = {one["name"]: one["id"] for one in shop.call("GET", "/api/permissions")["permissions"]}
    needed = ("view-agent-actions", "approve-agent-actions", "create-brands")
    role = shop.call("POST", "/api/roles", {"name": "Deputy", "permissions": [permissions[one] for one in needed]})["role"]["id"]
    staff = shop.employee("deputy", role)
    colleague = Watched(watched.browser, shop)
    colleague.sign_in(staff, f"/agent-actions/{call['publicId']}")
    keys = Keys(colleague)
    keys.press("a")
    colleague.page.wait_for_selector("dialog[open] .primary:focus")
    keys.press("Enter")
    colleague.page.wait_for_selector("dialog[open] input[type=password]:focus")
    keys.type(staff[1])
    keys.press("Enter")
    colleague.page.wait_for_selector(".toast.done:has-text('executed')")
    keys.within(4)
    colleague.expect_error("status of 422")
    found = colleague.problems()
    colleague.context.close()
    assert not found, found
    assert shop.call("GET", f"/api/agent-actions/{call['publicId']}")["agentAction"]["state"] == "executed"


def stop_all_agents(watched, shop):
    watched.go("/")
    keys = Keys(watched)
    for action, stopped in (("Stop all agents", True), ("Let agents write again", False)):
        if stopped:
            keys.choose("Policy", "Policy for agents")
            watched.page.wait_for_selector("h1:has-text('Policy for agents')")
            watched.settle()
        keys.choose(action, action)
        watched.page.wait_for_selector("dialog[open] .dialog-foot .button:focus")
        keys.press("Enter")
        watched.page.wait_for_selector(f"main .list .badge.{'bad' if stopped else 'good'}:has-text('{'Stopped' if stopped else 'Working'}')")
        assert shop.call("GET", "/api/agent-policy")["agentPolicy"]["refuses_writes"] == stopped
    keys.within(11)


def two_people_edit_one_record(watched, shop):
    task = shop.call("POST", "/api/tasks", {"title": "Call back", "description": "first"})["task"]["id"]
    watched.go(f"/tasks/{task}")
    watched.page.fill("textarea[name=description]", "mine")
    shop.call("PUT", f"/api/tasks/{task}", {"title": "Call back today", "description": "theirs"})
    watched.page.keyboard.press("Control+s")
    watched.page.wait_for_selector("dialog .merge")
    watched.shot("daily-merge")
    watched.page.click("dialog .merge-choice >> nth=0")
    watched.page.click("dialog .dialog-foot .primary")
    watched.page.wait_for_selector("h1:has-text('Call back today')")
    found = shop.call("GET", f"/api/tasks/{task}")["task"]
    assert (found["title"], found["description"]) == ("Call back today", "mine"), found
    watched.expect_error("status of 412")


def an_ended_session_loses_nothing(watched, shop):
    task = shop.call("POST", "/api/tasks", {"title": "Count the tea"})["task"]["id"]
    watched.go(f"/tasks/{task}")
    watched.page.fill("input[name=title]", "Count the tea and the coffee")
    shop.call("POST", "/api/user/logout", {"from_all_devices": True})
    watched.page.keyboard.press("Control+s")
    watched.page.wait_for_selector("dialog input[type=password]")
    watched.shot("daily-session")
    shop.token = watched.give_password("dialog input[type=password]", shop.owner)
    watched.page.wait_for_selector("h1:has-text('coffee')")
    assert shop.call("GET", f"/api/tasks/{task}")["task"]["title"] == "Count the tea and the coffee"
    watched.expect_error("status of 401")


# The last one ends the session that the others share.
TASKS = (ship_the_oldest_paid_order, refund_a_unit, cancel_an_order, correct_twenty_figures, search_everywhere, edit_a_card, raise_prices_in_bulk,
         import_a_sheet, add_a_customer, invite_a_colleague, read_the_figures_of_today, print_the_slip_of_an_order, print_the_slips_of_two_orders,
         upload_view_and_delete_a_file, pick_photos_of_an_item, attach_a_file_to_an_order_and_delete_it, comment_on_an_order,
         correct_a_figure_with_its_reason, read_who_changed_a_slide_and_a_payment_type, share_a_view_by_its_link, approve_an_agent,
         approve_a_call_of_an_agent, refuse_a_call_whose_record_has_changed, approve_a_call_after_a_new_login, stop_all_agents,
         two_people_edit_one_record, find_out_why_a_subscription_is_unpaid, an_ended_session_loses_nothing)


def run(watched, shop):
    problems = []
    watched.as_owner()
    for task in TASKS:
        try:
            task(watched, shop)
        except Exception as failure:  # The next task is tried as well.
            watched.shot(f"failed-{task.__name__}")
            problems.append(f"{task.__name__}: {str(failure)[:400]}")
            watched.page.keyboard.press("Escape")
        problems += [f"{task.__name__}: {one}" for one in watched.problems()]
    return problems
