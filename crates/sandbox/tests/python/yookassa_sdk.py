"""Drives the sandbox's acquirer with the official Python SDK (yookassa 3.13.0).

Usage: python3 yookassa_sdk.py SANDBOX_URL SHOP_ID SECRET_KEY
"""

import json
import sys
import urllib.request
import uuid

from yookassa import Configuration, Payment, PaymentMethod, Refund, Settings
from yookassa.domain.exceptions import BadRequestError, InternalServerError, NotFoundError, UnauthorizedError

url, shop_id, secret_key = sys.argv[1:4]


def login(key):
    Configuration.configure(shop_id, key, api_url=url + "/v3")


def control(path, **body):
    """Makes the sandbox act for the payer and the bank."""
    request = urllib.request.Request(
        f"{url}/control/{path}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def payer(kind, object_id, **act):
    """Lets the payer act on a payment or a payment method."""
    return control(f"{kind}/{object_id}", **act)


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


# What recurring charges of a shop consist of, an idea per function.

# By class: the method is never charged again, the customer must act, or it is tried again later.
DECLINES = {
    "never_again": [
        "card_expired",
        "permission_revoked",
        "payment_method_restricted",
        "invalid_card_number",
        "country_forbidden",
        "fraud_suspected",
    ],
    "customer_must_act": ["3d_secure_failed", "identification_required", "call_issuer"],
    "later": [
        "insufficient_funds",
        "payment_method_limit_exceeded",
        "issuer_unavailable",
        "internal_timeout",
        "general_decline",
    ],
}


def saved_card(**act):
    """A method that was saved with a payment."""
    first = Payment.create(order(save_payment_method=True), str(uuid.uuid4()))
    assert first.status == "pending" and not first.paid
    payer("payments", first.id, outcome="succeed", **act)
    method = Payment.find_one(first.id).payment_method
    assert method.saved and method.card.last4, dict(method)
    return method.id


def direct(method, *steps):
    """What happens to the next charges of a saved method."""
    control(f"payment_methods/{method}/script", steps=list(steps))


def renewal(method, key=None):
    """Charges a saved method, as a renewal does: the payer is not there, so there is no confirmation."""
    body = {
        "amount": {"value": "490.00", "currency": "RUB"},
        "capture": True,
        "payment_method_id": method,
        "description": "Club, period 2",
        "metadata": {"period": "2"},
    }
    return Payment.create(body, key or str(uuid.uuid4()))


def a_saved_card_is_charged_without_its_payer():
    method = saved_card(card="4111111111111111")
    paid = renewal(method)
    assert paid.status == "succeeded" and paid.paid and paid.confirmation is None
    assert paid.payment_method.id == method and paid.payment_method.card.last4 == "1111"
    assert Payment.find_one(paid.id).metadata["period"] == "2"


def every_decline_tells_its_reason():
    for reasons in DECLINES.values():
        for reason in reasons:
            method = saved_card()
            direct(method, {"outcome": "decline", "reason": reason})
            declined = renewal(method)
            assert declined.status == "canceled" and not declined.paid, reason
            details = declined.cancellation_details
            assert (details.reason, details.party) == (reason, "payment_network"), dict(details)
            # The script was of one step: what it is worth to try again is for the shop to know.
            assert renewal(method).status == "succeeded", reason


def a_renewal_may_be_under_way_for_long():
    method = saved_card()
    direct(method, {"outcome": "pending", "after_seconds": 7_200, "then": "succeed"})
    pending = renewal(method)
    assert pending.status == "pending" and not pending.paid
    control("clock", advance_seconds=7_199)
    assert Payment.find_one(pending.id).status == "pending"
    control("clock", advance_seconds=1)
    paid = Payment.find_one(pending.id)
    assert paid.status == "succeeded" and paid.paid and paid.captured_at is not None


def a_renewal_that_was_under_way_may_be_declined():
    method = saved_card()
    direct(method, {"outcome": "pending", "after_seconds": 60, "then": "decline", "reason": "insufficient_funds"})
    pending = renewal(method)
    control("clock", advance_seconds=60)
    declined = Payment.find_one(pending.id)
    assert (declined.status, declined.cancellation_details.reason) == ("canceled", "insufficient_funds")


def a_card_is_bound_by_a_small_payment_that_goes_back():
    small = {"amount": {"value": "1.00", "currency": "RUB"}, "save_payment_method": True}
    binding = Payment.create(order(**small), str(uuid.uuid4()))
    payer("payments", binding.id, outcome="succeed", card="4111111111111111")
    bound = Payment.find_one(binding.id)
    give_back, key = {"payment_id": bound.id, "amount": small["amount"]}, str(uuid.uuid4())
    back = Refund.create(give_back, key)
    assert back.status == "succeeded" and Refund.create(give_back, key).id == back.id
    assert str(Payment.find_one(bound.id).refunded_amount.value) == "1.00"
    # Giving the money back takes nothing from the method.
    assert renewal(bound.payment_method.id).status == "succeeded"


def a_card_is_bound_without_a_payment():
    binding = PaymentMethod.create(
        {"type": "bank_card", "confirmation": {"type": "redirect", "return_url": "https://shop.test/bound"}},
        str(uuid.uuid4()),
    )
    payer("payment_methods", binding.id, outcome="succeed")
    assert renewal(binding.id).status == "succeeded"


def a_method_may_be_revoked_at_the_bank():
    method = saved_card()
    payer("payment_methods", method, outcome="revoke")
    for _ in range(2):
        refused_by_bank = renewal(method)
        assert refused_by_bank.status == "canceled"
        assert refused_by_bank.cancellation_details.reason == "permission_revoked"


def one_key_is_one_renewal():
    method, key = saved_card(), str(uuid.uuid4())
    direct(method, {"outcome": "decline", "reason": "insufficient_funds"}, {"outcome": "succeed"})
    first, again = renewal(method, key), renewal(method, key)
    assert (first.id, first.status) == (again.id, again.status) and first.status == "canceled"
    other = renewal(method)
    assert other.id != first.id and other.status == "succeeded", "the repetition used up no step"


def an_answer_that_is_lost_is_found_by_its_key():
    method, key = saved_card(), str(uuid.uuid4())
    direct(method, {"outcome": "succeed", "fault": "http_500_after_commit"})
    try:
        renewal(method, key)
        raise AssertionError("no answer was expected")
    except InternalServerError:
        pass
    found = renewal(method, key)
    paid = [item.id for item in Payment.list({"limit": 2}).items if item.payment_method.id == method]
    assert found.status == "succeeded" and found.id in paid


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

# Recurring charges.
a_saved_card_is_charged_without_its_payer()
every_decline_tells_its_reason()
a_renewal_may_be_under_way_for_long()
a_renewal_that_was_under_way_may_be_declined()
a_card_is_bound_by_a_small_payment_that_goes_back()
a_card_is_bound_without_a_payment()
a_method_may_be_revoked_at_the_bank()
one_key_is_one_renewal()
an_answer_that_is_lost_is_found_by_its_key()

# Errors.
refused(NotFoundError, "Payment doesn't exist or access denied", lambda: Payment.find_one(str(uuid.uuid4())))
bare = {"amount": {"value": "1.00", "currency": "EUR"}, "confirmation": order()["confirmation"]}
refused(BadRequestError, "Currency code is illegal", lambda: Payment.create(bare, str(uuid.uuid4())))
login("wrong")
refused(UnauthorizedError, "Basic authentication failed", lambda: Payment.find_one(created.id))

print("all steps passed")
