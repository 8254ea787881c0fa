#!/bin/sh
# A year of a subscription in seconds, beside `kontor demo`. DEMO names its demo.json. Needs curl.
DEMO=${DEMO:-kontor-demo/demo.json}; JSON='Content-Type: application/json'
read_demo() { grep -o "\"$1\": \"[^\"]*\"" "$DEMO" | head -n 1 | cut -d'"' -f4; }
API=$(read_demo base_url); SANDBOX=$(read_demo sandbox_url); APP="Token: $(read_demo app_token)"; PHONE=$(read_demo phone)
SUBSCRIPTIONS=$API/api/counterparty/subscriptions
post() { url=$1; body=$2; shift 2; curl -s -w '\n' "$url" -H "$JSON" -d "$body" "$@"; }
mine() { curl -s -w '\n' "$SUBSCRIPTIONS$1" -H "$APP" -H "$AUTH"; }
status() { mine | grep -o '"status":"[a-z_]*"' | head -n 1; }
move() { post "$SANDBOX/control/clock" "{\"advance_seconds\":$(($1 * 86400))}"; }
number() { grep -o "\"$1\":[0-9]*" | head -n 1 | grep -o '[0-9]*$'; }
newest_payment() { curl -s "$SANDBOX/control/payments?limit=1" | grep -o '"id":"[^"]*"' | head -n 1 | cut -d'"' -f4; }

# 1. Sign in: the phone rings in the sandbox, the code is the end of the calling number.
post "$API/api/counterparty/send_password" "{\"phone\":\"$PHONE\"}" -H "$APP"
CODE=$(curl -s "$SANDBOX/control/messages?to=$PHONE" | grep -o '"code":"[0-9]*"' | head -n 1 | grep -o '[0-9]*')
AUTH="Authorization: Bearer $(post "$API/api/counterparty/login" "{\"phone\":\"$PHONE\",\"password\":\"$CODE\"}" -H "$APP" | grep -o '[0-9]*|[A-Za-z0-9]*' | head -n 1)"

# 2. Check out, and pay at the acquirer (payment_link in a browser), or let the sandbox pay.
PLAN=$(curl -s "$API/api/counterparty/subscription-plans" -H "$APP" -H "$AUTH" | number nomenclature_id)
post "$SUBSCRIPTIONS/checkout" "{\"nomenclature_id\":$PLAN,\"autopay_consent\":true}" -H "$APP" -H "$AUTH"
CARD=$(newest_payment)
post "$SANDBOX/control/payments/$CARD" '{"outcome":"succeed"}'
move 0
ID=$(mine | number id)
echo "paid: $(status)"

# 3. What would 100 days charge? Then 31 days three times: three renewals.
post "$SANDBOX/control/clock" '{"advance_seconds":8640000,"dry_run":true}'
move 31; move 31; move 31
echo "renewed: $(mine "/$ID/payments" | grep -o '"status":"succeeded"' | wc -l) payments, $(status)"

# 4. The bank declines from now on. A month later the subscription is past due, and tries follow on several days.
post "$SANDBOX/control/payment_methods/$CARD/script" '{"steps":[{"outcome":"decline","reason":"insufficient_funds","times":null}]}'
move 31; move 3
echo "declined: $(mine "/$ID/payments" | grep -o '"status":"failed"' | wc -l) tries, $(status)"

# 5. Another card, entered at the acquirer. It is charged the next day: there is one planned try a day.
post "$SUBSCRIPTIONS/$ID/payment-method-change" '{"autopay_consent":true}' -H "$APP" -H "$AUTH"
post "$SANDBOX/control/payments/$(newest_payment)" '{"outcome":"succeed","card":"4111111111111111"}'
move 2
echo "another card: $(status)"

# 6. Cancel: nothing is charged any more, and there is no access. Resume, and it goes on.
post "$SUBSCRIPTIONS/$ID/cancel" '{}' -H "$APP" -H "$AUTH"
echo "canceled: $(status)"
post "$SUBSCRIPTIONS/$ID/resume" '{"autopay_consent":true}' -H "$APP" -H "$AUTH"
move 1
echo "resumed: $(status)"
