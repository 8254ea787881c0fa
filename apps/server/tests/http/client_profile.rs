//! The customer's own record, its changes and deletion, and the credentials that give access to it.

use chrono::Days;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::Clock as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::{Outside, bearer};
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, Project, TestServer, send};

const PROFILE: &str = "/api/counterparty";

async fn second_application(server: &TestServer, project: &Project) -> Project {
    let app_token = "token-of-a-second-application".to_owned();
    let application_id = server
        .insert(format!(
            "INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, \
             updated_at) VALUES ({}, {}, 'Second', '{}', true, true, '2026-01-01 00:00:00', '2026-01-01 00:00:00') \
             RETURNING id",
            project.id,
            project.branch_id,
            crate::support::sha256(&app_token)
        ))
        .await;
    Project { application_id, app_token, ..project.clone() }
}

/// A customer with access to their record.
struct ProfileFixture {
    server: TestServer,
    project: Project,
    id: i64,
    token: String,
}

impl ProfileFixture {
    async fn open(db: TestDatabase) -> Self {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (id, token) = server.customer(&project).await;
        Self { server, project, id, token }
    }

    async fn put(&self, body: Value) -> Answer {
        send(self.server.as_customer(&self.project, &self.token, Method::PUT, PROFILE).json(&body)).await
    }

    async fn get(&self) -> Value {
        let read = send(self.server.as_customer(&self.project, &self.token, Method::GET, PROFILE)).await;
        read.expect(200)["counterparty"].clone()
    }
}

async fn leave(shop: &ShopFixture) -> Answer {
    send(shop.server.as_customer(&shop.project, &shop.bearer, Method::DELETE, PROFILE)).await
}

