//! Guided tour by copy and paste, and the text of the landing page with it.

use kontor_html::{escape, rows};

use super::DemoFile;

/// Returns shell commands in order: from the first request to the paid order, the received webhook, a refund, a
/// subscription, and other content of a shop. They need `sh` and `curl`.
pub fn tour(file: &DemoFile) -> String {
    let DemoFile { base_url, sandbox_url, application_id, app_token, docs_url, .. } = file;
    let (phone, hook) = (&file.customer.phone, &file.webhook.hook_id);
    let (login, password) = (&file.staff.login, &file.staff.password);
    format!(
        r#"# Staff console: {base_url}/console/ (login {login}, password {password})
# Interactive API reference: {docs_url}
# Paste the commands below into another terminal, one by one or all at once.

API={base_url}; SANDBOX={sandbox_url}; APP='Token: {app_token}'; JSON='Content-Type: application/json'

# 1. List products. No login is needed.
curl -s -w '\n' "$API/api/counterparty/products?per_page=3" -H "$APP"

# 2. Log in. The sandbox receives a call; the code is the end of the calling number.
curl -s -w '\n' "$API/api/counterparty/send_password" -H "$APP" -H "$JSON" -d '{{"phone":"{phone}"}}'
CODE=$(curl -s "$SANDBOX/control/messages?to={phone}" | grep -o '"code":"[0-9]*"' | head -n 1 | grep -o '[0-9]*')
TOKEN=$(curl -s "$API/api/counterparty/login" -H "$APP" -H "$JSON" -d '{{"phone":"{phone}","password":"'$CODE'"}}' | grep -o '[0-9]*|[A-Za-z0-9]*' | head -n 1)

# 3. Calculate a cart with a promo code.
PRODUCT=$(curl -s -G "$API/api/counterparty/products" --data-urlencode "query=mug" -H "$APP" | grep -o '"id":[0-9]*,"name":"Stoneware mug' | grep -o '[0-9]*' | head -n 1)
CART='"products":[{{"id":'$PRODUCT',"quantity":2}}],"promo_code":"HANSE10"'
curl -s -w '\n' "$API/api/counterparty/orders/precalculate" -H "$APP" -H "$JSON" -d "{{$CART}}"

# 4. Place an order: delivery by courier, payment by card.
ORDER=$(curl -s "$API/api/counterparty/orders" -H "$APP" -H "Authorization: Bearer $TOKEN" -H "$JSON" -d "{{$CART,\"delivery_type_id\":2,\"delivery_subtype_id\":2,\"address\":\"Elbe Street 5\",\"payment_method_type\":\"bank_card\"}}")
echo "$ORDER"

# 5. Pay: open the payment_link in a browser, or let the sandbox pay.
PAYMENT=$(curl -s "$SANDBOX/control/payments" | grep -o '"id":"[^"]*"' | head -n 1 | cut -d'"' -f4)
curl -s -w '\n' "$SANDBOX/control/payments/$PAYMENT" -H "$JSON" -d '{{"outcome":"succeed"}}'
sleep 2

# 6. The order is paid (status 22), and the shop's backend has received a signed webhook.
curl -s -w '\n' "$API/api/counterparty/orders" -H "$APP" -H "Authorization: Bearer $TOKEN"
curl -s -w '\n' "$SANDBOX/control/hooks/{hook}"

# 7. Read the order as an employee.
STAFF=$(curl -s "$API/api/login" -H "$JSON" -d '{{"login":"{login}","password":"{password}"}}' | grep -o '[0-9]*|[A-Za-z0-9]*' | head -n 1)
curl -s -w '\n' "$API/api/tables/orders" -H "Authorization: Bearer $STAFF"

# 8. Refund a broken mug: first a dry run, then the refund. The acquirer refunds the money; the mug is written off.
ID=$(echo "$ORDER" | grep -o '"order":{{"id":[0-9]*' | grep -o '[0-9]*$')
LINE=$(curl -s "$API/api/orders/$ID" -H "Authorization: Bearer $STAFF" | grep -o '"reservations":\[{{"id":[0-9]*' | grep -o '[0-9]*$')
BACK='{{"lines":[{{"id":'$LINE',"quantity":1}}],"reason":"broken","restock":false}}'
curl -s -w '\n' "$API/api/orders/$ID/request-refund?dry_run=1" -H "Authorization: Bearer $STAFF" -H "$JSON" -d "$BACK"
curl -s -w '\n' "$API/api/orders/$ID/request-refund" -H "Authorization: Bearer $STAFF" -H "$JSON" -d "$BACK"
sleep 2
curl -s "$API/api/orders/$ID" -H "Authorization: Bearer $STAFF" | grep -o '"refunds":\[[^]]*\]'

# 9. Subscribe to a plan, pay, and advance the clock by a month: two payments. docs/guides/subscriptions.sh continues here.
CUSTOMER="Authorization: Bearer $TOKEN"; CLUB="$API/api/counterparty/subscriptions"
PLAN=$(curl -s "$API/api/counterparty/subscription-plans" -H "$APP" -H "$CUSTOMER" | grep -o '"nomenclature_id":[0-9]*' | head -n 1 | grep -o '[0-9]*')
curl -s -w '\n' "$CLUB/checkout" -H "$APP" -H "$CUSTOMER" -H "$JSON" -d '{{"nomenclature_id":'$PLAN',"autopay_consent":true}}'
PAYMENT=$(curl -s "$SANDBOX/control/payments" | grep -o '"id":"[^"]*"' | head -n 1 | cut -d'"' -f4)
curl -s -w '\n' "$SANDBOX/control/payments/$PAYMENT" -H "$JSON" -d '{{"outcome":"succeed"}}'
curl -s -w '\n' "$SANDBOX/control/clock" -H "$JSON" -d '{{"advance_seconds":2678400}}'
SUBSCRIPTION=$(curl -s "$CLUB" -H "$APP" -H "$CUSTOMER" | grep -o '"id":[0-9]*' | head -n 1 | grep -o '[0-9]*')
curl -s -w '\n' "$CLUB/$SUBSCRIPTION/payments" -H "$APP" -H "$CUSTOMER"

# 10. Create a public page, which is cleaned of scripts, and a menu with a link to it.
OFFICE="Authorization: Bearer $STAFF"
PAGE=$(curl -s "$API/api/pages" -H "$OFFICE" -H "$JSON" -d '{{"title":"How tea is graded","content":"<p>FTGFOP and others.<script>alert(1)</script></p>","page_type_id":2}}' | grep -o '"slug":"[^"]*"' | cut -d'"' -f4)
curl -s -w '\n' "$API/api/counterparty/pages/$PAGE" -H "$APP"
MENU=$(curl -s "$API/api/applications/{application_id}/menu_items" -H "$OFFICE" -H "$JSON" -d '{{"code":100,"name":"Top","slug":"navpanel"}}' | grep -o '"id":[0-9]*' | head -n 1 | grep -o '[0-9]*')
curl -s -w '\n' "$API/api/applications/{application_id}/menu_items" -H "$OFFICE" -H "$JSON" -d '{{"code":110,"name":"Tea guide","slug":"'$PAGE'","parent_id":'$MENU'}}'
curl -s -w '\n' "$API/api/counterparty/menus" -H "$APP"

# 11. Set opening hours, check if the shop is open now, and create a task for the order.
SHOP=$(curl -s "$API/api/counterparty/shops" -H "$APP" | grep -o '"id":[0-9]*' | head -n 1 | grep -o '[0-9]*')
for DAY in 1 2 3 4 5 6 7; do curl -s -w '\n' "$API/api/shops/$SHOP/hours" -H "$OFFICE" -H "$JSON" -d '{{"weekday":'$DAY',"opens_at":"10:00","closes_at":"02:00"}}'; done
curl -s -w '\n' "$API/api/shops/$SHOP" -H "$OFFICE"
curl -s -w '\n' "$API/api/tasks" -H "$OFFICE" -H "$JSON" -d '{{"title":"Call about the broken mug","order_id":'$ID'}}'
curl -s -w '\n' "$API/api/tables/tasks" -H "$OFFICE"
"#
    )
}

/// Returns the credentials, the sandbox links and the tour as markup.
pub fn welcome(file: &DemoFile) -> String {
    let credentials = [
        (file.app_token.as_str(), "Application token: the `Token` header of every client request"),
        (&file.customer.phone, "Phone of a customer; the mailbox shows the login code"),
        (&file.staff.login, "Login of an employee with all permissions"),
        (&file.staff.password, "Password of the employee"),
    ];
    let sandbox = escape(&file.sandbox_url);
    format!(
        "<h2>Demo</h2><p>A <a href=\"{sandbox}/\">sandbox</a> emulates all providers: payments, calls, SMS and e-mails do \
         not leave it. The <a href=\"{sandbox}/mailbox\">mailbox</a> shows every code.</p>\
         <h2>Credentials</h2><table>{}</table>\
         <h2>Tour</h2><p>Paste the commands into a terminal, one by one or all at once.</p><pre tabindex=\"0\">{}</pre>",
        rows(credentials),
        escape(&tour(file))
    )
}
