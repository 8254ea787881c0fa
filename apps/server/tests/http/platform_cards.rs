//! Fields of an item, and their history entries.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::support::send;

const PATH: &str = "/api/nomenclatures";

fn service(price: &Value) -> Value {
    json!({ "name": "A", "kind_id": 1, "price": price })
}

database_tests! {
    async fn a_price_is_exact_or_refused(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let id = fixture.create(PATH, service(&json!(1))).await;
        let path = format!("{PATH}/{id}");
        for (price, expected) in [
            (json!("0"), "0.00"), (json!("-0"), "0.00"), (json!(-0.0), "0.00"), (json!("0.10"), "0.10"), (json!(0.1), "0.10"),
            (json!("10.000"), "10.00"), (json!(19.99), "19.99"), (json!(" 7 "), "7.00"), (json!("+7"), "7.00"),
            (json!("10000000000.00"), "10000000000.00"), (json!(10_000_000_000_i64), "10000000000.00"),
        ] {
            let created = fixture.post(PATH, service(&price)).await.expect(201);
            assert_eq!(created["nomenclature"]["price"], expected, "{price}");
            let changed = fixture.put(&path, json!({ "price": price })).await.expect(200);
            assert_eq!(changed["nomenclature"]["price"], expected, "{price}");
        }
        for price in [
            json!("0.001"), json!(0.001), json!("-0.01"), json!(-1), json!("1e400"), json!("1e3"), json!("NaN"), json!("∞"),
            json!("12,50"), json!(""), json!("9".repeat(40)), json!("0.".to_owned() + &"9".repeat(40)), json!(1e39),
            json!("10000000000.01"), json!(i64::MAX), json!(u64::MAX), json!(true), json!([1]), json!({}), json!("٣"),
        ] {
            fixture.post(PATH, service(&price)).await.expect_invalid(&["price"]);
            fixture.put(&path, json!({ "price": price })).await.expect_invalid(&["price"]);
        }
        // A number beyond every range is refused before any field is checked.
        let body = r#"{"name": "A", "kind_id": 1, "price": 1e400}"#;
        let request = fixture.server.as_staff(&fixture.owner, Method::POST, PATH);
        send(request.header("Content-Type", "application/json").body(body)).await.expect(400);
        let digits = format!(r#"{{"name": "A", "kind_id": 1, "price": {}}}"#, "9".repeat(40));
        let request = fixture.server.as_staff(&fixture.owner, Method::POST, PATH);
        send(request.header("Content-Type", "application/json").body(digits)).await.expect_invalid(&["price"]);
        assert_eq!(fixture.get(&path).await.expect(200)["nomenclature"]["price"], "10000000000.00");
    }

    async fn names_are_kept_letter_by_letter(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        for name in ["🪑 Стул 👩‍👩‍👧", "שולחן עץ", "طاولة ١٢٣", "a\u{202e}b", "Ⅷ ﬁ", "'; DROP TABLE nomenclatures; --", "<b>x</b>", "%_\\", &"я".repeat(255)] {
            let created = fixture.post(PATH, json!({ "name": name, "kind_id": 2, "article": "\u{0}" })).await;
            created.expect_invalid(&["article"]);
            let created = fixture.post(PATH, json!({ "name": name, "kind_id": 2 })).await.expect(201);
            assert_eq!(created["nomenclature"]["name"], *name);
            let path = format!("{PATH}/{}", created["nomenclature"]["id"]);
            assert_eq!(fixture.get(&path).await.expect(200), created);
        }
        for name in ["", " \u{a0} ", "a\nb", "a\u{0}b", "x\u{85}y", &"я".repeat(256)] {
            fixture.post(PATH, json!({ "name": name, "kind_id": 2 })).await.expect_invalid(&["name"]);
        }
    }

    async fn every_part_of_a_card_is_written_read_and_checked(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({
            "name": "Чай", "kind_id": 2, "type_id": 4, "vat_id": "5", "photos": ["https://cdn.example/a.jpg"],
            "parameters": { "wholesale": 1, "pieces_per_pack": "12", "quantity_pack": 4 },
        });
        let created = fixture.post(PATH, body).await.expect(201);
        let item = &created["nomenclature"];
        assert_eq!((&item["type_id"], &item["type"]), (&json!(4), &json!({ "id": 4, "name": "Set" })));
        assert_eq!(item["vat"], json!({ "id": 5, "name": "22%" }));
        assert_eq!(item["parameters"], json!({ "wholesale": true, "pieces_per_pack": 12, "quantity_pack": 4 }));
        let path = format!("{PATH}/{}", item["id"]);
        let change = json!({ "type_id": 0, "vat_id": null, "parameters": { "wholesale": false }, "photos": [] });
        let changed = fixture.put(&path, change).await.expect(200);
        let item = &changed["nomenclature"];
        assert_eq!((&item["type_id"], &item["type"], &item["vat"]), (&Value::Null, &Value::Null, &Value::Null));
        assert_eq!(item["parameters"], json!({ "wholesale": false, "pieces_per_pack": 12, "quantity_pack": 4 }));
        assert_eq!(item["photos"], json!([]));
        let wrong = json!({
            "type_id": 999, "vat_id": 999, "tags": [1, 2],
        });
        fixture.put(&path, wrong).await.expect_invalid(&["type_id", "vat_id", "tags.0", "tags.1"]);
        let wrong = json!({
            "type_id": "x", "vat_id": -1, "photos": ["https://a/1", "javascript:alert(1)", 7], "tags": [0, null],
            "parameters": { "wholesale": "yes", "pieces_per_pack": 1_000_000_001_i64, "quantity_pack": -1 },
        });
        fixture.put(&path, wrong).await.expect_invalid(&[
            "type_id", "vat_id", "photos.1", "photos.2", "tags.0", "tags.1", "parameters.wholesale",
            "parameters.pieces_per_pack", "parameters.quantity_pack",
        ]);
        assert_eq!(fixture.get(&path).await.expect(200), changed, "what was refused changed nothing");
    }

    async fn a_share_link_is_an_address_or_nothing(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let longest = format!("https://shop.example/{}", "x".repeat(2027));
        let created = fixture.post(PATH, json!({ "name": "A", "kind_id": 2, "share_link": " https://shop.example/чай " })).await.expect(201);
        assert_eq!(created["nomenclature"]["share_link"], "https://shop.example/чай");
        let path = format!("{PATH}/{}", created["nomenclature"]["id"]);
        for wrong in [
            json!("shop.example/a"), json!("javascript:alert(1)"), json!("ftp://shop.example/a"), json!("https://a b"),
            json!(format!("{longest}x")), json!(7), json!(true), json!(["https://a/1"]), json!({}),
        ] {
            fixture.post(PATH, json!({ "name": "A", "kind_id": 2, "share_link": wrong })).await.expect_invalid(&["share_link"]);
            fixture.put(&path, json!({ "share_link": wrong })).await.expect_invalid(&["share_link"]);
        }
        for (change, link) in [
            (json!({ "name": "B" }), json!("https://shop.example/чай")),
            (json!({ "share_link": longest }), json!(longest)),
            (json!({ "share_link": null }), Value::Null),
        ] {
            assert_eq!(fixture.put(&path, change).await.expect(200)["nomenclature"]["share_link"], link);
        }
        assert_eq!(fixture.get(&path).await.expect(200)["nomenclature"]["share_link"], Value::Null);
        let reported = fixture.get(&format!("{path}/history")).await.expect(200);
        assert_eq!(reported["histories"][0]["changes"], json!([{ "field": "share_link", "old": longest, "new": null }]));
        assert_eq!(fixture.post(PATH, json!({ "name": "C", "kind_id": 2, "share_link": null })).await.expect(201)["nomenclature"]["share_link"], Value::Null);
    }

    async fn a_history_has_author_and_changes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let created = fixture.post(PATH, json!({ "name": "Чай", "kind_id": 2, "price": 1 })).await.expect(201);
        let path = format!("{PATH}/{}", created["nomenclature"]["id"]);
        let change = json!({
            "name": "Чай 🍵", "price": "2.50", "type_id": 1, "photos": ["https://a/1", "https://a/2"],
            "parameters": { "wholesale": true, "quantity_pack": 6 },
        });
        fixture.put(&path, change.clone()).await.expect(200);
        fixture.put(&path, change).await.expect(200);
        fixture.put(&path, json!({ "price": "x" })).await.expect(422);
        let reported = fixture.get(&format!("{path}/history")).await.expect(200);
        assert_eq!((reported["historiesCount"].as_u64(), &reported["pagination"]["per_page"]), (Some(2), &json!(15)));
        let line = &reported["histories"][0];
        assert_eq!((&line["action"], &line["user"]["name"]), (&json!("changed"), &json!("Anna Kern")));
        assert_eq!(line["changes"], json!([
            { "field": "name", "old": "Чай", "new": "Чай 🍵" },
            { "field": "type_id", "old": null, "new": "1" },
            { "field": "price", "old": "1.00", "new": "2.50" },
            { "field": "parameters.wholesale", "old": "false", "new": "true" },
            { "field": "parameters.quantity_pack", "old": "1", "new": "6" },
            { "field": "photos", "old": null, "new": "https://a/1\nhttps://a/2" },
        ]));
        assert_eq!(reported["histories"][1]["action"], "created");
        let first = reported["histories"][1]["changes"].as_array().unwrap();
        assert!(first.contains(&json!({ "field": "price", "old": null, "new": "1.00" })), "{reported}");

        for number in 0..15 {
            fixture.put(&path, json!({ "price": number + 10 })).await.expect(200);
        }
        let page = fixture.get(&format!("{path}/history")).await.expect(200);
        assert_eq!((page["histories"].as_array().unwrap().len(), &page["historiesCount"]), (15, &json!(17)));
        assert!(fixture.cost(&format!("{path}/history?per_page=1")).await == fixture.cost(&format!("{path}/history?per_page=100")).await);
        fixture.get(&format!("{path}/history?page=0&per_page=101&colour=red")).await.expect_invalid(&["page", "per_page", "colour"]);
        fixture.get(&format!("{PATH}/999999/history")).await.expect(404);
        fixture.as_outsider(Method::GET, &format!("{path}/history"), json!({})).await.expect(403);
        fixture.as_one_who_may(&["edit-nomenclatures"], Method::GET, &format!("{path}/history"), json!({})).await.expect(403);
        fixture.as_one_who_may(&["view-nomenclatures"], Method::GET, &format!("{path}/history"), json!({})).await.expect(200);
    }
}