database_tests! {
    async fn the_record_has_every_field(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        server.owner(&project).await;
        let (id, token) = server.customer(&project).await;
        let bare = send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
        assert_eq!((&bare["counterparty"]["manager"], &bare["counterparty"]["email"]), (&Value::Null, &Value::Null));
        server.execute(&format!(
            "UPDATE counterparties SET manager_id = (SELECT MIN(id) FROM users), last_name = 'Petrov', \
             middle_name = 'Ilyich', birthday = '1990-02-03', address = 'Nevsky 1', phone_2 = '79007654321', \
             email = 'ivan@example.com' WHERE id = {id}"
        )).await;
        let read = send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
        let manager = read["counterparty"]["manager"]["id"].clone();
        assert!(manager.is_i64());
        assert_eq!(read, json!({ "counterparty": {
            "id": id,
            "type": { "id": 1, "name": "Person", "created_at": "2026-01-01T00:00:00Z" },
            "manager": { "id": manager, "first_name": "Anna", "last_name": "Kern", "middle_name": null, "name": "Anna Kern" },
            "avatar": null,
            "first_name": "Ivan",
            "last_name": "Petrov",
            "middle_name": "Ilyich",
            "birthday": "1990-02-03",
            "address": "Nevsky 1",
            "phone_1": "79001234567",
            "phone_2": "79007654321",
            "email": "ivan@example.com",
            "created_at": "2026-01-01T00:00:00Z",
            "updated_at": "2026-01-01T00:00:00Z",
            "favourite_products": [],
        } }));
    }

    async fn the_application_may_be_left_out_but_not_wrong(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let (project, other) = (server.project().await, server.project().await);
        let second = second_application(&server, &project).await;
        let (id, token) = server.customer(&project).await;
        let alone = send(server.request(Method::GET, PROFILE).bearer_auth(&token)).await.expect(200);
        assert_eq!(alone["counterparty"]["id"], id);
        for foreign in [&other, &second] {
            let answer = send(server.as_customer(foreign, &token, Method::GET, PROFILE)).await;
            assert_eq!(answer.expect(404), json!({ "message": "Not found." }));
        }
        let wrong = server.request(Method::GET, PROFILE).header("Token", "wrong").bearer_auth(&token);
        assert_eq!(send(wrong).await.expect(401)["message"], "Application token is invalid");
        send(server.as_app(&project, Method::GET, PROFILE)).await.expect(401);
        server.execute(&format!("UPDATE applications SET is_active = false WHERE id = {}", project.application_id)).await;
        send(server.request(Method::GET, PROFILE).bearer_auth(&token)).await.expect(401);
        let inactive = send(server.as_customer(&project, &token, Method::GET, PROFILE)).await;
        assert_eq!(inactive.expect(401)["message"], "Application token is invalid");
    }

    async fn only_the_whole_token_opens(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, token) = server.customer(&project).await;
        let (id, secret) = token.split_once('|').unwrap();
        let truncated = &token[..token.len() - 1];
        let padded = format!("0{token}");
        let longer = format!("{token}x");
        let joined = format!("{id}{secret}");
        let other = format!("{}|{secret}", id.parse::<i64>().unwrap() + 1);
        let huge = format!("{id}|{}", secret.repeat(20));
        for part in [id, secret, truncated, &padded, &longer, &joined, &other, &huge, "|", "1|", "garbage"] {
            let answer = send(server.as_customer(&project, part, Method::GET, PROFILE)).await;
            assert!(answer.expect(401)["message"].is_string(), "{part}");
        }
        let basic = server.as_app(&project, Method::GET, PROFILE).basic_auth(id, Some(secret));
        send(basic).await.expect(401);
        let query = format!("{PROFILE}?token={token}&access_token={token}");
        send(server.as_app(&project, Method::GET, &query)).await.expect(401);
        send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
    }

    async fn guards_do_not_open_each_other(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let staff = server.owner(&project).await;
        let (_, customer) = server.customer(&project).await;
        send(server.as_customer(&project, &staff, Method::GET, PROFILE)).await.expect(401);
        send(server.request(Method::GET, PROFILE).bearer_auth(&staff)).await.expect(401);
        send(server.as_staff(&customer, Method::GET, "/api/user")).await.expect(401);
        send(server.as_customer(&project, &customer, Method::GET, "/api/user")).await.expect(401);
        send(server.as_app(&project, Method::GET, "/api/user")).await.expect(401);
        send(server.as_staff(&staff, Method::GET, "/api/user")).await.expect(200);
    }

    async fn a_token_expires(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = server.project().await;
        let (_, token) = server.customer(&project).await;
        server.execute("UPDATE access_tokens SET expires_at = '2027-01-01 00:00:00'").await;
        send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(200);
        server.clock.advance(366 * 24 * 3600);
        send(server.as_customer(&project, &token, Method::GET, PROFILE)).await.expect(401);
        send(server.request(Method::GET, PROFILE).bearer_auth(&token)).await.expect(401);
    }

    async fn absent_keeps_and_null_clears(db: TestDatabase) {
        let fixture = ProfileFixture::open(db).await;
        let before = fixture.get().await;
        let unchanged = fixture.put(json!({})).await.expect(200);
        assert_eq!(unchanged["counterparty"]["first_name"], "Ivan");
        let body = json!({
            "first_name": "  Анна 🌸 ", "last_name": "كرن", "middle_name": "Petrovna", "birthday": "1990-02-03",
            "address": "Elbe Street 5", "email": "Anna@Example.COM", "phone_2": "8 (900) 765-43-21",
            "id": 7, "favourite_products": [1], "type": { "id": 2 },
        });
        let changed = fixture.put(body).await.expect(200)["counterparty"].clone();
        assert_eq!(changed, fixture.get().await);
        let expected = json!({
            "first_name": "Анна 🌸", "last_name": "كرن", "middle_name": "Petrovna", "birthday": "1990-02-03",
            "address": "Elbe Street 5", "email": "anna@example.com", "phone_2": "79007654321",
            "phone_1": "79001234567", "id": fixture.id, "favourite_products": [], "type": before["type"],
        });
        for (field, value) in expected.as_object().unwrap() {
            assert_eq!(&changed[field], value, "{field}");
        }
        assert_ne!(changed["updated_at"], before["updated_at"]);
        let cleared = json!({
            "first_name": null, "last_name": null, "middle_name": null, "birthday": null, "address": null, "email": null,
            "phone_2": null,
        });
        let cleared = fixture.put(cleared).await.expect(200)["counterparty"].clone();
        for field in ["first_name", "last_name", "middle_name", "birthday", "address", "email", "phone_2"] {
            assert_eq!(cleared[field], Value::Null, "{field}");
        }
        // The record may be sent back as it was read.
        fixture.put(changed.clone()).await.expect(200);
        assert_eq!(fixture.get().await["last_name"], changed["last_name"]);
        let alone = fixture.server.request(Method::PUT, PROFILE).bearer_auth(&fixture.token);
        send(alone.json(&json!({ "first_name": "Eva" }))).await.expect(200);
        send(fixture.server.as_app(&fixture.project, Method::PUT, PROFILE).json(&json!({}))).await.expect(401);
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProfileFixture::open(db).await;
        let fields = ["address", "birthday", "email", "first_name", "last_name", "middle_name", "phone_1", "phone_2"];
        let long = "я".repeat(5_000);
        let bad = json!({
            "first_name": long, "last_name": "\u{0}", "middle_name": "a\nb", "birthday": "2026-02-30", "address": long,
            "email": "a@x.ru\nBcc: b@x.ru", "phone_1": "call me", "phone_2": "123",
        });
        fixture.put(bad).await.expect_invalid(&fields);
        let shapes = json!({
            "first_name": [], "last_name": {}, "middle_name": 7, "birthday": 20_260_230, "address": true, "email": 1.5,
            "phone_1": [], "phone_2": {},
        });
        fixture.put(shapes).await.expect_invalid(&fields);
        for body in [json!([]), json!("x"), json!(7)] {
            fixture.put(body).await.expect(422);
        }
        fixture.put(json!({ "birthday": "1899-12-31", "phone_1": "79007654321" })).await.expect_invalid(&["birthday", "phone_1"]);
        let today = fixture.server.clock.now().date_naive();
        let tomorrow = today.checked_add_days(Days::new(1)).unwrap();
        fixture.put(json!({ "birthday": tomorrow, "phone_1": null })).await.expect_invalid(&["birthday", "phone_1"]);
        fixture.put(json!({ "birthday": today, "phone_1": "+7 (900) 123-45-67" })).await.expect(200);
        for birthday in ["0000-00-00", "9999-12-31", "+262142-12-31", "-0001-01-01", "1990-13-01", "tomorrow"] {
            fixture.put(json!({ "birthday": birthday })).await.expect_invalid(&["birthday"]);
        }
        assert_eq!(fixture.get().await["first_name"], "Ivan");
    }

    async fn ten_spellings_of_a_phone(db: TestDatabase) {
        let fixture = ProfileFixture::open(db).await;
        for spelling in [
            json!("79007654321"), json!("+79007654321"), json!("89007654321"), json!("9007654321"), json!(79_007_654_321_i64),
            json!("+7 (900) 765-43-21"), json!("8 900 765 43 21"), json!(" 7.900.765.43.21 "), json!("8-900-765-43-21"),
            json!("7\u{a0}900\u{a0}765\u{a0}43\u{a0}21"),
        ] {
            let changed = fixture.put(json!({ "phone_2": spelling })).await.expect(200);
            assert_eq!(changed["counterparty"]["phone_2"], "79007654321", "{spelling}");
            fixture.put(json!({ "phone_2": null })).await.expect(200);
        }
    }

    async fn an_address_of_another_customer_is_refused(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let (anna, boris) = (outside.signed_in(&project, "79001234567").await, outside.signed_in(&project, "b@x.ru").await);
        let put = async |token: &str, email: &str| {
            let request = outside.server.as_customer(&project, token, Method::PUT, PROFILE);
            send(request.json(&json!({ "email": email }))).await
        };
        put(&bearer(&anna), "B@x.ru").await.expect_invalid(&["email"]);
        put(&bearer(&anna), "anna@x.ru").await.expect(200);
        // The address is not verified: a person who verifies it is another customer.
        let prover = outside.signed_in(&project, "anna@x.ru").await;
        assert_ne!(prover["id"], anna["id"]);
        put(&bearer(&boris), "boris@x.ru").await.expect(200);
        assert_eq!(outside.signed_in(&project, "b@x.ru").await["id"], boris["id"], "what signs in is not changed");
    }

    async fn a_deleted_customer_may_register_again(db: TestDatabase) {
        let outside = Outside::start(db).await;
        let project = outside.server.project().await;
        let first = outside.signed_in(&project, "79001234567").await;
        let second = bearer(&outside.signed_in(&project, "79001234567").await);
        let token = bearer(&first);
        let request = |method| outside.server.as_customer(&project, &token, method, PROFILE);
        send(request(Method::PUT).json(&json!({ "first_name": "Anna", "email": "anna@x.ru" }))).await.expect(200);
        let gone = send(request(Method::DELETE)).await.expect(200);
        assert_eq!(gone.as_object().unwrap().keys().collect::<Vec<_>>(), ["message"]);
        for method in [Method::GET, Method::DELETE] {
            send(request(method)).await.expect(401);
        }
        send(outside.server.as_customer(&project, &second, Method::GET, PROFILE)).await.expect(401);
        let back = outside.signed_in(&project, "79001234567").await;
        assert_ne!(back["id"], first["id"]);
        assert_eq!((&back["first_name"], &back["email"], &back["phone_1"]), (&Value::Null, &Value::Null, &json!("79001234567")));
    }

    async fn orders_stay_and_a_running_payment_keeps_the_customer(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let order = shop.order(&shop.online(item)).await.expect(201)["order"]["id"].as_i64().unwrap();
        assert!(leave(&shop).await.expect(409)["message"].is_string());
        assert_eq!(shop.state(order).await.0, 2, "nothing is half done");
        shop.pays("succeed").await;
        shop.until(order, 22).await;
        leave(&shop).await.expect(200);
        leave(&shop).await.expect(401);
        shop.order(&shop.pickup(item, 1)).await.expect(401);
        let owner = shop.server.owner(&shop.project).await;
        let path = format!("/api/orders/{order}");
        let kept = send(shop.server.as_staff(&owner, Method::GET, &path)).await.expect(200);
        assert_eq!(kept["order"]["status"]["id"], 22, "{kept}");
        assert!(kept["order"].to_string().contains("79001234567"), "orders stay as they are: {kept}");
    }
}
