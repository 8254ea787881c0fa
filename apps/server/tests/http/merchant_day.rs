//! A merchant's day: everything that happens to orders from the first form to the deletion of the customer, over
//! HTTP.

use kontor::instance::Roles;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::ProjectId;
use kontor_payments::model::{ReceiptTerms, TaxSystem, VatCode};
use kontor_payments::ports::ReceiptSettings;
use reqwest::Method;
use serde_json::{Value, json};

use crate::process::PATIENCE;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

struct Day {
    shop: ShopFixture,
    owner: String,
    vase: i64,
    ticket: i64,
}

impl Day {
    async fn begins(db: TestDatabase) -> Self {
        let shop = ShopFixture::open_as(db, Roles::Both).await;
        let terms = ReceiptTerms { tax_system: TaxSystem::new(1).ok(), default_vat: VatCode::new(4).unwrap() };
        let project = ProjectId::new(shop.project.id).unwrap();
        assert!(shop.server.db.database.set_receipt_terms(project, Some(terms)).await.unwrap());
        shop.control("/acquirer", json!({ "cancels_unpaid": true })).await;
        let (vase, ticket) = (shop.goods(9, 33_333).await, shop.goods(9, 50_000).await);
        shop.server.execute(&format!("UPDATE nomenclatures SET type_id = 6 WHERE id = {ticket}")).await;
        // Derive the read models of the records that were written directly.
        shop.server.db.database.migrate().unwrap();
        shop.server.db.database.rebuild_offers().await.unwrap();
        let owner = shop.server.owner(&shop.project).await;
        Self { shop, owner, vase, ticket }
    }

    async fn staff(&self, method: Method, path: &str, body: Value) -> Answer {
        send(self.shop.server.as_staff(&self.owner, method, path).json(&body)).await
    }

    async fn seen(&self, order: &Value) -> Value {
        self.staff(Method::GET, &format!("/api/orders/{order}"), json!({})).await.expect(200)["order"].clone()
    }

    async fn moved(&self, order: &Value, status: i64) -> Value {
        let body = json!({ "status_id": status });
        self.staff(Method::PUT, &format!("/api/orders/{order}"), body).await.expect(200)["order"].clone()
    }

    async fn refund(&self, order: &Value, body: Value) -> Answer {
        self.staff(Method::POST, &format!("/api/orders/{order}/request-refund"), body).await
    }

    /// Returns `event (who)` of an order's history, oldest first, and the whole history.
    async fn history(&self, order: &Value) -> (Vec<String>, Vec<Value>) {
        let reported = self.staff(Method::GET, &format!("/api/orders/{order}/history"), json!({})).await.expect(200);
        let mut lines = reported["histories"].as_array().unwrap().clone();
        assert_eq!(reported["historiesCount"], json!(lines.len()));
        lines.reverse();
        let who = |line: &Value| match (line["user"].is_object(), line["counterparty"].is_object()) {
            (true, _) => "staff",
            (_, true) => "customer",
            _ => "service",
        };
        (lines.iter().map(|line| format!("{} ({})", line["event"].as_str().unwrap(), who(line))).collect(), lines)
    }

    async fn until(&self, what: &str) {
        let until = std::time::Instant::now() + PATIENCE;
        while self.shop.count(what).await == 0 {
            retry_until!(until, "never: {what}");
        }
    }

    /// Returns the reserved vases, and those in the warehouse.
    async fn vases(&self) -> (i64, i64) {
        let of = |column: &str| format!("SELECT {column} AS id FROM inventories WHERE nomenclature_id = {}", self.vase);
        (self.shop.server.insert(of("reserved")).await, self.shop.server.insert(of("quantity")).await)
    }
}

