//! Settings of the project.

use futures_util::future::join_all;
use kontor_adapter_diesel::database_tests;
use kontor_kernel::ProjectId;
use kontor_orders::ports::{ContactSettings, DeliverySettings};
use reqwest::Method;
use serde_json::{Value, json};

use crate::keyed::assert_named;
use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

const PATH: &str = "/api/project";

fn tag(answer: &Answer) -> String {
    answer.headers.get("etag").map(|tag| tag.to_str().unwrap().to_owned()).unwrap_or_default()
}

impl ProjectFixture {
    async fn project_settings(&self) -> Value {
        self.get(PATH).await.expect(200)["project"].clone()
    }

    async fn put_settings(&self, if_match: &str, body: Value) -> Answer {
        let request = self.server.as_staff(&self.owner, Method::PUT, PATH).header("If-Match", if_match);
        send(request.json(&body)).await
    }
}

database_tests! {
    async fn settings_apply_at_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let before = fixture.project_settings().await;
        let defaults = json!({
            "id": fixture.project.id, "name": "Trial", "currency": "RUB", "time_zone": "Europe/Moscow", "language": "ru",
            "if_match_required": false, "charges_delivery": false, "contact_max_pieces": 100,
            "contact_max_value": "100000.00", "contact_hold_hours": 72, "created_at": before["created_at"],
        });
        assert_eq!(before, defaults);
        let body = json!({
            "name": "Harbour", "time_zone": "Asia/Kamchatka", "language": "en", "charges_delivery": true,
            "contact_max_pieces": 0, "contact_max_value": "500.00", "contact_hold_hours": 8760, "currency": "EUR",
        });
        let changed = fixture.put(PATH, body.clone()).await.expect(200)["project"].clone();
        for (field, value) in body.as_object().unwrap().iter().filter(|(field, _)| *field != "currency") {
            assert_eq!(changed[field], *value, "{field}");
        }
        assert_eq!((&changed["currency"], &changed["if_match_required"]), (&json!("RUB"), &json!(false)));
        assert_eq!(fixture.project_settings().await, changed);
        let listed = fixture.get("/api/settings").await.expect(200)["settings"].clone();
        let values: Vec<_> = listed.as_array().unwrap().iter().map(|setting| setting["value"].clone()).collect();
        assert_eq!(values, ["Harbour", "RUB", "Asia/Kamchatka", "en"]);
        let (database, project) = (&fixture.server.db.database, ProjectId::new(fixture.project.id).unwrap());
        let contact = database.contact_terms(project).await.unwrap().unwrap();
        let contact = (contact.max_pieces, contact.max_value.to_string(), contact.hold_hours.get());
        assert_eq!(contact, (0, "500.00".to_owned(), 8_760));
        assert!(database.delivery_terms(project).await.unwrap().unwrap().charges_delivery);
        let kept = fixture.put(PATH, json!({})).await.expect(200)["project"].clone();
        assert_eq!(kept, changed, "absent fields keep their values");

        let history = fixture.get("/api/project/history").await.expect(200);
        assert_eq!(history["historiesCount"], 1);
        let entry = &history["histories"][0];
        assert_eq!((&entry["action"], &entry["user"]["name"]), (&json!("changed"), &json!("Anna Kern")));
        let fields: Vec<_> = entry["changes"].as_array().unwrap().iter().map(|change| change["field"].clone()).collect();
        let expected = [
            "name", "time_zone", "language", "charges_delivery", "contact_max_pieces", "contact_max_value",
            "contact_hold_hours",
        ];
        assert_eq!(fields, expected);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let before = fixture.project_settings().await;
        for (wrong, fields) in [
            (json!({ "name": " ", "time_zone": "Moscow", "language": "de" }), vec!["name", "time_zone", "language"]),
            (
                json!({ "if_match_required": "maybe", "charges_delivery": null, "name": null }),
                vec!["if_match_required", "charges_delivery", "name"],
            ),
            (
                json!({ "contact_max_pieces": -1, "contact_max_value": "1.234", "contact_hold_hours": 0 }),
                vec!["contact_max_pieces", "contact_max_value", "contact_hold_hours"],
            ),
            (
                json!({ "contact_max_pieces": 4_294_967_296_i64, "contact_max_value": "-1.00", "contact_hold_hours": 8761 }),
                vec!["contact_max_pieces", "contact_max_value", "contact_hold_hours"],
            ),
            (json!({ "name": "Fine", "contact_hold_hours": 1.5 }), vec!["contact_hold_hours"]),
        ] {
            fixture.put(PATH, wrong).await.expect_invalid(&fields);
        }
        assert_eq!(fixture.project_settings().await, before, "nothing of it was written");
    }

    async fn a_change_is_made_to_the_version_that_was_read(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let first = tag(&fixture.get(PATH).await);
        assert!(first.starts_with(&format!("\"settings-{}-1.", fixture.project.id)), "{first}");
        let writers = (0..4).map(|number| fixture.put_settings(&first, json!({ "name": format!("Project {number}") })));
        let answers = join_all(writers.collect::<Vec<_>>()).await;
        let (done, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
        assert_eq!(done.len(), 1, "one of them read the current version");
        for answer in refused {
            assert_named(&answer, 412, "precondition_failed", "restart");
            assert_eq!(answer.json()["current"]["changed_by"]["name"], "Anna Kern");
        }
        assert_eq!(fixture.project_settings().await, done[0].json()["project"]);
        fixture.put_settings(&tag(&done[0]), json!({ "language": "en" })).await.expect(200);
        // A change by the command line raises the version, too.
        let project = ProjectId::new(fixture.project.id).unwrap();
        let read = tag(&fixture.get(PATH).await);
        assert!(fixture.server.db.database.set_charges_delivery(project, true).await.unwrap());
        assert_named(&fixture.put_settings(&read, json!({})).await, 412, "precondition_failed", "restart");
    }

    async fn charging_settings_share_the_version_and_the_history(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = "/api/subscriptions/settings";
        let read = fixture.get(path).await;
        let put = async |if_match: &str, body: Value| {
            let request = fixture.server.as_staff(&fixture.owner, Method::PUT, path).header("If-Match", if_match);
            send(request.json(&body)).await
        };
        let changed = put(&tag(&read), json!({ "hour": 9, "notice_days": 7 })).await;
        assert_eq!(changed.expect(200), fixture.get(path).await.expect(200));
        let stale = put(&tag(&read), json!({ "hour": 10 })).await;
        assert_named(&stale, 412, "precondition_failed", "restart");
        assert_eq!(stale.json()["current"]["changed_by"]["name"], "Anna Kern");
        fixture.put(PATH, json!({ "name": "Harbour" })).await.expect(200);
        assert_named(&put(&tag(&changed), json!({})).await, 412, "precondition_failed", "restart");
        let history = fixture.get("/api/project/history").await.expect(200);
        let changes = [
            json!([{ "field": "name", "old": "Trial", "new": "Harbour" }]),
            json!([
                { "field": "hour", "old": "12", "new": "9" }, { "field": "notice_days", "old": "3", "new": "7" },
            ]),
        ];
        for (entry, expected) in history["histories"].as_array().unwrap().iter().zip(changes) {
            assert_eq!(entry["changes"], expected);
        }
        assert_eq!(history["historiesCount"], 2);
    }

    async fn delivery_prices_apply_to_new_orders_at_once(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let owner = shop.server.owner(&shop.project).await;
        let path = "/api/project/delivery_prices";
        let staff = |method, path: &str| shop.server.as_staff(&owner, method, path);
        let read = send(staff(Method::GET, path)).await;
        let (pickup, delivery) = (json!({ "id": 1, "name": "Pickup" }), json!({ "id": 2, "name": "Delivery" }));
        let (point, courier) = (json!({ "id": 1, "name": "Point" }), json!({ "id": 2, "name": "Courier" }));
        let row = |kind: &Value, subtype: &Value, price: &str| {
            json!({ "delivery_type": kind, "delivery_subtype": subtype, "price": price })
        };
        let before = [
            row(&pickup, &Value::Null, "0.00"), row(&delivery, &Value::Null, "300.00"), row(&delivery, &point, "0.00"),
            row(&delivery, &courier, "300.00"),
        ];
        assert_eq!(read.expect(200), json!({ "deliveryPrices": before, "deliveryPricesCount": 4 }));
        send(staff(Method::PUT, PATH).json(&json!({ "charges_delivery": true }))).await.expect(200);
        let item = shop.goods(9, 10_000).await;
        let charged = async || {
            let cart = json!({
                "products": [{ "id": item, "quantity": 1 }], "delivery_type_id": 2, "delivery_subtype_id": 2,
            });
            shop.precalculate(cart).await.expect(200)["delivery_price"].clone()
        };
        assert_eq!(charged().await, 600.0);
        let seen = tag(&send(staff(Method::GET, path)).await);
        let courier_price = json!({ "delivery_type_id": 2, "delivery_subtype_id": 2, "price": "150.50" });
        let body = json!({ "delivery_prices": [{ "delivery_type_id": 2, "price": "100.00" }, courier_price] });
        let set = send(staff(Method::PUT, path).header("If-Match", &seen).json(&body)).await;
        let prices = set.expect(200)["deliveryPrices"].clone();
        assert_eq!((&prices[0], &prices[2]), (&before[0], &before[2]), "others keep their prices");
        assert_eq!((&prices[1]["price"], &prices[3]["price"]), (&json!("100.00"), &json!("150.50")));
        assert_eq!(charged().await, 250.5);
        let stale = send(staff(Method::PUT, path).header("If-Match", &seen).json(&body)).await;
        assert_named(&stale, 412, "precondition_failed", "restart");

        let wrong = json!({ "delivery_prices": [
            { "delivery_type_id": 3, "price": "1.00" }, { "delivery_type_id": 1, "price": "5.00" },
            { "delivery_type_id": 1, "delivery_subtype_id": 2, "price": "1.00" },
        ] });
        let refused = send(staff(Method::PUT, path).json(&wrong)).await;
        refused.expect_invalid(&["delivery_prices.0.delivery_type_id", "delivery_prices.2.delivery_subtype_id"]);
        let wrong = json!({ "delivery_prices": [{ "delivery_type_id": 0, "price": "-1.00" }, {}] });
        let refused = send(staff(Method::PUT, path).json(&wrong)).await;
        refused.expect_invalid(&[
            "delivery_prices.0.delivery_type_id", "delivery_prices.0.price", "delivery_prices.1.delivery_type_id",
            "delivery_prices.1.price",
        ]);
        send(staff(Method::PUT, path).json(&json!({}))).await.expect_invalid(&["delivery_prices"]);
        assert_eq!(send(staff(Method::GET, path)).await.expect(200)["deliveryPrices"], prices, "nothing of it was written");
        let history = send(staff(Method::GET, "/api/project/history")).await.expect(200);
        let changes = json!([
            { "field": "delivery_prices.2", "old": "300.00", "new": "100.00" },
            { "field": "delivery_prices.2.2", "old": "300.00", "new": "150.50" },
        ]);
        assert_eq!((&history["histories"][0]["changes"], &history["historiesCount"]), (&changes, &json!(2)));
        let viewer = shop.server.staff_with(&shop.project, &["view-settings"]).await;
        send(shop.server.as_staff(&viewer, Method::PUT, path).json(&body)).await.expect(403);
        let outsider = shop.server.owner(&shop.server.project().await).await;
        send(shop.server.as_staff(&outsider, Method::PUT, path).json(&body)).await.expect(422);
        assert_eq!(charged().await, 250.5);
    }

    async fn staff_can_require_versions_in_their_project(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let department = format!("/api/departments/{}", fixture.create("/api/departments", json!({ "name": "Sales" })).await);
        fixture.put(&department, json!({})).await.expect(200);
        fixture.put(PATH, json!({ "if_match_required": true })).await.expect(200);
        for path in [department.as_str(), PATH] {
            assert_named(&fixture.put(path, json!({})).await, 428, "precondition_required", "fix_input");
        }
        fixture.put_settings("*", json!({ "if_match_required": false })).await.expect(200);
        fixture.put(&department, json!({})).await.expect(200);
    }

    async fn each_project_has_its_own_settings(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.as_outsider(Method::PUT, PATH, json!({ "name": "Other" })).await.expect(200);
        assert_eq!(fixture.project_settings().await["name"], "Trial");
        for (permission, method, path, status) in [
            ("view-settings", Method::GET, PATH, 200),
            ("view-settings", Method::GET, "/api/project/history", 200),
            ("view-settings", Method::PUT, PATH, 403),
            ("edit-settings", Method::PUT, PATH, 200),
            ("edit-settings", Method::GET, PATH, 403),
            ("edit-settings", Method::GET, "/api/project/history", 403),
            ("edit-dictionaries", Method::PUT, PATH, 403),
        ] {
            let answer = fixture.as_one_who_may(&[permission], method.clone(), path, json!({})).await;
            assert_eq!(answer.status, status, "{permission}: {method} {path}: {}", answer.text);
        }
    }
}
