"""Verifies a delivery with the official Stripe library, which signs the same text: timestamp + "." + body.

Usage: stripe_verify.py SECRET TIMESTAMP SIGNATURE < BODY
where TIMESTAMP is the header X-Webhook-Timestamp and SIGNATURE the header X-Signature.
"""

import sys
import time
from unittest import mock

import stripe

secret, timestamp, signature = sys.argv[1:]
body = sys.stdin.buffer.read().decode()
digest = signature.removeprefix("sha256=")


def verify(body=body, timestamp=timestamp, secret=secret):
    header = f"t={timestamp},v1={digest}"
    return stripe.WebhookSignature.verify_header(body, header, secret, tolerance=300)


def refused(what, **changed):
    try:
        verify(**changed)
    except stripe.SignatureVerificationError:
        print(f"refused: {what}")
    else:
        sys.exit(f"accepted: {what}")


assert verify()
print("accepted: the delivery as it was sent")
refused("another body", body=body + " ")
refused("another secret", secret=secret + "x")
refused("another time", timestamp=str(int(timestamp) + 1))
an_hour_later = time.time() + 3600
with mock.patch("time.time", return_value=an_hour_later):
    refused("the same delivery an hour later")
print("all steps passed")
