//! Promotions, and the dictionaries of sales.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

const PATH: &str = "/api/promotions";

database_tests! {
    async fn a_promotion_lists_its_items(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (vase, cup) = (fixture.goods("Vase").await, fixture.goods("Cup").await);
        let sale = fixture.create("/api/discounts", json!({ "name": "Sale", "type": "percent", "value": 5 })).await;
        let body = json!({
            "name": "Весна", "description": "<b>!</b>", "photo": "https://cdn.example/a.png",
            "starts_at": "2026-03-01T00:00:00Z", "ends_at": "2026-04-01T00:00:00Z", "discount_ids": [sale],
            "nomenclature_ids": [cup, vase, cup],
        });
        let made = fixture.post(PATH, body).await.expect(201)["promotion"].clone();
        assert_eq!(made["photo"], json!({ "url": "https://cdn.example/a.png" }));
        assert_eq!(made["discounts"], json!([{ "id": sale, "name": "Sale" }]));
        assert_eq!(made["nomenclatures"], json!([{ "id": cup, "name": "Cup" }, { "id": vase, "name": "Vase" }]));
        assert_eq!((&made["starts_at"], &made["ends_at"]), (&json!("2026-03-01T00:00:00Z"), &json!("2026-04-01T00:00:00Z")));
        let bare = fixture.post(PATH, json!({ "name": "Bare" })).await.expect(201)["promotion"].clone();
        assert_eq!((&bare["discounts"], &bare["photo"]), (&json!([]), &Value::Null));

        let list = fixture.get(PATH).await.expect(200);
        assert_eq!(list["promotions"], json!([bare, made]), "newest first, and no discount among them");
        assert_eq!((&list["promotionsCount"], &list["pagination"]["per_page"]), (&json!(2), &json!(15)));
        let (one, both) = (fixture.cost(&format!("{PATH}?per_page=1")).await, fixture.cost(PATH).await);
        assert_eq!(one, both, "the length of a list costs no statements");
        // A deleted discount is removed from the promotion, which is another version of it.
        let shown = format!("{PATH}/{}", made["id"]);
        let tag = async || fixture.get(&shown).await.headers["etag"].clone();
        let before = tag().await;
        let gone = format!("/api/discounts/{sale}");
        send(fixture.server.as_staff(&fixture.owner, Method::DELETE, &gone)).await.expect(200);
        assert_eq!(fixture.get(PATH).await.expect(200)["promotions"][1]["discounts"], json!([]));
        assert_ne!(tag().await, before);
    }

    async fn a_promotion_is_read_changed_and_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (vase, cup) = (fixture.goods("Vase").await, fixture.goods("Cup").await);
        let sale = fixture.create("/api/discounts", json!({ "name": "Sale", "type": "percent", "value": 5 })).await;
        let body = json!({ "name": "Spring", "description": "!", "discount_ids": [sale], "nomenclature_ids": [vase] });
        let made = fixture.post(PATH, body).await.expect(201);
        let path = format!("{PATH}/{}", made["promotion"]["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), made);
        let change = json!({
            "name": "Summer", "description": null, "photo": "https://cdn.example/b.png", "starts_at": "2026-06-01T00:00:00Z",
            "discount_ids": [], "nomenclature_ids": [cup, vase, cup],
        });
        let changed = fixture.put(&path, change).await.expect(200);
        let shown = &changed["promotion"];
        assert_eq!((&shown["name"], &shown["description"], &shown["starts_at"]), (&json!("Summer"), &Value::Null, &json!("2026-06-01T00:00:00Z")));
        assert_eq!((&shown["discounts"], &shown["photo"]["url"]), (&json!([]), &json!("https://cdn.example/b.png")));
        assert_eq!(shown["nomenclatures"], json!([{ "id": cup, "name": "Cup" }, { "id": vase, "name": "Vase" }]));
        assert_eq!(fixture.get(&path).await.expect(200), changed);
        // Fields that are not sent keep their values, also the lists.
        let kept = fixture.put(&path, json!({ "ends_at": "2026-07-01T00:00:00Z" })).await.expect(200)["promotion"].clone();
        assert_eq!((&kept["name"], &kept["nomenclatures"]), (&shown["name"], &shown["nomenclatures"]));
        assert_eq!((&kept["starts_at"], &kept["ends_at"]), (&shown["starts_at"], &json!("2026-07-01T00:00:00Z")));

        assert!(fixture.delete(&path).await.expect(200)["message"].is_string());
        for absent in [path.as_str(), "/api/promotions/999999", "/api/promotions/x"] {
            fixture.get(absent).await.expect(404);
            fixture.get(&format!("{absent}/stats")).await.expect(404);
            fixture.put(absent, json!({ "name": "X" })).await.expect(404);
            fixture.delete(absent).await.expect(404);
        }
        fixture.get(&format!("/api/discounts/{sale}")).await.expect(200);
        assert_eq!(fixture.get(PATH).await.expect(200)["promotionsCount"], 0);
    }

    async fn every_wrong_field_of_a_change_is_named_and_nothing_changes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let period = json!({ "name": "P", "starts_at": "2026-01-02T00:00:00Z", "ends_at": "2026-01-05T00:00:00Z" });
        let made = fixture.post(PATH, period).await.expect(201);
        let path = format!("{PATH}/{}", made["promotion"]["id"]);
        fixture.put(&path, json!({
            "name": null, "description": "\u{0}", "photo": "a.png", "starts_at": "soon", "ends_at": 5, "discount_ids": null,
            "nomenclature_ids": ["x", 0],
        })).await.expect_invalid(&[
            "name", "description", "photo", "starts_at", "ends_at", "discount_ids", "nomenclature_ids.0", "nomenclature_ids.1",
        ]);
        for turned in [json!({ "ends_at": "2026-01-02T00:00:00Z" }), json!({ "starts_at": "2026-01-06T00:00:00Z", "name": "X" })] {
            fixture.put(&path, turned).await.expect_invalid(&["ends_at"]);
        }
        let theirs = fixture.create_elsewhere("/api/nomenclatures", json!({ "name": "X", "kind_id": 2 })).await;
        let mine = fixture.goods("Mine").await;
        fixture.put(&path, json!({ "name": "X", "discount_ids": [999_999], "nomenclature_ids": [mine, theirs] })).await
            .expect_invalid(&["discount_ids.0", "nomenclature_ids.1"]);
        let many: Vec<i64> = (1..=501).collect();
        fixture.put(&path, json!({ "discount_ids": many, "nomenclature_ids": many })).await
            .expect_invalid(&["discount_ids", "nomenclature_ids"]);
        assert_eq!(fixture.get(&path).await.expect(200), made);
        fixture.put(&path, json!({ "starts_at": "2026-02-01T00:00:00Z", "ends_at": null })).await.expect(200);

        let stats = format!("{path}/stats");
        let calls = [(Method::GET, &path, "view-discounts"), (Method::GET, &stats, "view-discounts"),
            (Method::PUT, &path, "edit-discounts"), (Method::DELETE, &path, "edit-discounts")];
        for (method, path, may) in calls {
            fixture.as_outsider(method.clone(), path, json!({})).await.expect(403);
            fixture.as_one_who_may(&["create-discounts", "view-nomenclatures"], method.clone(), path, json!({})).await.expect(403);
            fixture.as_one_who_may(&[may], method, path, json!({})).await.expect(200);
        }
    }

    async fn statistics_are_those_of_the_codes_and_orders_keep_their_prices(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let owner = shop.server.owner(&shop.project).await;
        let ask = async |method: Method, path: &str, body: Value| send(shop.server.as_staff(&owner, method, path).json(&body)).await;
        let item = shop.goods(100, 10_000).await;
        shop.server.db.database.rebuild_offers().await.unwrap();
        let mut ids = Vec::new();
        for (value, code) in [(json!(20), json!("TWENTY")), (json!(10), json!("TEN")), (json!(1), Value::Null)] {
            let body = json!({ "name": "D", "type": "percent", "value": value, "code": code });
            ids.push(ask(Method::POST, "/api/discounts", body).await.expect(201)["discount"]["id"].as_i64().unwrap());
        }
        ask(Method::POST, &format!("/api/discounts/{}/pause", ids[2]), json!({})).await.expect(200);
        let body = json!({ "name": "All", "discount_ids": ids });
        let path = format!("{PATH}/{}", ask(Method::POST, PATH, body).await.expect(201)["promotion"]["id"]);
        let figures = async || ask(Method::GET, &format!("{path}/stats"), json!({})).await.expect(200)["stats"].clone();
        assert_eq!(figures().await, json!({ "discounts": 3, "promo_codes": 2, "usages": 0, "discount_amount": "0.00" }));
        let mut orders = Vec::new();
        for code in ["TWENTY", "TWENTY", "TEN"] {
            let mut order = shop.pickup(item, 1);
            order["promo_code"] = json!(code);
            orders.push(shop.order(&order).await.expect(201)["order"]["id"].clone());
        }
        assert_eq!(figures().await, json!({ "discounts": 3, "promo_codes": 2, "usages": 3, "discount_amount": "50.00" }));

        let order = format!("/api/orders/{}", orders[0]);
        let prices = async || {
            let read = ask(Method::GET, &order, json!({})).await.expect(200)["order"].clone();
            ["original_price", "promo_discount_amount", "final_price", "products"].map(|field| read[field].clone())
        };
        let before = prices().await;
        ask(Method::PUT, &format!("/api/discounts/{}", ids[0]), json!({ "value": 50 })).await.expect(200);
        ask(Method::POST, &format!("/api/discounts/{}/archive", ids[0]), json!({})).await.expect(200);
        ask(Method::PUT, &path, json!({ "name": "Fewer", "discount_ids": [ids[0]] })).await.expect(200);
        assert_eq!(prices().await, before);
        assert_eq!(figures().await, json!({ "discounts": 1, "promo_codes": 1, "usages": 2, "discount_amount": "40.00" }));
        ask(Method::PUT, &order, json!({ "status_id": 6 })).await.expect(200);
        assert_eq!(figures().await, json!({ "discounts": 1, "promo_codes": 1, "usages": 1, "discount_amount": "20.00" }));
        ask(Method::DELETE, &path, json!({})).await.expect(200);
        assert_eq!(prices().await, before);
    }

    async fn a_body_that_is_incomplete_or_wrong_is_refused_with_a_reason(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        fixture.post(PATH, json!({})).await.expect_invalid(&["name"]);
        fixture.post(PATH, json!({
            "name": 5, "description": "\u{0}", "photo": "a.png", "starts_at": "soon", "ends_at": "2026-01-01",
            "discount_ids": [0, "x"], "nomenclature_ids": 7,
        })).await.expect_invalid(&[
            "name", "description", "photo", "starts_at", "ends_at", "discount_ids.0", "discount_ids.1", "nomenclature_ids",
        ]);
        let turned = json!({ "name": "P", "starts_at": "2026-01-02T00:00:00Z", "ends_at": "2026-01-01T00:00:00Z" });
        fixture.post(PATH, turned).await.expect_invalid(&["ends_at"]);
        let theirs = fixture.create_elsewhere("/api/nomenclatures", json!({ "name": "X", "kind_id": 2 })).await;
        let mine = fixture.goods("Mine").await;
        fixture.post(PATH, json!({ "name": "P", "discount_ids": [999_999], "nomenclature_ids": [mine, theirs] })).await
            .expect_invalid(&["discount_ids.0", "nomenclature_ids.1"]);
        let many: Vec<i64> = (1..=501).collect();
        fixture.post(PATH, json!({ "name": "P", "discount_ids": many, "nomenclature_ids": many })).await
            .expect_invalid(&["discount_ids", "nomenclature_ids"]);
        fixture.get(&format!("{PATH}?page=0&per_page=101&x=1")).await.expect_invalid(&["page", "per_page", "x"]);
        assert_eq!(fixture.get(PATH).await.expect(200)["promotionsCount"], 0);
        assert_eq!(fixture.as_outsider(Method::GET, PATH, json!({})).await.expect(200)["promotionsCount"], 0);
    }

    async fn strategies_and_channels_are_the_same_everywhere(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let strategies = fixture.get("/api/sales_strategies").await.expect(200);
        assert_eq!(strategies["salesStrategiesCount"], 3);
        let first = &strategies["salesStrategies"][0];
        assert_eq!((&first["id"], &first["name"], &first["avatar"]), (&json!(1), &json!("Retail"), &Value::Null));
        assert_eq!(fixture.get("/api/sales_strategies/1").await.expect(200)["salesStrategy"], *first);
        for absent in ["4", "x", "0"] {
            fixture.get(&format!("/api/sales_strategies/{absent}")).await.expect(404);
        }
        let channels = fixture.get("/api/sales_channels").await.expect(200);
        assert_eq!((&channels["salesChannelsCount"], &channels["salesChannels"][0]["name"]), (&json!(5), &json!("Website")));
    }
}
