"""Drives the sandbox's acquirer with the official Python SDK (yookassa 3.13.0).

Usage: python3 yookassa_sdk.py SANDBOX_URL SHOP_ID SECRET_KEY
"""

import json
import sys
import urllib.request
import uuid

from yookassa import Configuration, Payment, PaymentMethod, Refund, Settings
from yookassa.domain.exceptions import BadRequestError, NotFoundError, UnauthorizedError

url, shop_id, secret_key = sys.argv[1:4]


def login(key):
    Configuration.configure(shop_id, key, api_url=url + "/v3")


def payer(kind, object_id, **act):
    """Lets the payer act on a payment or a payment method."""
    request = urllib.request.Request(
        f"{url}/control/{kind}/{object_id}",
        data=json.dumps(act).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def order(**extra):
    return {
        "amount": {"value": "150.50", "currency": "RUB"},
        "confirmation": {"type": "redirect", "return_url": "https://shop.test/back"},
        "capture": True,
        "description": "Order 72",
        "metadata": {"order_id": "72"},
        **extra,
    }


def refused(error, description, work):
    try:
        work()
    except error as caught:
        assert caught.content["type"] == "error", caught.content
        assert caught.content["description"] == description, caught.content
        return
    raise AssertionError(f"{description!r} was expected")


login(secret_key)
settings = Settings.get_account_settings()
assert settings.account_id == shop_id and settings.status == "enabled", dict(settings)

# Create, get, pay, repeat with the same key.
key = str(uuid.uuid4())
created = Payment.create(order(), key)
assert created.status == "pending" and not created.paid and created.test
assert str(created.amount.value) == "150.50"
assert created.confirmation.confirmation_url.startswith(url)
payer("payments", created.id, outcome="succeed", card="4111111111111111")
paid = Payment.find_one(created.id)
assert paid.status == "succeeded" and paid.paid and paid.refundable
assert paid.payment_method.card.last4 == "1111" and paid.payment_method.card.card_type == "Visa"
assert paid.metadata["order_id"] == "72"
again = Payment.create(order(), key)
assert again.id == created.id and again.status == "succeeded"
refused(BadRequestError, "Duplicate idempotence key", lambda: Payment.create(order(description="other"), key))

# Two stages: capture and cancel.
held = Payment.create(order(capture=False), str(uuid.uuid4()))
payer("payments", held.id, outcome="succeed")
part = {"amount": {"value": "100.00", "currency": "RUB"}}
captured = Payment.capture(held.id, part, str(uuid.uuid4()))
assert captured.status == "succeeded" and str(captured.amount.value) == "100.00"
held = Payment.create(order(capture=False), str(uuid.uuid4()))
payer("payments", held.id, outcome="succeed")
canceled = Payment.cancel(held.id, str(uuid.uuid4()))
assert canceled.status == "canceled" and canceled.cancellation_details.reason == "canceled_by_merchant"

# Refunds.
refund_order = {"payment_id": paid.id, "amount": {"value": "50.50", "currency": "RUB"}}
refund = Refund.create(refund_order, str(uuid.uuid4()))
assert refund.status == "succeeded" and Refund.find_one(refund.id).payment_id == paid.id
assert [item.id for item in Refund.list({"payment_id": paid.id}).items] == [refund.id]
too_much = {"payment_id": paid.id, "amount": {"value": "100.01", "currency": "RUB"}}
refused(BadRequestError, "Refund sum exceeded", lambda: Refund.create(too_much, str(uuid.uuid4())))

# Saved methods: with a payment, and without one.
saving = Payment.create(order(save_payment_method=True), str(uuid.uuid4()))
payer("payments", saving.id, outcome="succeed")
method_id = Payment.find_one(saving.id).payment_method.id
charge = {"amount": {"value": "9.90", "currency": "RUB"}, "capture": True, "payment_method_id": method_id}
charged = Payment.create(charge, str(uuid.uuid4()))
assert charged.status == "succeeded" and charged.payment_method.saved
binding = PaymentMethod.create(
    {"type": "bank_card", "confirmation": {"type": "redirect", "return_url": "https://shop.test/bound"}},
    str(uuid.uuid4()),
)
assert binding.status == "pending" and not binding.saved
payer("payment_methods", binding.id, outcome="succeed")
bound = PaymentMethod.find_one(binding.id)
assert bound.status == "active" and bound.saved and bound.card["last4"] == "4444"

# Lists, page by page.
seen, cursor = [], None
while True:
    page = Payment.list({"limit": 2, **({"cursor": cursor} if cursor else {})})
    seen += [item.id for item in page.items]
    cursor = page.next_cursor
    if not cursor:
        break
assert len(seen) == len(set(seen)) == 5 and seen[-1] == created.id, seen

# Errors.
refused(NotFoundError, "Payment doesn't exist or access denied", lambda: Payment.find_one(str(uuid.uuid4())))
bare = {"amount": {"value": "1.00", "currency": "EUR"}, "confirmation": order()["confirmation"]}
refused(BadRequestError, "Currency code is illegal", lambda: Payment.create(bare, str(uuid.uuid4())))
login("wrong")
refused(UnauthorizedError, "Basic authentication failed", lambda: Payment.find_one(created.id))

print("all steps passed")
