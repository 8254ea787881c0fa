//! Login contacts of customers, changed by staff.

use kontor_adapter_diesel::database_tests;
use reqwest::Method;
use serde_json::{Value, json};

use crate::caller::{Caller, refused};
use crate::outside::{Outside, bearer};
use crate::platform_customers::{PATH, person};
use crate::support::{Answer, Project, send};

/// Staff of a project whose customers log in.
struct SignInFixture {
    outside: Outside,
    project: Project,
    owner: String,
}

impl SignInFixture {
    async fn open(db: kontor_adapter_diesel::testing::TestDatabase) -> Self {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let owner = outside.server.owner(&project).await;
        Self { outside, project, owner }
    }

    async fn call(&self, method: Method, path: &str, body: Value) -> Answer {
        send(self.outside.server.as_staff(&self.owner, method, path).json(&body)).await
    }

    async fn put(&self, customer: &Value, body: Value) -> Answer {
        self.call(Method::PUT, &format!("{PATH}/{}", customer["id"]), body).await
    }

    async fn create(&self, first_name: &str, more: Value) -> Answer {
        let mut body = person(first_name);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call(Method::POST, PATH, body).await
    }

    async fn profile(&self, record: &Value) -> Answer {
        send(self.outside.server.as_customer(&self.project, &bearer(record), Method::GET, "/api/counterparty")).await
    }
}

database_tests! {
    async fn the_login_of_a_customer_is_stored_for_no_other(db: TestDatabase) {
        let fixture = SignInFixture::open(db).await;
        let anna = fixture.outside.signed_in(&fixture.project, "79001234567").await;
        fixture.outside.signed_in(&fixture.project, "anna@x.ru").await;
        let taken = json!({ "phone_1": "8 900 123 45 67", "email": "Anna@x.ru", "manager_id": 999_999 });
        let answer = fixture.create("Boris", taken.clone()).await;
        answer.expect_invalid(&["phone_1", "email", "manager_id"]);
        assert_eq!(answer.json()["errors"]["phone_1"], json!(["is already taken"]), "nothing more is told");
        let boris = fixture.create("Boris", json!({})).await.expect(201)["counterparty"].clone();
        let mut change = taken;
        change["is_company"] = json!(false);
        fixture.put(&boris, change).await.expect_invalid(&["phone_1", "email", "manager_id"]);
        // A second phone cannot be used for login, and the customer's own login phone is kept.
        fixture.put(&boris, json!({ "is_company": false, "phone_2": "79001234567" })).await.expect(200);
        fixture.put(&anna, json!({ "is_company": false, "phone_1": "79001234567", "first_name": "Anna" })).await.expect(200);
        fixture.profile(&anna).await.expect(200);
        // Another project has separate customers.
        let outsider = fixture.outside.server.owner(&fixture.outside.server.project().await).await;
        let body = json!({ "is_company": false, "first_name": "Eva", "phone_1": "79001234567" });
        send(fixture.outside.server.as_staff(&outsider, Method::POST, PATH).json(&body)).await.expect(201);
    }

    async fn two_records_with_a_phone_that_is_no_login_need_the_support(db: TestDatabase) {
        let fixture = SignInFixture::open(db).await;
        let phone = json!({ "phone_1": "79001234567" });
        let both = futures_util::future::join(fixture.create("Anna", phone.clone()), fixture.create("Boris", phone)).await;
        both.0.expect(201);
        both.1.expect(201);
        let caller = Caller::begin(&fixture.outside, &fixture.project, "79001234567").await;
        caller.call().await;
        refused(&caller.exchange().await, 409, "counterparty_phone_identity_conflict", "contact_support");
        assert_eq!(fixture.call(Method::GET, PATH, json!({})).await.expect(200)["counterpartiesCount"], 2);
    }

    async fn a_customer_recorded_by_staff_signs_in_to_that_record(db: TestDatabase) {
        let fixture = SignInFixture::open(db).await;
        let contacts = json!({ "phone_1": "79001234567", "email": "anna@x.ru" });
        let noted = fixture.create("Anna", contacts).await.expect(201)["counterparty"].clone();
        for contact in ["79001234567", "anna@x.ru"] {
            assert_eq!(fixture.outside.signed_in(&fixture.project, contact).await["id"], noted["id"], "{contact}");
        }
    }

    async fn another_phone_ends_what_the_former_one_opened(db: TestDatabase) {
        let fixture = SignInFixture::open(db).await;
        let anna = fixture.outside.signed_in(&fixture.project, "79001234567").await;
        // A change of another field removes nothing.
        fixture.put(&anna, json!({ "is_company": false, "last_name": "Kern", "email": "anna@x.ru" })).await.expect(200);
        fixture.profile(&anna).await.expect(200);
        fixture.outside.request_code(&fixture.project, "79001234567").await.expect(200);
        let code = fixture.outside.code("79001234567").await;
        let moved = json!({ "is_company": false, "phone_1": "79007654321" });
        assert_eq!(fixture.put(&anna, moved).await.expect(200)["counterparty"]["phone_1"], "79007654321");
        fixture.profile(&anna).await.expect(401);
        fixture.outside.log_in(&fixture.project, "79001234567", &code).await.expect(422);
        let again = fixture.outside.signed_in(&fixture.project, "79007654321").await;
        assert_eq!((&again["id"], &again["last_name"]), (&anna["id"], &json!("Kern")));
        assert_eq!(fixture.outside.signed_in(&fixture.project, "anna@x.ru").await["id"], anna["id"], "the address is theirs still");
        // The phone is free.
        let boris = fixture.outside.signed_in(&fixture.project, "79001234567").await;
        assert_ne!(boris["id"], anna["id"]);
        // Removing the address keeps the phone.
        fixture.put(&anna, json!({ "is_company": false, "email": null })).await.expect(200);
        assert_ne!(fixture.outside.signed_in(&fixture.project, "anna@x.ru").await["id"], anna["id"]);
        fixture.profile(&again).await.expect(401);
        assert_eq!(fixture.outside.signed_in(&fixture.project, "79007654321").await["id"], anna["id"]);
    }

    async fn changes_by_customers_are_in_their_history(db: TestDatabase) {
        let fixture = SignInFixture::open(db).await;
        let anna = fixture.outside.signed_in(&fixture.project, "79001234567").await;
        let change = fixture.outside.server.as_customer(&fixture.project, &bearer(&anna), Method::PUT, "/api/counterparty");
        send(change.json(&json!({ "first_name": "Anna", "last_name": "Kern" }))).await.expect(200);
        let path = format!("{PATH}/{}/history", anna["id"]);
        let reported = fixture.call(Method::GET, &path, json!({})).await.expect(200);
        assert_eq!(reported["histories"][0]["counterparty"], json!({ "id": anna["id"], "name": "Anna Kern" }));
        assert_eq!(reported["histories"][0]["changes"][0], json!({ "field": "first_name", "old": null, "new": "Anna" }));
        let found = fixture.call(Method::GET, &format!("{PATH}?query=kern"), json!({})).await.expect(200);
        assert_eq!(found["counterparties"][0]["id"], anna["id"], "found by the name they gave themselves");
    }
}
