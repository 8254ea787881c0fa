//! Contacts and bank accounts of customers.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::office::Office;
use crate::platform_customers::{PATH, company, person};

fn account() -> Value {
    json!({
        "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001",
        "correspondent_account": "30101810400000000225", "comment": "for wages",
    })
}

database_tests! {
    async fn contacts_are_noted_and_changed(db: TestDatabase) {
        let office = Office::open(db).await;
        let path = format!("{PATH}/{}/contacts", office.create(PATH, person("Anna")).await);
        assert_eq!(office.get(&path).await.expect(200), json!({ "contacts": [], "contactsCount": 0 }));
        let body = json!({ "kind": "phone", "value": "8 (900) 123-45-67", "name": "Work", "comment": "until six" });
        let created = office.post(&path, body).await.expect(201);
        let contact = &created["contact"];
        assert_eq!((&contact["kind"], &contact["value"], &contact["name"]), (&json!("phone"), &json!("79001234567"), &json!("Work")));
        let one = format!("{path}/{}", contact["id"]);
        // The kept value must fit the new kind.
        office.put(&one, json!({ "kind": "email" })).await.expect_invalid(&["value"]);
        let changed = office.put(&one, json!({ "kind": "email", "value": "Anna@X.ru", "name": null })).await.expect(200);
        let changed = &changed["contact"];
        assert_eq!((&changed["value"], &changed["name"], &changed["comment"]), (&json!("anna@x.ru"), &json!(null), &json!("until six")));
        let kept = office.put(&one, json!({})).await.expect(200);
        assert_eq!(office.get(&one).await.expect(200), kept);
        assert_eq!(office.get(&path).await.expect(200)["contacts"][0]["value"], "anna@x.ru");
    }

    async fn accounts_are_noted_and_changed(db: TestDatabase) {
        let office = Office::open(db).await;
        let path = format!("{PATH}/{}/bank_requisites", office.create(PATH, company("Nord")).await);
        assert_eq!(office.get(&path).await.expect(200), json!({ "bankRequisites": [], "bankRequisitesCount": 0 }));
        let created = office.post(&path, account()).await.expect(201)["bankRequisite"].clone();
        for (field, value) in account().as_object().unwrap() {
            assert_eq!(&created[field], value, "{field}");
        }
        let one = format!("{path}/{}", created["id"]);
        // The account number does not fit another bank.
        office.put(&one, json!({ "bik": "044525187" })).await.expect_invalid(&["account"]);
        office.put(&one, json!({ "bik": "040173604" })).await.expect_invalid(&["account", "correspondent_account"]);
        let moved = json!({
            "bik": "044525187", "account": "40702810500000000007", "correspondent_account": "30101810700000000187", "comment": null,
        });
        let moved = office.put(&one, moved).await.expect(200)["bankRequisite"].clone();
        assert_eq!((&moved["bik"], &moved["comment"]), (&json!("044525187"), &json!(null)));
        assert_eq!(office.get(&path).await.expect(200)["bankRequisites"], json!([moved]));
        office.put(&one, json!({ "correspondent_account": null })).await.expect(200);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let office = Office::open(db).await;
        let customer = format!("{PATH}/{}", office.create(PATH, person("Anna")).await);
        let (contacts, accounts) = (format!("{customer}/contacts"), format!("{customer}/bank_requisites"));
        office.post(&contacts, json!({})).await.expect_invalid(&["kind", "value"]);
        let bad = json!({ "kind": "pigeon", "value": "", "name": 7, "comment": "я".repeat(501) });
        office.post(&contacts, bad.clone()).await.expect_invalid(&["kind", "value", "name", "comment"]);
        for (kind, value) in [("phone", "call me"), ("email", "x"), ("telegram", "@a"), ("website", "javascript:x"), ("max", "@max")] {
            office.post(&contacts, json!({ "kind": kind, "value": value })).await.expect_invalid(&["value"]);
        }
        office.post(&accounts, json!({})).await.expect_invalid(&["bik", "account"]);
        let bad = json!({ "bik": "1", "bank_name": [], "account": 5, "correspondent_account": "x", "comment": "\u{0}" });
        let fields = ["bik", "bank_name", "account", "correspondent_account", "comment"];
        office.post(&accounts, bad.clone()).await.expect_invalid(&fields);
        let mut wrong = account();
        wrong["account"] = json!("40702810938000000002");
        wrong["correspondent_account"] = json!("30101810500000000225");
        office.post(&accounts, wrong).await.expect_invalid(&["account", "correspondent_account"]);
        let one = format!("{accounts}/{}", office.create(&accounts, account()).await);
        office.put(&one, bad).await.expect_invalid(&fields);
        office.put(&one, json!({ "bik": null, "bank_name": null, "account": null })).await
            .expect_invalid(&["bik", "bank_name", "account"]);
        assert_eq!(office.get(&contacts).await.expect(200)["contactsCount"], 0);
        assert_eq!(office.get(&accounts).await.expect(200)["bankRequisitesCount"], 1);
    }

    async fn what_belongs_to_another_customer_is_not_there(db: TestDatabase) {
        let office = Office::open(db).await;
        let (anna, boris) = (office.create(PATH, person("Anna")).await, office.create(PATH, person("Boris")).await);
        let stranger = office.server.owner(&office.server.project().await).await;
        let abroad = async |path: &str, body: Value| {
            let created = crate::support::send(office.server.as_staff(&stranger, Method::POST, path).json(&body)).await;
            created.expect(201).as_object().unwrap().values().next().unwrap()["id"].as_i64().unwrap()
        };
        let foreigner = abroad(PATH, person("Eva")).await;
        for (part, body) in [("contacts", json!({ "kind": "other", "value": "at the gate" })), ("bank_requisites", account())] {
            let own = office.create(&format!("{PATH}/{anna}/{part}"), body.clone()).await;
            let foreign = abroad(&format!("{PATH}/{foreigner}/{part}"), body.clone()).await;
            for (customer, id, status) in [(boris, own, 404), (anna, foreign, 403), (foreigner, foreign, 403)] {
                let path = format!("{PATH}/{customer}/{part}/{id}");
                office.get(&path).await.expect(status);
                office.put(&path, body.clone()).await.expect(status);
            }
            for absent in ["999999", "1000000000000", "x"] {
                office.get(&format!("{PATH}/{anna}/{part}/{absent}")).await.expect(404);
                office.put(&format!("{PATH}/{anna}/{part}/{absent}"), body.clone()).await.expect(404);
                office.get(&format!("{PATH}/{absent}/{part}")).await.expect(404);
                office.post(&format!("{PATH}/{absent}/{part}"), body.clone()).await.expect(404);
            }
            office.get(&format!("{PATH}/{foreigner}/{part}")).await.expect(403);
            office.post(&format!("{PATH}/{foreigner}/{part}"), body.clone()).await.expect(403);
            let path = format!("{PATH}/{anna}/{part}");
            office.as_one_who_may(&["view-counterparties"], Method::POST, &path, body.clone()).await.expect(403);
            office.as_one_who_may(&["create-counterparties"], Method::POST, &path, body.clone()).await.expect(403);
            office.as_one_who_may(&["edit-counterparties"], Method::POST, &path, body).await.expect(201);
        }
    }

    async fn a_customer_has_so_many_and_no_more(db: TestDatabase) {
        let office = Office::open(db).await;
        let anna = office.create(PATH, person("Anna")).await;
        let path = format!("{PATH}/{anna}/contacts");
        for number in 0..99 {
            office.server.execute(&format!(
                "INSERT INTO counterparty_contacts (project_id, counterparty_id, kind, value, created_at, updated_at) VALUES \
                 ({}, {anna}, 'other', 'n{number}', '2026-01-01 00:00:00', '2026-01-01 00:00:00')", office.project.id
            )).await;
        }
        let body = json!({ "kind": "other", "value": "the last" });
        let many = (0..4).map(|_| office.post(&path, body.clone()));
        let answers = futures_util::future::join_all(many).await;
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
        office.post(&path, body).await.expect_invalid(&["id"]);
        assert_eq!(office.get(&path).await.expect(200)["contactsCount"], 100);
    }
}
