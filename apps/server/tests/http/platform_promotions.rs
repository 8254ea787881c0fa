//! Promotions, and the dictionaries of sales.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;

const PATH: &str = "/api/promotions";

database_tests! {
    async fn a_promotion_tells_what_it_shows(db: TestDatabase) {
        let office = Office::open(db).await;
        let (vase, cup) = (office.goods("Vase").await, office.goods("Cup").await);
        let sale = office.create("/api/discounts", json!({ "name": "Sale", "type": "percent", "value": 5 })).await;
        let body = json!({
            "name": "Весна", "description": "<b>!</b>", "photo": "https://cdn.example/a.png",
            "starts_at": "2026-03-01T00:00:00Z", "ends_at": "2026-04-01T00:00:00Z", "discount_ids": [sale],
            "nomenclature_ids": [cup, vase, cup],
        });
        let made = office.post(PATH, body).await.expect(201)["promotion"].clone();
        assert_eq!(made["photo"], json!({ "url": "https://cdn.example/a.png" }));
        assert_eq!(made["discounts"], json!([{ "id": sale, "name": "Sale" }]));
        assert_eq!(made["nomenclatures"], json!([{ "id": cup, "name": "Cup" }, { "id": vase, "name": "Vase" }]));
        assert_eq!((&made["starts_at"], &made["ends_at"]), (&json!("2026-03-01T00:00:00Z"), &json!("2026-04-01T00:00:00Z")));
        let bare = office.post(PATH, json!({ "name": "Bare" })).await.expect(201)["promotion"].clone();
        assert_eq!((&bare["discounts"], &bare["photo"]), (&json!([]), &Value::Null));

        let list = office.get(PATH).await.expect(200);
        assert_eq!(list["promotions"], json!([bare, made]), "newest first, and no discount among them");
        assert_eq!((&list["promotionsCount"], &list["pagination"]["per_page"]), (&json!(2), &json!(15)));
        let (one, both) = (office.cost(&format!("{PATH}?per_page=1")).await, office.cost(PATH).await);
        assert_eq!(one, both, "the length of a list costs no statements");
        // A deleted discount is removed from the promotion.
        let gone = format!("/api/discounts/{sale}");
        crate::support::send(office.server.as_staff(&office.owner, Method::DELETE, &gone)).await.expect(200);
        assert_eq!(office.get(PATH).await.expect(200)["promotions"][1]["discounts"], json!([]));
    }

    async fn a_body_that_is_incomplete_or_wrong_is_told_so(db: TestDatabase) {
        let office = Office::open(db).await;
        office.post(PATH, json!({})).await.expect_invalid(&["name"]);
        office.post(PATH, json!({
            "name": 5, "description": "\u{0}", "photo": "a.png", "starts_at": "soon", "ends_at": "2026-01-01",
            "discount_ids": [0, "x"], "nomenclature_ids": 7,
        })).await.expect_invalid(&[
            "name", "description", "photo", "starts_at", "ends_at", "discount_ids.0", "discount_ids.1", "nomenclature_ids",
        ]);
        let turned = json!({ "name": "P", "starts_at": "2026-01-02T00:00:00Z", "ends_at": "2026-01-01T00:00:00Z" });
        office.post(PATH, turned).await.expect_invalid(&["ends_at"]);
        let theirs = office.create_elsewhere("/api/nomenclatures", json!({ "name": "X", "kind_id": 2 })).await;
        let mine = office.goods("Mine").await;
        office.post(PATH, json!({ "name": "P", "discount_ids": [999_999], "nomenclature_ids": [mine, theirs] })).await
            .expect_invalid(&["discount_ids.0", "nomenclature_ids.1"]);
        let many: Vec<i64> = (1..=501).collect();
        office.post(PATH, json!({ "name": "P", "discount_ids": many, "nomenclature_ids": many })).await
            .expect_invalid(&["discount_ids", "nomenclature_ids"]);
        office.get(&format!("{PATH}?page=0&per_page=101&x=1")).await.expect_invalid(&["page", "per_page", "x"]);
        assert_eq!(office.get(PATH).await.expect(200)["promotionsCount"], 0);
        assert_eq!(office.as_stranger(Method::GET, PATH, json!({})).await.expect(200)["promotionsCount"], 0);
    }

    async fn strategies_and_channels_are_the_same_everywhere(db: TestDatabase) {
        let office = Office::open(db).await;
        let strategies = office.get("/api/sales_strategies").await.expect(200);
        assert_eq!(strategies["salesStrategiesCount"], 3);
        let first = &strategies["salesStrategies"][0];
        assert_eq!((&first["id"], &first["name"], &first["avatar"]), (&json!(1), &json!("Retail"), &Value::Null));
        assert_eq!(office.get("/api/sales_strategies/1").await.expect(200)["salesStrategy"], *first);
        for absent in ["4", "x", "0"] {
            office.get(&format!("/api/sales_strategies/{absent}")).await.expect(404);
        }
        let channels = office.get("/api/sales_channels").await.expect(200);
        assert_eq!((&channels["salesChannelsCount"], &channels["salesChannels"][0]["name"]), (&json!(5), &json!("Website")));
    }
}