/// Returns the change of a field in a history entry.
fn change(line: &Value, field: &str) -> (Value, Value) {
    let changes = line["changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["field"] == field).unwrap_or_else(|| panic!("{field}: {line}"));
    (change["old"].clone(), change["new"].clone())
}

database_tests! {
    async fn a_merchants_day_adds_up(db: TestDatabase) {
        let day = Day::begins(db).await;
        let shop = &day.shop;

        // Morning: a form of a new customer, and a call of a known one.
        let form = json!({ "first_name": "Анна", "last_name": "Петрова", "phone": "+7 900 555-02-01", "address": "Невский 1",
            "payment_type_id": shop.payment_type, "products": [{ "id": day.vase, "quantity": 1 }] });
        let path = "/api/counterparty/contact_form";
        let formed = send(shop.server.as_app(&shop.project, Method::POST, path).json(&form)).await.expect(201)["order"]["id"].clone();
        let customer = shop.own("").await.expect(200);
        assert_eq!(customer["ordersCount"], 0);
        let mut called = shop.pickup(day.vase, 1);
        called["counterparty_id"] = json!(shop.customer);
        called["application_id"] = json!(shop.project.application_id);
        called["comment"] = json!("rings twice");
        let called = day.staff(Method::POST, "/api/orders", called).await.expect(201)["order"]["id"].clone();

        // They add a unit and pay in cash at pickup; then they return one undamaged.
        let line = day.seen(&called).await["reservations"][0]["id"].clone();
        let path = format!("/api/orders/{called}/nomenclatures/{line}");
        day.staff(Method::PUT, &path, json!({ "quantity": 2 })).await.expect(200);
        assert_eq!(day.vases().await, (3, 9));
        day.moved(&called, 22).await;
        day.moved(&called, 5).await;
        assert_eq!(day.vases().await, (1, 7));
        let back = json!({ "lines": [{ "id": line, "quantity": 1 }], "reason": "too big", "restock": true });
        day.refund(&called, back).await.expect(200);
        assert_eq!(day.vases().await, (1, 8));
        let (events, lines) = day.history(&called).await;
        assert_eq!(events, ["created (staff)", "lines_changed (staff)", "status_changed (staff)", "status_changed (staff)", "refund_requested (staff)"]);
        assert_eq!(change(&lines[1], &format!("nomenclatures.{}.quantity", day.vase)), (json!("1"), json!("2")));
        assert_eq!(change(&lines[1], "final_price"), (json!("333.33"), json!("666.66")));
        assert_eq!(change(&lines[2], "status_id"), (json!("1"), json!("22")));
        assert_eq!(change(&lines[4], "refunded_amount"), (json!("0.00"), json!("333.33")));
        assert_eq!(change(&lines[4], &format!("reservations.{line}.refunded_quantity")), (json!("0"), json!("1")));

        // Online: two tickets and two vases; one vase less before the payment.
        let mut wish = shop.online(day.vase);
        wish["products"] = json!([{ "id": day.vase, "quantity": 3 }, { "id": day.ticket, "quantity": 2 }]);
        let online = shop.order(&wish).await.expect(201)["order"]["id"].clone();
        let reserved = day.seen(&online).await["reservations"].as_array().unwrap().clone();
        let of = |item: i64| reserved.iter().find(|line| line["nomenclature"]["id"] == item).unwrap()["id"].clone();
        let (vases, tickets) = (of(day.vase), of(day.ticket));
        let path = format!("/api/orders/{online}/nomenclatures/{vases}");
        day.staff(Method::PUT, &path, json!({ "quantity": 2 })).await.expect(200);
        shop.pays("succeed").await;
        shop.until(online.as_i64().unwrap(), 22).await;
        let paid = day.seen(&online).await;
        assert_eq!((&paid["captured_amount"], &paid["payment_state"]), (&json!("1666.66"), &json!("paid")));

        // One of the vases has a crack: it is refunded before the parcel leaves.
        let crack = json!({ "lines": [{ "id": vases, "quantity": 1 }], "reason": "a crack", "restock": true });
        day.refund(&online, crack).await.expect(200);
        shop.server.clock.advance(3);
        shop.until_refunded(online.as_i64().unwrap(), "333.33").await;
        assert_eq!(day.vases().await, (2, 8));

        // The rest is handed over; the register has the second receipt of the prepaid lines.
        day.moved(&online, 5).await;
        assert_eq!(day.vases().await, (1, 7));
        shop.server.clock.advance(10);
        day.until("receipts WHERE kind = 'hand_over' AND state = 'succeeded'").await;

        // At the door: a ticket is redeemed once only.
        let token = shop.own(&format!("/{online}")).await.expect(200)["order"]["redeem_token"].clone();
        let scan = |name: &str, quantity: i64| json!({ "redeem_token": token, "quantity": quantity, "scan_id": name });
        day.staff(Method::POST, "/api/orders/redeem", scan("first", 1)).await.expect(200);
        day.staff(Method::POST, "/api/orders/redeem", scan("first", 1)).await.expect(200);
        let refused = day.staff(Method::POST, "/api/orders/redeem", scan("second", 2)).await.expect(409);
        assert_eq!(refused["scan"]["outcome"], "too_many", "{refused}");
        day.staff(Method::POST, "/api/orders/redeem", scan("third", 1)).await.expect(200);
        let refused = day.staff(Method::POST, "/api/orders/redeem", scan("fourth", 1)).await.expect(409);
        assert_eq!(refused["error"]["code"], "already_redeemed");

        // The concert was bad. Used tickets stay used, and are refunded. So is the vase, which the customer keeps.
        let pieces = json!({ "lines": [{ "id": tickets, "quantity": 2 }], "reason": "bad", "restock": false });
        assert!(day.refund(&online, pieces).await.expect(422)["errors"].is_object());
        let too_much = json!({ "amount": "1333.34", "reason": "bad", "restock": false });
        assert_eq!(day.refund(&online, too_much).await.expect(422)["errors"]["amount"], json!(["only 1333.33 is left to refund"]));
        day.refund(&online, json!({ "amount": "1333.33", "reason": "bad", "restock": false })).await.expect(200);
        shop.server.clock.advance(3);
        shop.until_refunded(online.as_i64().unwrap(), "1666.66").await;
        let over = day.seen(&online).await;
        assert_eq!((&over["payment_state"], &over["status"]["id"]), (&json!("refunded"), &json!(5)));
        let more = json!({ "amount": "0.01", "reason": "bad", "restock": false });
        assert_eq!(day.refund(&online, more).await.expect(422)["errors"]["amount"], json!(["nothing is left to refund"]));
        let refunded = shop.payments().await;
        assert_eq!(refunded[0]["refunded_amount"]["value"], "1666.66", "{refunded:?}");
        let (events, _) = day.history(&online).await;
        let expected = "created (customer), payment_withdrawn (service), lines_changed (staff), paid (service), \
                        refund_requested (staff), refunded (service), status_changed (staff), tickets_redeemed (staff), \
                        tickets_redeemed (staff), refund_requested (staff), refunded (service)";
        assert_eq!(events.join(", "), expected);

        // The form's order is canceled, and the evening's customer wants a full refund of the morning's order.
        day.moved(&formed, 6).await;
        day.refund(&called, json!({ "everything": true, "reason": "the last one, too", "restock": true })).await.expect(200);
        assert_eq!(day.vases().await, (0, 8));

        // Both accounts are deleted. Their orders stay, anonymized.
        let remark = json!({ "comment": "asked for Анна" });
        day.staff(Method::PUT, &format!("/api/orders/{formed}"), remark).await.expect(200);
        for order in [&formed, &called] {
            let customer = day.seen(order).await["counterparty"]["id"].clone();
            day.staff(Method::DELETE, &format!("/api/counterparties/{customer}"), json!({})).await.expect(200);
        }
        let (events, lines) = day.history(&formed).await;
        assert_eq!(events, ["created (service)", "status_changed (staff)", "changed (staff)"]);
        assert_eq!(change(&lines[2], "comment"), (json!(null), json!(null)));
        let left = day.seen(&formed).await;
        assert_eq!((&left["comment"], &left["counterparty"]["name"]), (&json!(null), &json!("")));
        assert_eq!(day.seen(&called).await["comment"], "rings twice");
        let named = shop.count("order_events WHERE changes LIKE '%Анна%' OR changes LIKE '%Петрова%'").await;
        assert_eq!(named, 0);

        let mut found = Vec::new();
        shop.server.db.database.examine(None, |difference| found.push(difference)).await.unwrap();
        assert!(found.is_empty(), "{found:?}");
    }
}
