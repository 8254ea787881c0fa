//! Tasks of employees.

use std::time::{Duration, Instant};

use kontor::instance::Roles;
use kontor_adapter_diesel::{database_tests, retry_until};
use kontor_kernel::Clock as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::outside::Outside;
use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::send;

const PATH: &str = "/api/tasks";
const TABLE: &str = "/api/tables/tasks";

fn titles(table: &Value) -> Vec<&str> {
    table["tasks"].as_array().unwrap().iter().map(|row| row["title"]["value"].as_str().unwrap()).collect()
}

database_tests! {
    async fn a_task_is_created_read_changed_and_closed(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let order = shop.order(&shop.pickup(item, 1)).await.expect(201)["order"]["id"].clone();
        let ShopFixture { server, project, customer, .. } = shop;
        let owner = server.owner(&project).await;
        let fixture = ProjectFixture { server, project, owner };
        let admin = fixture.own_number().await;
        let body = json!({
            "title": "Перезвонить", "description": "До обеда", "responsible_id": admin, "deadline": "2035-01-01T10:00:00+03:00",
            "order_id": order, "counterparty_id": customer,
        });
        let created = fixture.post(PATH, body).await.expect(201);
        let task = &created["task"];
        assert_eq!(task["status"], json!({ "id": 1, "name": "New" }));
        assert_eq!((&task["author"]["id"], &task["responsible"]["id"]), (&json!(admin), &json!(admin)));
        assert_eq!((&task["order_id"], &task["counterparty_id"]), (&order, &json!(customer)));
        assert_eq!((&task["deadline"], &task["closed_at"]), (&json!("2035-01-01T07:00:00Z"), &json!(null)));
        let path = format!("{PATH}/{}", task["id"]);
        assert_eq!(fixture.get(&path).await.expect(200), created);
        let done = fixture.put(&path, json!({ "status_id": 3, "deadline": null })).await.expect(200)["task"].clone();
        assert!(done["closed_at"].is_string() && done["deadline"].is_null(), "{done}");
        let canceled = fixture.put(&path, json!({ "status_id": 4, "order_id": 0 })).await.expect(200)["task"].clone();
        assert_eq!(canceled["closed_at"], done["closed_at"], "closed once");
        let again = fixture.put(&path, json!({ "status_id": 2, "responsible_id": null })).await.expect(200)["task"].clone();
        assert_eq!((&again["closed_at"], &again["responsible"], &again["order_id"]), (&json!(null), &json!(null), &json!(null)));
    }

    async fn every_wrong_field_is_named(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let wrong = json!({
            "title": " ", "description": "\u{0}", "status_id": 5, "responsible_id": "x", "deadline": "tomorrow", "order_id": -1,
            "counterparty_id": true,
        });
        let fields = ["title", "description", "status_id", "responsible_id", "deadline", "order_id", "counterparty_id"];
        fixture.post(PATH, wrong).await.expect_invalid(&fields);
        let other = fixture.server.project().await;
        let (outsider, _) = fixture.server.customer(&other).await;
        let foreign = json!({ "title": "T", "responsible_id": 999_999, "order_id": 999_999, "counterparty_id": outsider });
        fixture.post(PATH, foreign.clone()).await.expect_invalid(&["responsible_id", "order_id", "counterparty_id"]);
        for deadline in ["2020-01-01T00:00:00Z", "9999-01-01T00:00:00Z"] {
            fixture.post(PATH, json!({ "title": "T", "deadline": deadline })).await.expect_invalid(&["deadline"]);
        }
        let path = format!("{PATH}/{}", fixture.create(PATH, json!({ "title": "T" })).await);
        fixture.put(&path, foreign).await.expect_invalid(&["responsible_id", "order_id", "counterparty_id"]);
        fixture.put(&path, json!({ "title": null, "status_id": null })).await.expect_invalid(&["title", "status_id"]);
        assert_eq!(fixture.get(PATH).await.expect(200)["tasksCount"], 1);
    }

    async fn tasks_are_found_sorted_and_filtered(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let admin = fixture.own_number().await;
        fixture.create(PATH, json!({ "title": "Позвонить", "deadline": "2035-02-01T00:00:00Z", "responsible_id": admin })).await;
        fixture.create(PATH, json!({ "title": "Собрать", "deadline": "2035-01-01T00:00:00Z", "status_id": 2 })).await;
        fixture.create(PATH, json!({ "title": "Ждать" })).await;
        let table = async |query: &str| fixture.get(&format!("{TABLE}?{query}")).await.expect(200);
        assert_eq!(titles(&table("").await), ["Ждать", "Собрать", "Позвонить"]);
        assert_eq!(titles(&table("order_by=deadline_asc").await), ["Ждать", "Собрать", "Позвонить"]);
        assert_eq!(titles(&table("order_by=deadline_desc").await), ["Позвонить", "Собрать", "Ждать"]);
        assert_eq!(titles(&table("status_id=2").await), ["Собрать"]);
        assert_eq!(titles(&table(&format!("responsible_id={admin}")).await), ["Позвонить"]);
        assert_eq!(titles(&table("query=%D0%96%D0%94%D0%90").await), ["Ждать"]);
        let one = fixture.cost(TABLE).await;
        for number in 0..10 {
            fixture.create(PATH, json!({ "title": format!("T {number}") })).await;
        }
        assert_eq!(fixture.cost(TABLE).await, one, "the number of statements does not grow with the rows");
    }

    async fn employees_are_notified_of_their_tasks_by_one_mail(db: TestDatabase) {
        let outside = Outside::start_as(db, Roles::Both, |_| {}).await;
        let project = outside.server.project().await;
        let [owner, anna] = [outside.server.owner(&project).await, outside.server.owner(&project).await];
        let of = async |token: &str| {
            send(outside.server.as_staff(token, Method::GET, "/api/user")).await.expect(200)["user"]["id"].clone()
        };
        let (admin_id, anna_id) = (of(&owner).await, of(&anna).await);
        for (id, mailbox) in [(&admin_id, "boss@example.com"), (&anna_id, "anna@example.com")] {
            outside.server.execute(&format!("UPDATE users SET email = '{mailbox}' WHERE id = {id}")).await;
        }
        let ask = async |token: &str, method, path: &str, body: Value| {
            send(outside.server.as_staff(token, method, path).json(&body)).await
        };
        let create = async |title: &str, responsible: &Value| {
            let body = json!({ "title": title, "responsible_id": responsible });
            ask(&owner, Method::POST, PATH, body).await.expect(201)["task"]["id"].clone()
        };
        let minute = async || {
            outside.server.clock.advance(61);
            let waiting = "SELECT COUNT(*) AS id FROM task_mails WHERE next_attempt_at <= ";
            let now = outside.server.clock.now().format("%Y-%m-%d %H:%M:%S%.6f");
            let patience = Instant::now() + Duration::from_mins(1);
            while outside.server.insert(format!("{waiting}'{now}'")).await > 0 {
                retry_until!(patience, "the worker tells nobody");
            }
        };
        let call = create("Call Vera", &anna_id).await;
        let count = create("Count the tins", &anna_id).await;
        create("Think", &admin_id).await;
        let elsewhere = create("Not hers after all", &anna_id).await;
        let path = |task: &Value| format!("{PATH}/{task}");
        ask(&owner, Method::PUT, &path(&elsewhere), json!({ "responsible_id": admin_id })).await.expect(200);
        assert_eq!(outside.count("anna@example.com").await, 0, "they are collected first");
        minute().await;
        assert_eq!((outside.count("anna@example.com").await, outside.count("boss@example.com").await), (1, 0));
        let text = outside.newest("anna@example.com").await.unwrap();
        assert!(text.contains("Call Vera") && text.contains("Count the tins") && !text.contains("Not hers"), "{text}");

        // The mail server is unavailable at first, and nothing is lost. The author is notified that the task is done.
        outside.fault("mail", "drop").await;
        ask(&anna, Method::PUT, &path(&call), json!({ "status_id": 3 })).await.expect(200);
        minute().await;
        assert_eq!(outside.count("boss@example.com").await, 0);
        minute().await;
        assert!(outside.newest("boss@example.com").await.unwrap().contains("Call Vera"));
        assert_eq!(outside.count("anna@example.com").await, 1, "nobody is told of what they did themselves");

        // A banned employee gets no more mail.
        ask(&owner, Method::PUT, &path(&count), json!({ "deadline": "2035-01-01T00:00:00Z" })).await.expect(200);
        outside.server.execute(&format!("UPDATE users SET is_banned = TRUE WHERE id = {anna_id}")).await;
        minute().await;
        assert_eq!(outside.count("anna@example.com").await, 1);
        let left = "SELECT (SELECT COUNT(*) FROM task_news) + (SELECT COUNT(*) FROM task_mails) AS id";
        assert_eq!(outside.server.insert(left.to_owned()).await, 0);
    }

    async fn only_staff_of_the_project_with_the_permission_come_in(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = format!("{PATH}/{}", fixture.create(PATH, json!({ "title": "T" })).await);
        fixture.as_outsider(Method::GET, &path, json!({})).await.expect(403);
        fixture.as_outsider(Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["view-tasks"], Method::GET, &path, json!({})).await.expect(200);
        fixture.as_one_who_may(&["view-tasks"], Method::PUT, &path, json!({})).await.expect(403);
        fixture.as_one_who_may(&["create-tasks"], Method::PUT, &path, json!({})).await.expect(403);
        fixture.get(&format!("{PATH}/999999")).await.expect(404);
    }
}
