//! Bank accounts of branches, and the integrations they use.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::platform_businesses::PATH;
use crate::project_fixture::ProjectFixture;

fn account() -> Value {
    json!({
        "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001",
        "correspondent_account": "30101810400000000225", "comment": "for wages",
    })
}

fn accounts(branch: i64) -> String {
    format!("{PATH}/{branch}/bank_requisites")
}

/// Returns the path of the integrations of a new account.
async fn integrations(fixture: &ProjectFixture) -> String {
    let path = accounts(fixture.project.branch_id);
    format!("{path}/{}/integrations", fixture.create(&path, account()).await)
}

database_tests! {
    async fn accounts_are_added_and_changed(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = accounts(fixture.project.branch_id);
        assert_eq!(fixture.get(&path).await.expect(200), json!({ "bankRequisites": [], "bankRequisitesCount": 0 }));
        let created = fixture.post(&path, account()).await.expect(201)["bankRequisite"].clone();
        for (field, value) in account().as_object().unwrap() {
            assert_eq!(&created[field], value, "{field}");
        }
        let one = format!("{path}/{}", created["id"]);
        // The account numbers do not fit another bank.
        fixture.put(&one, json!({ "bik": "040173604" })).await.expect_invalid(&["account", "correspondent_account"]);
        let moved = json!({
            "bik": "044525187", "account": "40702810500000000007", "correspondent_account": null, "comment": null,
        });
        let moved = fixture.put(&one, moved).await.expect(200)["bankRequisite"].clone();
        assert_eq!((&moved["bik"], &moved["comment"], &moved["bank_name"]), (&json!("044525187"), &json!(null), &json!("Bank")));
        assert_eq!(fixture.get(&path).await.expect(200)["bankRequisites"], json!([moved]));
        assert_eq!(fixture.get(&one).await.expect(200), json!({ "bankRequisite": moved }));
        let reported = fixture.get(&format!("{PATH}/{}/history", fixture.project.branch_id)).await.expect(200);
        let field = |name: &str| format!("bank_requisites.{}.{name}", created["id"]);
        assert_eq!(reported["histories"][0]["changes"][0], json!({ "field": field("bik"), "old": "044525225", "new": "044525187" }));
        assert_eq!(reported["histories"][1]["changes"][0], json!({ "field": field("bik"), "old": null, "new": "044525225" }));
        let few = fixture.cost(&path).await;
        fixture.create(&path, account()).await;
        assert_eq!(fixture.cost(&path).await, few);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = accounts(fixture.project.branch_id);
        fixture.post(&path, json!({})).await.expect_invalid(&["bik", "account"]);
        let bad = json!({ "bik": "1", "bank_name": [], "account": 5, "correspondent_account": "x", "comment": "\u{0}" });
        let fields = ["bik", "bank_name", "account", "correspondent_account", "comment"];
        fixture.post(&path, bad.clone()).await.expect_invalid(&fields);
        let mut wrong = account();
        wrong["account"] = json!("40702810938000000002");
        wrong["correspondent_account"] = json!("30101810500000000225");
        fixture.post(&path, wrong).await.expect_invalid(&["account", "correspondent_account"]);
        let one = format!("{path}/{}", fixture.create(&path, account()).await);
        fixture.put(&one, bad).await.expect_invalid(&fields);
        let empty = json!({ "bik": null, "bank_name": null, "account": null });
        fixture.put(&one, empty).await.expect_invalid(&["bik", "bank_name", "account"]);
        assert_eq!(fixture.get(&path).await.expect(200)["bankRequisitesCount"], 1);
    }

    async fn parts_of_another_branch_are_not_found(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let own = accounts(fixture.project.branch_id);
        let other = accounts(fixture.create(PATH, json!({ "name": "B" })).await);
        let one = fixture.create(&own, account()).await;
        fixture.put(&format!("{other}/{one}"), json!({})).await.expect(404);
        for absent in ["999999", "1000000000000", "x"] {
            fixture.put(&format!("{own}/{absent}"), json!({})).await.expect(404);
            fixture.get(&format!("{PATH}/{absent}/bank_requisites")).await.expect(404);
            fixture.post(&format!("{PATH}/{absent}/bank_requisites"), account()).await.expect(404);
        }
        fixture.get(&format!("{other}/{one}")).await.expect(404);
        fixture.get(&format!("{own}/999999")).await.expect(404);
        for (method, path) in [
            (Method::GET, own.clone()), (Method::POST, own.clone()), (Method::GET, format!("{own}/{one}")),
            (Method::PUT, format!("{own}/{one}")), (Method::GET, format!("{own}/{one}/integrations/1")),
        ] {
            fixture.as_outsider(method.clone(), &path, account()).await.expect(403);
            let short = if method == Method::GET { "edit-branches" } else { "view-branches" };
            fixture.as_one_who_may(&[short], method, &path, account()).await.expect(403);
        }
        fixture.as_one_who_may(&["edit-branches"], Method::POST, &own, account()).await.expect(201);
        // Integrations of an account under the wrong branch are not found, either.
        for path in [format!("{other}/{one}/integrations"), format!("{own}/999999/integrations")] {
            fixture.get(&path).await.expect(404);
            fixture.get(&format!("{path}/1")).await.expect(404);
            fixture.put(&format!("{path}/1"), json!({ "is_active": true })).await.expect(404);
            fixture.get(&format!("{path}/1/parameters")).await.expect(404);
            fixture.post(&format!("{path}/1/parameters"), json!({ "key": "a", "value": "b" })).await.expect(404);
            fixture.delete(&format!("{path}/1/parameters/1")).await.expect(404);
        }
    }

    async fn a_branch_has_so_many_accounts_and_no_more(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (project, branch) = (fixture.project.id, fixture.project.branch_id);
        for _ in 0..99 {
            fixture.server.execute(&format!(
                "INSERT INTO branch_bank_requisites (project_id, branch_id, bik, bank_name, account, created_at, updated_at) VALUES \
                 ({project}, {branch}, '044525225', 'B', '40702810938000000001', '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
            )).await;
        }
        let path = accounts(branch);
        let many = (0..4).map(|_| fixture.post(&path, account()));
        let answers = futures_util::future::join_all(many).await;
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status.as_u16()).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
        fixture.post(&path, account()).await.expect_invalid(&["id"]);
        assert_eq!(fixture.get(&path).await.expect(200)["bankRequisitesCount"], 100);
    }

    async fn an_account_uses_integrations(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (path, other) = (integrations(&fixture).await, integrations(&fixture).await);
        let list = fixture.get(&path).await.expect(200);
        assert_eq!((&list["integrationsCount"], &list["integrations"][0]["id"]), (&json!(2), &json!(1)));
        assert_eq!(list["integrations"][0]["owner"], "bank_requisite");
        let on = fixture.put(&format!("{path}/1"), json!({ "is_active": true })).await.expect(200);
        assert_eq!((&on["integration"]["id"], &on["integration"]["is_active"]), (&json!(1), &json!(true)));
        assert_eq!(fixture.get(&path).await.expect(200)["integrations"][0], on["integration"]);
        assert_eq!(fixture.get(&format!("{path}/1")).await.expect(200), on);
        assert_eq!(fixture.get(&other).await.expect(200)["integrations"][0]["is_active"], false);
        fixture.put(&format!("{path}/1"), json!({})).await.expect_invalid(&["is_active"]);
        // The fourth integration belongs to warehouses.
        fixture.put(&format!("{path}/4"), json!({ "is_active": true })).await.expect(404);
        fixture.get(&format!("{path}/4")).await.expect(404);
        let few = fixture.cost(&path).await;
        fixture.put(&format!("{path}/2"), json!({ "is_active": true })).await.expect(200);
        assert_eq!(fixture.cost(&path).await, few);
    }

    async fn secrets_are_sealed_masked_and_in_the_history_of_the_branch(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = integrations(&fixture).await;
        let parameters = format!("{path}/1/parameters");
        let secret = fixture.post(&parameters, json!({ "key": "token", "value": "s3cret" })).await.expect(201)["parameter"].clone();
        assert_eq!((&secret["value"], &secret["is_secret"]), (&json!("********"), &json!(true)));
        fixture.post(&parameters, json!({ "key": "token", "value": "x" })).await.expect_invalid(&["key"]);
        fixture.post(&parameters, json!({ "is_secret": "perhaps" })).await.expect_invalid(&["key", "value", "is_secret"]);
        let plain = json!({ "key": "url", "value": "https://a.example", "is_secret": false });
        fixture.post(&parameters, plain).await.expect(201);
        let list = fixture.get(&parameters).await.expect(200);
        assert_eq!((&list["parametersCount"], &list["parameters"][1]["value"]), (&json!(2), &json!("https://a.example")));
        let one = format!("{parameters}/{}", secret["id"]);
        fixture.as_outsider(Method::DELETE, &one, json!({})).await.expect(403);
        fixture.delete(&format!("{path}/2/parameters/{}", secret["id"])).await.expect(404);
        fixture.delete(&one).await.expect(200);
        fixture.delete(&one).await.expect(404);
        let reported = fixture.get(&format!("{PATH}/{}/history", fixture.project.branch_id)).await.expect(200);
        let number = path.rsplit('/').nth(1).unwrap();
        let field = format!("bank_requisites.{number}.integrations.1.parameters.token");
        assert_eq!(reported["histories"][0]["changes"], json!([{ "field": field, "old": "********", "new": null }]));
        let stored = "SELECT (SELECT count(*) FROM histories WHERE changes LIKE '%s3cret%') \
            + (SELECT count(*) FROM integration_parameters WHERE value LIKE '%s3cret%') AS id".to_owned();
        assert_eq!(fixture.server.insert(stored).await, 0);
    }

    async fn deleting_the_branch_deletes_the_secrets(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let branch = fixture.create(PATH, json!({ "name": "B" })).await;
        let one = fixture.create(&accounts(branch), account()).await;
        let parameters = format!("{}/{one}/integrations/1/parameters", accounts(branch));
        fixture.post(&parameters, json!({ "key": "token", "value": "s3cret" })).await.expect(201);
        fixture.delete(&format!("{PATH}/{branch}")).await.expect(200);
        fixture.get(&parameters).await.expect(404);
        assert_eq!(fixture.server.insert("SELECT count(*) AS id FROM integration_parameters".to_owned()).await, 0);
    }
}
