"""Judges signed contacts with an independent verifier (aioscam 0.2.2).

Usage: python3 max_contacts.py BOT_TOKEN < CASES
CASES is a JSON list of {phone, auth_date, hash, init_data}; the answer is a JSON list of true and false.
"""

import json
import sys

from aioscam.webapp import WebAppDataError, validate_contact, validate_init_data

token = sys.argv[1]


def accepted(case):
    try:
        started = validate_init_data(case["init_data"], token, max_age=3600)
        if started.user is None:
            return False
        validate_contact(case["phone"], case["auth_date"], case["hash"], started.user.id, token)
    except WebAppDataError:
        return False
    return True


print(json.dumps([accepted(case) for case in json.load(sys.stdin)]))
