"""Drives the sandbox with the provider's own client, of which only the address is changed."""

import sys

import httpx
from dadata import Dadata

url, key = sys.argv[1:3]


def client(token):
    made = Dadata(token)
    made._suggestions._client.base_url = f"{url}/suggestions/api/4_1/rs/"
    return made


with client(key) as dadata:
    found = dadata.suggest("address", "москва тверская", count=1)
    assert [each["data"]["postal_code"] for each in found] == ["125009"], found
    assert dadata.suggest("address", "no such street") == []
    assert dadata.find_by_id("bank", "044525225")[0]["data"]["swift"] == "SABRRUMMXXX"
    party = dadata.find_by_id("party", "7701234567")[0]
    assert party["value"] == 'ООО "РОМАШКА"' and party["data"]["state"]["status"] == "ACTIVE", party
    assert len(dadata.suggest("party", "ромашка")) == 2

with client("wrong") as dadata:
    try:
        dadata.suggest("party", "ромашка")
    except httpx.HTTPStatusError as error:
        assert error.response.status_code == 403, error
    else:
        raise AssertionError("a wrong key was taken")

print("all steps passed")
