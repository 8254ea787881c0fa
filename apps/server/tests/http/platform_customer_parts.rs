//! Contacts and bank accounts of customers.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::platform_customers::{PATH, company, person};
use crate::project_fixture::ProjectFixture;

fn account() -> Value {
    json!({
        "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001",
        "correspondent_account": "30101810400000000225", "comment": "for wages",
    })
}

database_tests! {
    async fn contacts_are_added_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}/contacts", fixture.create(PATH, person("Anna")).await);
        assert_eq!(fixture.get(&path).await.expect(200), json!({ "contacts": [], "contactsCount": 0 }));
        let body = json!({ "kind": "phone", "value": "8 (900) 123-45-67", "name": "Work", "comment": "until six" });
        let created = fixture.post(&path, body).await.expect(201);
        let contact = &created["contact"];
        assert_eq!((&contact["kind"], &contact["value"], &contact["name"]), (&json!("phone"), &json!("79001234567"), &json!("Work")));
        let one = format!("{path}/{}", contact["id"]);
        // The kept value must fit the new kind.
        fixture.put(&one, json!({ "kind": "email" })).await.expect_invalid(&["value"]);
        let changed = fixture.put(&one, json!({ "kind": "email", "value": "Anna@X.ru", "name": null })).await.expect(200);
        let changed = &changed["contact"];
        assert_eq!((&changed["value"], &changed["name"], &changed["comment"]), (&json!("anna@x.ru"), &json!(null), &json!("until six")));
        let kept = fixture.put(&one, json!({})).await.expect(200);
        assert_eq!(fixture.get(&one).await.expect(200), kept);
        assert_eq!(fixture.get(&path).await.expect(200)["contacts"][0]["value"], "anna@x.ru");
    }

    async fn accounts_are_added_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}/bank_requisites", fixture.create(PATH, company("Nord")).await);
        assert_eq!(fixture.get(&path).await.expect(200), json!({ "bankRequisites": [], "bankRequisitesCount": 0 }));
        let created = fixture.post(&path, account()).await.expect(201)["bankRequisite"].clone();
        for (field, value) in account().as_object().unwrap() {
            assert_eq!(&created[field], value, "{field}");
        }
        let one = format!("{path}/{}", created["id"]);
        // The account number does not fit another bank.
        fixture.put(&one, json!({ "bik": "044525187" })).await.expect_invalid(&["account"]);
        fixture.put(&one, json!({ "bik": "040173604" })).await.expect_invalid(&["account", "correspondent_account"]);
        let moved = json!({
            "bik": "044525187", "account": "40702810500000000007", "correspondent_account": "30101810700000000187", "comment": null,
        });
        let moved = fixture.put(&one, moved).await.expect(200)["bankRequisite"].clone();
        assert_eq!((&moved["bik"], &moved["comment"]), (&json!("044525187"), &json!(null)));
        assert_eq!(fixture.get(&path).await.expect(200)["bankRequisites"], json!([moved]));
        fixture.put(&one, json!({ "correspondent_account": null })).await.expect(200);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let customer = format!("{PATH}/{}", fixture.create(PATH, person("Anna")).await);
        let (contacts, accounts) = (format!("{customer}/contacts"), format!("{customer}/bank_requisites"));
        fixture.post(&contacts, json!({})).await.expect_invalid(&["kind", "value"]);
        let bad = json!({ "kind": "pigeon", "value": "", "name": 7, "comment": "я".repeat(501) });
        fixture.post(&contacts, bad.clone()).await.expect_invalid(&["kind", "value", "name", "comment"]);
        for (kind, value) in [("phone", "call me"), ("email", "x"), ("telegram", "@a"), ("website", "javascript:x"), ("max", "@max")] {
            fixture.post(&contacts, json!({ "kind": kind, "value": value })).await.expect_invalid(&["value"]);
        }
        fixture.post(&accounts, json!({})).await.expect_invalid(&["bik", "account"]);
        let bad = json!({ "bik": "1", "bank_name": [], "account": 5, "correspondent_account": "x", "comment": "\u{0}" });
        let fields = ["bik", "bank_name", "account", "correspondent_account", "comment"];
        fixture.post(&accounts, bad.clone()).await.expect_invalid(&fields);
        let mut wrong = account();
        wrong["account"] = json!("40702810938000000002");
        wrong["correspondent_account"] = json!("30101810500000000225");
        fixture.post(&accounts, wrong).await.expect_invalid(&["account", "correspondent_account"]);
        let one = format!("{accounts}/{}", fixture.create(&accounts, account()).await);
        fixture.put(&one, bad).await.expect_invalid(&fields);
        fixture.put(&one, json!({ "bik": null, "bank_name": null, "account": null })).await
            .expect_invalid(&["bik", "bank_name", "account"]);
        assert_eq!(fixture.get(&contacts).await.expect(200)["contactsCount"], 0);
        assert_eq!(fixture.get(&accounts).await.expect(200)["bankRequisitesCount"], 1);
    }

    async fn parts_of_another_customer_are_not_found(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (anna, boris) = (fixture.create(PATH, person("Anna")).await, fixture.create(PATH, person("Boris")).await);
        let outsider = fixture.server.owner(&fixture.server.project().await).await;
        let abroad = async |path: &str, body: Value| {
            let created = crate::support::send(fixture.server.as_staff(&outsider, Method::POST, path).json(&body)).await;
            created.expect(201).as_object().unwrap().values().next().unwrap()["id"].as_i64().unwrap()
        };
        let foreign_customer = abroad(PATH, person("Eva")).await;
        for (part, body) in [("contacts", json!({ "kind": "other", "value": "at the gate" })), ("bank_requisites", account())] {
            let own = fixture.create(&format!("{PATH}/{anna}/{part}"), body.clone()).await;
            let foreign = abroad(&format!("{PATH}/{foreign_customer}/{part}"), body.clone()).await;
            for (customer, id, status) in [(boris, own, 404), (anna, foreign, 403), (foreign_customer, foreign, 403)] {
                let path = format!("{PATH}/{customer}/{part}/{id}");
                fixture.get(&path).await.expect(status);
                fixture.put(&path, body.clone()).await.expect(status);
            }
            for absent in ["999999", "1000000000000", "x"] {
                fixture.get(&format!("{PATH}/{anna}/{part}/{absent}")).await.expect(404);
                fixture.put(&format!("{PATH}/{anna}/{part}/{absent}"), body.clone()).await.expect(404);
                fixture.get(&format!("{PATH}/{absent}/{part}")).await.expect(404);
                fixture.post(&format!("{PATH}/{absent}/{part}"), body.clone()).await.expect(404);
            }
            fixture.get(&format!("{PATH}/{foreign_customer}/{part}")).await.expect(403);
            fixture.post(&format!("{PATH}/{foreign_customer}/{part}"), body.clone()).await.expect(403);
            let path = format!("{PATH}/{anna}/{part}");
            fixture.as_one_who_may(&["view-counterparties"], Method::POST, &path, body.clone()).await.expect(403);
            fixture.as_one_who_may(&["create-counterparties"], Method::POST, &path, body.clone()).await.expect(403);
            fixture.as_one_who_may(&["edit-counterparties"], Method::POST, &path, body).await.expect(201);
        }
    }

    async fn a_customer_has_so_many_and_no_more(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let anna = fixture.create(PATH, person("Anna")).await;
        let path = format!("{PATH}/{anna}/contacts");
        for number in 0..99 {
            fixture.server.execute(&format!(
                "INSERT INTO counterparty_contacts (project_id, counterparty_id, kind, value, created_at, updated_at) VALUES \
                 ({}, {anna}, 'other', 'n{number}', '2026-01-01 00:00:00', '2026-01-01 00:00:00')", fixture.project.id
            )).await;
        }
        let body = json!({ "kind": "other", "value": "the last" });
        let many = (0..4).map(|_| fixture.post(&path, body.clone()));
        let answers = futures_util::future::join_all(many).await;
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
        fixture.post(&path, body).await.expect_invalid(&["id"]);
        assert_eq!(fixture.get(&path).await.expect(200)["contactsCount"], 100);
    }
}
