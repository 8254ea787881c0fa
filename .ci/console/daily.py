"""Daily tasks by keyboard alone, each within a budget of keys, and work that must not be lost."""

import time

from browser import Watched, await_login, call, token_of


class Keys:
    """Presses keys and counts them; a typed text counts as one step."""

    def __init__(self, watched):
        self.watched, self.count = watched, 0

    def press(self, *keys):
        for key in keys:
            self.watched.page.keyboard.press(key)
            self.count += 1

    def type(self, text):
        self.watched.page.keyboard.type(text)
        self.count += 1


def paid_order(kontor, token):
    """Creates a paid order by hand and returns its number."""
    customer = call(kontor, "POST", "/api/counterparties", token, {"is_company": False, "first_name": "Anna", "last_name": "Petersen"})["counterparty"]["id"]
    stock = call(kontor, "GET", "/api/inventories?per_page=1&quantity_gt=5&order_by=quantity_desc", token)["inventories"][0]
    order = call(kontor, "POST", "/api/orders", token, {"counterparty_id": customer, "delivery_type_id": 1, "shop_id": 1, "products": [{"id": stock["nomenclature"]["id"], "quantity": 2}]})["order"]
    call(kontor, "POST", f"/api/orders/{order['id']}/record-payment", token, {"method": "cash"})
    return order["id"]


def oldest_paid(kontor, token):
    return call(kontor, "GET", "/api/orders?status_id=22&order_by=id_asc&per_page=1", token)["orders"][0]["id"]


def ship_the_oldest_paid_order(watched, kontor, token):
    paid_order(kontor, token)
    order = oldest_paid(kontor, token)
    watched.go("/")
    keys = Keys(watched)
    keys.press("g", "o")
    watched.page.wait_for_selector("[role=grid] tbody tr:focus")
    keys.press("i")
    watched.page.wait_for_selector("dialog[open]")
    keys.press("Enter")
    watched.page.wait_for_selector(f".toast.done:has-text('{order}')")
    assert call(kontor, "GET", f"/api/orders/{order}", token)["order"]["status"]["id"] == 5
    assert keys.count <= 4, keys.count


def refund_a_unit(watched, kontor, token):
    order = paid_order(kontor, token)
    watched.go("/")
    keys = Keys(watched)
    keys.press("Control+k")
    watched.page.wait_for_selector("dialog[open] input:focus")
    keys.type(str(order))
    watched.page.wait_for_selector(f"[role=option][aria-selected=true]:has-text('{order}')")
    keys.press("Enter")
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
    found = call(kontor, "GET", f"/api/orders/{order}", token)["order"]
    assert found["refunds"][0]["reason"] == "Dented" and float(found["refunded_amount"]) > 0, found["refunds"]
    assert keys.count <= 10, keys.count


def correct_twenty_figures(watched, kontor, token):
    levels = [one for one in call(kontor, "GET", "/api/inventories?per_page=100", token)["inventories"] if one["nomenclature"]["article"]]
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
    watched.until(f"document.querySelectorAll('tbody tr').length >= {len(levels)} && !document.querySelector('main .pager .primary[disabled]')")
    watched.settle()
    time.sleep(1)
    keys.press("Control+s")
    watched.page.wait_for_selector(".toast:has-text('corrected')")
    watched.shot("daily-stock")
    assert time.monotonic() - start <= 30
    for number, quantity in wanted.items():
        assert call(kontor, "GET", f"/api/inventories/{number}", token)["inventory"]["quantity"] == quantity, number
    assert keys.count <= 4, keys.count


def approve_an_agent(watched, kontor, token):
    request = call(kontor, "POST", "/api/agent-access-requests", body={"name": "Reporter", "reason": "Weekly report", "permissions": ["view-orders", "view-tasks"]})
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
    watched.page.wait_for_selector("h1:has-text('Reporter') + .badge, .facts:has-text('Project Owner')")
    status = call(kontor, "POST", f"/api/agent-access-requests/{request['publicId']}/status", body={"secret": request["secret"]})
    assert status["status"] == "approved", status


def two_people_edit_one_record(watched, kontor, token):
    brand = call(kontor, "POST", "/api/tasks", token, {"title": "Call back", "description": "first"})["task"]["id"]
    watched.go(f"/tasks/{brand}")
    watched.page.fill("textarea[name=description]", "mine")
    call(kontor, "PUT", f"/api/tasks/{brand}", token, {"title": "Call back today", "description": "theirs"})
    watched.page.keyboard.press("Control+s")
    watched.page.wait_for_selector("dialog .merge")
    watched.shot("daily-merge")
    watched.page.click("dialog .merge-choice >> nth=0")
    watched.page.click("dialog .dialog-foot .primary")
    watched.page.wait_for_selector("h1:has-text('Call back today')")
    task = call(kontor, "GET", f"/api/tasks/{brand}", token)["task"]
    assert (task["title"], task["description"]) == ("Call back today", "mine"), task
    watched.errors[:] = [one for one in watched.errors if "412" not in one]


def an_ended_session_loses_nothing(watched, kontor, token, staff):
    watched.go("/")
    task = call(kontor, "POST", "/api/tasks", token, {"title": "Count the tea"})["task"]["id"]
    watched.go(f"/tasks/{task}")
    watched.page.fill("input[name=title]", "Count the tea and the coffee")
    call(kontor, "POST", "/api/user/logout", token, {"from_all_devices": True})
    watched.page.keyboard.press("Control+s")
    watched.page.wait_for_selector("dialog input[type=password]")
    watched.shot("daily-session")
    await_login()
    watched.page.fill("dialog input[type=password]", staff[1])
    watched.page.keyboard.press("Enter")
    watched.page.wait_for_selector("h1:has-text('coffee')")
    assert call(kontor, "GET", f"/api/tasks/{task}", token_of(kontor, staff))["task"]["title"] == "Count the tea and the coffee"
    watched.errors[:] = [one for one in watched.errors if "401" not in one]


def run(browser, kontor, staff):
    problems = []
    watched = Watched(browser, kontor)
    watched.sign_in(staff)
    token = token_of(kontor, staff)
    for test in (ship_the_oldest_paid_order, refund_a_unit, correct_twenty_figures, approve_an_agent, two_people_edit_one_record):
        try:
            test(watched, kontor, token)
        except Exception as failure:  # The next task is tried as well.
            watched.shot(f"failed-{test.__name__}")
            problems.append(f"{test.__name__}: {str(failure)[:400]}")
            watched.page.keyboard.press("Escape")
        problems += [f"{test.__name__}: {one}" for one in watched.problems()]
    try:
        an_ended_session_loses_nothing(watched, kontor, token, staff)
    except Exception as failure:
        watched.shot("failed-session")
        problems.append(f"an_ended_session_loses_nothing: {str(failure)[:400]}")
    problems += [f"session: {one}" for one in watched.problems()]
    watched.context.close()
    return problems
