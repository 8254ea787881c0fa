//! Shops and their opening times.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::{Clock as _, Zone};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::project_fixture::ProjectFixture;
use crate::support::send;

const PATH: &str = "/api/shops";

async fn shop(fixture: &ProjectFixture, name: &str) -> i64 {
    let body = json!({ "name": name, "address": "Тверская, 1", "branch_id": fixture.project.branch_id });
    fixture.create(PATH, body).await
}

async fn customers_see(fixture: &ProjectFixture) -> Vec<String> {
    let list = send(fixture.server.as_app(&fixture.project, Method::GET, "/api/counterparty/shops")).await.expect(200);
    let name = |shop: &Value| shop["name"].as_str().unwrap().to_owned();
    list["shops"].as_array().unwrap().iter().map(name).collect()
}

fn hours(weekday: i64, opens: &str, closes: &str) -> Value {
    json!({ "weekday": weekday, "opens_at": opens, "closes_at": closes })
}

database_tests! {
    async fn a_shop_is_created_read_changed_and_deleted(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let body = json!({
            "name": "Центр", "address": "Тверская, 1", "branch_id": fixture.project.branch_id, "phone": "8 900 123-45-67",
            "photo": "https://cdn.example/a.jpg", "latitude": 55.7558, "longitude": "37.6173", "time_zone": "Asia/Omsk",
        });
        let created = fixture.post(PATH, body).await.expect(201);
        let one = &created["shop"];
        assert_eq!((&one["phone"], &one["latitude"], &one["time_zone"]), (&json!("79001234567"), &json!("55.7558"), &json!("Asia/Omsk")));
        assert_eq!((&one["is_open_now"], &one["next_change_at"], &one["hours"]), (&json!(false), &json!(null), &json!([])));
        let path = format!("{PATH}/{}", one["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        assert_eq!(customers_see(&fixture).await, ["Центр"]);
        let shown = send(fixture.server.as_app(&fixture.project, Method::GET, &format!("/api/counterparty/shops/{}", one["id"]))).await;
        let mut keys: Vec<String> = shown.expect(200)["shop"].as_object().unwrap().keys().cloned().collect();
        keys.sort();
        assert_eq!(keys, ["address", "created_at", "id", "latitude", "longitude", "name", "phone", "photo"]);
        let changed = fixture.put(&path, json!({ "name": "Склад", "time_zone": null, "phone": null, "is_active": false })).await.expect(200);
        assert_eq!((&changed["shop"]["time_zone"], &changed["shop"]["phone"]), (&json!("Europe/Moscow"), &json!(null)));
        assert!(customers_see(&fixture).await.is_empty());
        let table = fixture.get("/api/tables/shops?query=%D1%81%D0%BA%D0%BB&is_active=false").await.expect(200);
        assert_eq!(table["shops"][0]["name"]["value"], "Склад");
        fixture.post(&format!("{path}/hours"), hours(1, "09:00", "18:00")).await.expect(201);
        fixture.delete(&path).await.expect(200);
        fixture.get(&path).await.expect(404);
        assert_eq!(fixture.get(PATH).await.expect(200)["shopsCount"], 0);
    }

    async fn hours_are_kept_and_overlaps_refused_by_name(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", shop(&fixture, "A").await);
        let at = format!("{path}/hours");
        let first = fixture.post(&at, hours(1, "09:00", "13:00")).await.expect(201)["hour"].clone();
        assert_eq!((&first["weekday"], &first["opens_at"], &first["closes_at"]), (&json!(1), &json!("09:00"), &json!("13:00")));
        fixture.post(&at, hours(7, "22:00", "06:00")).await.expect(201);
        fixture.post(&at, hours(1, "14:00", "24:00")).await.expect(201);
        let overlap = fixture.post(&at, hours(1, "12:00", "14:00")).await;
        overlap.expect_invalid(&["opens_at"]);
        assert!(overlap.text.contains("Monday 09:00-13:00"), "{}", overlap.text);
        assert!(fixture.post(&at, hours(1, "05:00", "08:00")).await.text.contains("Sunday 22:00-06:00"));
        for wrong in [
            hours(0, "09:00", "10:00"), hours(8, "09:00", "10:00"), hours(1, "25:00", "10:00"), hours(1, "9:00", "10:00"),
            hours(1, "24:00", "10:00"), hours(2, "10:00", "10:00"), hours(2, "10:00", "24:01"), json!({}),
        ] {
            assert_eq!(fixture.post(&at, wrong.clone()).await.status, 422, "{wrong}");
        }
        let one = format!("{at}/{}", first["id"]);
        let changed = fixture.put(&one, hours(2, "10:00", "12:00")).await.expect(200);
        assert_eq!(fixture.get(&one).await.expect(200), changed);
        let list = fixture.get(&at).await.expect(200);
        assert_eq!((&list["hoursCount"], &list["hours"][1]["weekday"]), (&json!(3), &json!(2)));
        let history = fixture.get(&format!("{path}/history")).await.expect(200);
        assert_eq!(history["histories"][0]["changes"][0]["field"], "hours");
        fixture.delete(&one).await.expect(200);
        let gone = [fixture.get(&one).await, fixture.delete(&one).await, fixture.put(&one, hours(2, "10:00", "12:00")).await];
        for gone in gone {
            gone.expect(404);
        }
        let other = format!("{PATH}/{}/hours", shop(&fixture, "B").await);
        let misplaced = format!("{other}/{}", list["hours"][0]["id"]);
        fixture.get(&misplaced).await.expect(404);
        fixture.delete(&misplaced).await.expect(404);
        assert_eq!(fixture.get(&at).await.expect(200)["hoursCount"], 2);
    }

    async fn overlapping_hours_never_come_in_however_many_try(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let at = format!("{PATH}/{}/hours", shop(&fixture, "A").await);
        let mut running = JoinSet::new();
        for minute in 0..12 {
            let request = fixture.server.as_staff(&fixture.owner, Method::POST, &at);
            let request = request.json(&hours(3, &format!("09:{minute:02}"), "18:00"));
            running.spawn(async move { send(request).await.status.as_u16() });
        }
        let answers = running.join_all().await;
        assert_eq!(answers.iter().filter(|status| **status == 201).count(), 1, "{answers:?}");
        assert_eq!(fixture.get(&at).await.expect(200)["hoursCount"], 1);
    }

    async fn holidays_and_exceptions_change_single_days(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", shop(&fixture, "A").await);
        for weekday in 1..=7 {
            fixture.post(&format!("{path}/hours"), hours(weekday, "00:00", "24:00")).await.expect(201);
        }
        let open = async || fixture.get(&path).await.expect(200)["shop"]["is_open_now"].clone();
        assert_eq!(open().await, json!(true));
        let today = Zone::default().local(fixture.server.clock.now()).date().to_string();
        let holidays = format!("{path}/holidays");
        let holiday = fixture.post(&holidays, json!({ "date": today, "name": "Праздник" })).await.expect(201)["holiday"].clone();
        assert_eq!(open().await, json!(false));
        let again = fixture.post(&holidays, json!({ "date": today, "is_yearly": true })).await.expect(201)["holiday"].clone();
        assert_eq!((&again["id"], &again["name"], &again["is_yearly"]), (&holiday["id"], &json!(null), &json!(true)));
        assert_eq!(fixture.get(&holidays).await.expect(200)["holidaysCount"], 1);
        let exceptions = format!("{path}/exceptions");
        let other = json!({ "date": today, "opens_at": "00:00", "closes_at": "24:00", "note": "Инвентаризация" });
        let other = fixture.post(&exceptions, other).await.expect(201)["exception"].clone();
        assert_eq!(open().await, json!(true), "an exception comes before a holiday");
        let one = format!("{exceptions}/{}", other["id"]);
        let closed = fixture.put(&one, json!({ "date": today })).await.expect(200);
        assert_eq!(fixture.get(&one).await.expect(200), closed);
        assert_eq!(open().await, json!(false));
        let clash = fixture.post(&exceptions, json!({ "date": today, "opens_at": "10:00", "closes_at": "12:00" })).await;
        clash.expect_invalid(&["opens_at"]);
        for (wrong, field) in [
            (json!({ "date": "9999-01-01" }), "date"), (json!({ "date": "2026-02-30" }), "date"), (json!({}), "date"),
            (json!({ "date": today, "opens_at": "10:00" }), "closes_at"), (json!({ "date": today, "closes_at": "10:00" }), "opens_at"),
            (json!({ "date": today, "opens_at": "25:00", "closes_at": "10:00" }), "opens_at"),
        ] {
            fixture.post(&exceptions, wrong).await.expect_invalid(&[field]);
        }
        fixture.post(&holidays, json!({ "date": "9999-01-01" })).await.expect_invalid(&["date"]);
        let day = |days| (fixture.server.clock.now() + chrono::TimeDelta::days(days)).date_naive().to_string();
        let at = format!("{holidays}/{}", holiday["id"]);
        let moved = fixture.put(&at, json!({ "date": day(10), "name": "Ремонт" })).await.expect(200)["holiday"].clone();
        assert_eq!(moved, json!({ "id": holiday["id"], "date": day(10), "name": "Ремонт", "is_yearly": false }));
        let next = fixture.post(&holidays, json!({ "date": day(11) })).await.expect(201)["holiday"]["id"].clone();
        fixture.put(&at, json!({ "date": day(11) })).await.expect_invalid(&["date"]);
        fixture.put(&at, json!({ "date": day(9_999), "name": 1 })).await.expect_invalid(&["name"]);
        fixture.put(&at, json!({ "date": day(9_999) })).await.expect_invalid(&["date"]);
        fixture.put(&at, json!({ "name": "A" })).await.expect_invalid(&["date"]);
        fixture.put(&format!("{holidays}/999999"), json!({ "date": today })).await.expect(404);
        fixture.as_outsider(Method::PUT, &at, json!({ "date": today })).await.expect(403);
        fixture.as_one_who_may(&["view-shops"], Method::PUT, &at, json!({ "date": today })).await.expect(403);
        fixture.delete(&format!("{holidays}/{next}")).await.expect(200);
        assert_eq!(fixture.get(&holidays).await.expect(200)["holidays"][0], moved);
        fixture.delete(&one).await.expect(200);
        fixture.get(&one).await.expect(404);
        fixture.delete(&format!("{holidays}/{}", holiday["id"])).await.expect(200);
        fixture.delete(&format!("{holidays}/{}", holiday["id"])).await.expect(404);
        assert_eq!(open().await, json!(true));
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let wrong = json!({
            "name": "", "address": 1, "branch_id": "x", "phone": "1", "photo": "x", "latitude": 91, "longitude": "x",
            "time_zone": "Moscow", "is_active": 5,
        });
        fixture.post(PATH, wrong).await.expect_invalid(&[
            "name", "address", "branch_id", "phone", "photo", "latitude", "longitude", "time_zone", "is_active",
        ]);
        let other = fixture.server.project().await;
        let foreign = json!({ "name": "A", "address": "B", "branch_id": other.branch_id });
        fixture.post(PATH, foreign).await.expect_invalid(&["branch_id"]);
        let path = format!("{PATH}/{}", shop(&fixture, "A").await);
        fixture.put(&path, json!({ "branch_id": other.branch_id })).await.expect_invalid(&["branch_id"]);
        fixture.put(&path, json!({ "name": null, "address": null, "branch_id": null })).await
            .expect_invalid(&["name", "address", "branch_id"]);
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::POST, &format!("{path}/hours"), hours(1, "09:00", "10:00")).await.expect(403);
        fixture.as_one_who_may(&["view-shops"], Method::POST, &format!("{path}/hours"), hours(1, "09:00", "10:00")).await.expect(403);
        let one = fixture.cost("/api/tables/shops").await;
        for number in 0..8 {
            shop(&fixture, &format!("S{number}")).await;
        }
        assert_eq!(fixture.cost("/api/tables/shops").await, one, "the number of statements does not grow with the rows");
    }
}
