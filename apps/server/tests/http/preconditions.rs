//! `ETag` and `If-Match`: no write overwrites unseen changes.

use std::sync::Arc;

use futures_util::future::join_all;
use kontor_adapter_diesel::database_tests;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::keyed::{Second, assert_named, assert_replays, is_replayed, keyed, lease, lose_answers};
use crate::process::ProcessEnvironment;
use crate::project_fixture::ProjectFixture;
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

fn tag(answer: &Answer) -> String {
    answer.headers.get("etag").map(|tag| tag.to_str().unwrap().to_owned()).unwrap_or_default()
}

fn version(tag: &str) -> String {
    tag.trim_matches('"').split('.').next().unwrap().to_owned()
}

fn given(request: RequestBuilder, tag: &str) -> RequestBuilder {
    request.header("If-Match", tag)
}

impl ProjectFixture {
    async fn put_if(&self, path: &str, tag: &str, body: Value) -> Answer {
        send(given(self.server.as_staff(&self.owner, Method::PUT, path), tag).json(&body)).await
    }

    async fn tag_of(&self, path: &str) -> String {
        let read = self.get(path).await;
        read.expect(200);
        tag(&read)
    }
}

async fn department(fixture: &ProjectFixture) -> String {
    let id = fixture.create("/api/departments", json!({ "name": "Sales", "description": "0" })).await;
    format!("/api/departments/{id}")
}

database_tests! {
    async fn a_change_is_made_to_what_was_read(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = department(&fixture).await;
        let first = fixture.tag_of(&path).await;
        assert!(first.starts_with("\"departments-"), "{first}");
        let changed = fixture.put_if(&path, &first, json!({ "name": "Export" })).await;
        assert_eq!(changed.expect(200)["department"]["name"], "Export");
        let second = tag(&changed);
        assert_ne!(version(&second), version(&first));
        assert_eq!(second, fixture.tag_of(&path).await, "the same body, the same tag");
        let stale = fixture.put_if(&path, &first, json!({ "name": "Import" })).await;
        let error = assert_named(&stale, 412, "precondition_failed", "restart");
        assert!(error["request_id"].is_string());
        assert_eq!(version(&tag(&stale)), version(&second));
        let current = stale.json()["current"].clone();
        assert_eq!((&current["version"], &current["changed_by"]["kind"]), (&json!(2), &json!("user")));
        assert_eq!(current["changed_by"]["name"], "Anna Kern");
        assert!(current["changed_by"]["id"].is_i64() && current["changed_at"].is_string(), "{current}");
        assert_eq!(fixture.get(&path).await.expect(200)["department"]["name"], "Export");
        // The precondition is checked before validation, and after the permission.
        fixture.put_if(&path, &first, json!({ "name": 7 })).await.expect(412);
        fixture.put_if(&path, &second, json!({ "name": 7 })).await.expect_invalid(&["name"]);
        let viewer = fixture.server.staff_with(&fixture.project, &["view-departments"]).await;
        let forbidden = given(fixture.server.as_staff(&viewer, Method::PUT, &path), &first);
        send(forbidden.json(&json!({}))).await.expect(403);
        send(given(fixture.server.request(Method::PUT, &path), &first).json(&json!({}))).await.expect(401);
        let stale = send(given(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path), &first)).await;
        stale.expect(412);
        let gone = send(given(fixture.server.as_staff(&fixture.owner, Method::DELETE, &path), &tag(&stale))).await;
        gone.expect(200);
        assert_eq!(tag(&gone), "");
        fixture.put_if(&path, &second, json!({})).await.expect(404);
    }

    async fn tags_are_compared_strongly_and_with_their_own_record(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (path, other) = (department(&fixture).await, department(&fixture).await);
        let (own, others) = (fixture.tag_of(&path).await, fixture.tag_of(&other).await);
        let put = async |tag: &str| fixture.put_if(&path, tag, json!({ "description": "1" })).await;
        for refused in [others.clone(), format!("W/{own}"), "\"7\"".to_owned(), "\"\"".to_owned(), format!("{others}, W/{own}")] {
            assert_named(&put(&refused).await, 412, "precondition_failed", "restart");
        }
        for malformed in ["", "1", "departments", "\"a", "*, \"1\"", "\"1\" \"2\""] {
            assert_named(&put(malformed).await, 400, "precondition_malformed", "fix_input");
        }
        put(&format!("{others}, {own}")).await.expect(200);
        put("\"2\"").await.expect(200);
        put(&format!("\"{}\"", version(&fixture.tag_of(&path).await))).await.expect(200);
        put("*").await.expect(200);
        let lines = given(given(fixture.server.as_staff(&fixture.owner, Method::PUT, &path), &others), "\"5\"");
        send(lines.json(&json!({}))).await.expect(200);
        // A record of another project and a missing record are refused as such, whatever the tag.
        let outsider = fixture.server.owner(&fixture.server.project().await).await;
        for tag in [own.as_str(), "*", "\"9\""] {
            let foreign = given(fixture.server.as_staff(&outsider, Method::PUT, &path), tag).json(&json!({}));
            let foreign = send(foreign).await;
            foreign.expect(403);
            assert_eq!(self::tag(&foreign), "");
            fixture.put_if("/api/departments/999999", tag, json!({})).await.expect(404);
            fixture.put_if("/api/departments/x", tag, json!({})).await.expect(404);
        }
        let foreign = send(fixture.server.as_staff(&outsider, Method::GET, &path).header("If-None-Match", "*")).await;
        foreign.expect(403);
    }

    async fn a_write_that_is_sent_again_gets_its_answer(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = department(&fixture).await;
        let first = fixture.tag_of(&path).await;
        let put = async |key: &str, tag: &str| {
            let request = given(fixture.server.as_staff(&fixture.owner, Method::PUT, &path), tag);
            send(keyed(request, key).json(&json!({ "name": "Export" }))).await
        };
        let done = put("a", &first).await;
        done.expect(200);
        let again = put("a", &first).await;
        assert_replays(&done, &again);
        assert_eq!(tag(&again), tag(&done));
        lose_answers(&fixture.server).await;
        lease(&fixture.server, -1).await;
        let recovered = put("a", &first).await;
        assert_eq!((recovered.expect(200), tag(&recovered)), (done.json(), tag(&done)));
        // A request refused for its version was not carried out, so the key can be used again.
        put("b", &first).await.expect(412);
        let second = put("b", &tag(&done)).await;
        second.expect(200);
        assert!(!is_replayed(&second));
    }

    async fn of_many_who_have_read_the_same_one_writes(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = department(&fixture).await;
        let elsewhere = Second::start(&fixture.server);
        for round in 0..5 {
            let first = fixture.tag_of(&path).await;
            let writes = (0..20).map(|number| {
                let here = fixture.server.as_staff(&fixture.owner, Method::PUT, &path);
                let there = elsewhere.as_staff(&fixture.server, &fixture.owner, Method::PUT, &path);
                let request = if number % 2 == 0 { here } else { there };
                send(given(request, &first).json(&json!({ "name": format!("{round}-{number}") })))
            });
            let answers = join_all(writes).await;
            let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
            let refused = answers.iter().filter(|answer| answer.status == 412).count();
            assert_eq!((won.len(), refused), (1, 19), "{answers:?}");
            assert_eq!(fixture.get(&path).await.expect(200), won[0].json());
        }
        elsewhere.stop().await;
    }

    /// Each of two editors increases a number in a separate field a thousand times in all, and sends both fields as
    /// read. Without versions each would undo the other's changes.
    async fn two_editors_lose_no_field(db: TestDatabase) {
        const EACH: u32 = 500;
        let fixture = Arc::new(ProjectFixture::open(db).await);
        let id = fixture.create("/api/departments", json!({ "name": "0", "description": "0" })).await;
        let path = format!("/api/departments/{id}");
        let edit = |own: &'static str| {
            let (fixture, path) = (Arc::clone(&fixture), path.clone());
            tokio::spawn(async move {
                let (mut done, mut refused) = (0, 0_u32);
                while done < EACH {
                    let read = fixture.get(&path).await;
                    let mut record = read.expect(200)["department"].clone();
                    let next: u32 = record[own].as_str().unwrap().parse::<u32>().unwrap() + 1;
                    record[own] = json!(next.to_string());
                    let both = json!({ "name": record["name"], "description": record["description"] });
                    let written = fixture.put_if(&path, &tag(&read), both).await;
                    match written.status.as_u16() {
                        200 => done += 1,
                        412 => refused += 1,
                        status => panic!("{status}: {}", written.text),
                    }
                }
                refused
            })
        };
        let (one, other) = (edit("name"), edit("description"));
        let refused = one.await.unwrap() + other.await.unwrap();
        let record = fixture.get(&path).await.expect(200)["department"].clone();
        assert_eq!((&record["name"], &record["description"]), (&json!("500"), &json!("500")));
        assert!(refused > 0, "they never met");
        assert_eq!(version(&fixture.tag_of(&path).await), format!("departments-{id}-1001"));
    }

    async fn concurrent_changes_make_another_version(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let item = fixture.create("/api/nomenclatures", json!({ "name": "Mug", "kind_id": 2, "article": "A-1" })).await;
        let path = format!("/api/nomenclatures/{item}");
        let card = fixture.tag_of(&path).await;
        let sheet = "article;name\nA-1;Cup\n".as_bytes().to_vec();
        assert_eq!(fixture.upload("/api/nomenclatures/import", sheet, &[]).await.expect(200)["updated"], 1);
        let stale = fixture.put_if(&path, &card, json!({ "name": "Jug" })).await;
        assert_eq!(stale.expect(412)["current"]["changed_by"]["name"], "Anna Kern");
        fixture.put_if(&path, &tag(&stale), json!({ "name": "Jug" })).await.expect(200);
        // A table returns the version only, and that is enough to write.
        let row = fixture.get("/api/tables/nomenclatures").await.expect(200)["nomenclatures"][0].clone();
        let bare = format!("\"{}\"", row["version"]);
        fixture.put_if(&path, &bare, json!({ "name": "Pot" })).await.expect(200);
        fixture.put_if(&path, &bare, json!({ "name": "Pan" })).await.expect(412);
    }

    async fn a_payment_and_a_change_of_stock_are_new_versions(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let item = shop.goods(5, 100).await;
        let order = shop.order(&shop.online(item)).await.expect(201)["order"]["id"].as_i64().unwrap();
        let owner = shop.server.owner(&shop.project).await;
        let fixture = ProjectFixture { server: shop.server, project: shop.project.clone(), owner };
        let path = format!("/api/orders/{order}");
        let inventory = fixture.server.insert(format!("SELECT id FROM inventories WHERE nomenclature_id = {item}")).await;
        let stock = format!("/api/inventories/{inventory}");
        let (unpaid, shelf) = (fixture.tag_of(&path).await, fixture.tag_of(&stock).await);
        let shop = ShopFixture { server: fixture.server, ..shop };
        shop.pays("succeed").await;
        shop.until(order, 22).await;
        let fixture = ProjectFixture { server: shop.server, project: shop.project.clone(), owner: fixture.owner };
        let stale = fixture.put_if(&path, &unpaid, json!({ "comment": "Ring twice" })).await;
        assert_eq!(stale.expect(412)["current"]["changed_by"]["kind"], "system");
        let paid = tag(&stale);
        let noted = fixture.put_if(&path, &paid, json!({ "comment": "Ring twice" })).await;
        noted.expect(200);
        // Reservations do not change the version of a stock level; a handover does.
        assert_eq!(version(&fixture.tag_of(&stock).await), version(&shelf));
        fixture.put_if(&path, &tag(&noted), json!({ "status_id": 5 })).await.expect(200);
        let counted = fixture.put_if(&stock, &shelf, json!({ "quantity": 5 })).await;
        assert_eq!(counted.expect(412)["current"]["changed_by"]["kind"], "user");
        fixture.put_if(&stock, &tag(&counted), json!({ "quantity": 5 })).await.expect(200);
    }

    async fn new_records_can_be_changed_at_once(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let (branch, hooks) = (fixture.project.branch_id, format!("/api/applications/{}", fixture.project.application_id));
        let customer = fixture.create("/api/counterparties", json!({ "is_company": false, "first_name": "Ivan" })).await;
        let customer = format!("/api/counterparties/{customer}");
        let plan = fixture.plan("Plan", json!({})).await;
        let item = fixture.goods("Mug").await;
        let warehouse = fixture.warehouse("Main").await;
        let account = json!({ "bik": "044525225", "bank_name": "Bank", "account": "40702810938000000001" });
        let shop = json!({ "name": "Main", "address": "Nevsky 1", "branch_id": branch });
        let shop = format!("/api/shops/{}", fixture.create("/api/shops", shop).await);
        let role = fixture.create("/api/roles", json!({ "name": "Packer" })).await;
        let made = [
            (
                format!("{shop}/hours"),
                json!({ "weekday": 1, "opens_at": "09:00", "closes_at": "18:00" }),
                json!({ "weekday": 1, "opens_at": "10:00", "closes_at": "18:00" }),
            ),
            (
                format!("{shop}/exceptions"),
                json!({ "date": "2027-01-05", "opens_at": "09:00", "closes_at": "12:00" }),
                json!({ "date": "2027-01-05", "opens_at": "10:00", "closes_at": "12:00" }),
            ),
            ("/api/agents".to_owned(), json!({ "name": "Agent" }), json!({ "name": "Bot" })),
            (
                "/api/users".to_owned(),
                json!({ "login": "oleg", "email": "oleg@example.com", "first_name": "Oleg", "last_name": "Kern", "role_id": role }),
                json!({ "first_name": "Igor" }),
            ),
            ("/api/departments".to_owned(), json!({ "name": "Sales" }), json!({ "name": "Export" })),
            ("/api/roles".to_owned(), json!({ "name": "Clerk" }), json!({ "name": "Boss" })),
            ("/api/permissions".to_owned(), json!({ "name": "view-reports", "screen_id": 1 }), json!({ "description": "x" })),
            ("/api/brands".to_owned(), json!({ "name": "Nord" }), json!({ "name": "Sud" })),
            ("/api/payment_types".to_owned(), json!({ "name": "Cash" }), json!({ "name": "Card" })),
            ("/api/categories".to_owned(), json!({ "name": "Cups" }), json!({ "name": "Mugs" })),
            ("/api/nomenclatures".to_owned(), json!({ "name": "Cup", "kind_id": 2 }), json!({ "name": "Jug" })),
            ("/api/warehouses".to_owned(), json!({ "name": "Far", "branch_id": branch }), json!({ "name": "Near" })),
            (
                "/api/inventories".to_owned(),
                json!({ "warehouse_id": warehouse, "nomenclature_id": item, "quantity": 3, "price": "10.00" }),
                json!({ "quantity": 4 }),
            ),
            ("/api/discounts".to_owned(), json!({ "name": "Sale", "type": "percent", "value": 5 }), json!({ "name": "Less" })),
            ("/api/promotions".to_owned(), json!({ "name": "Weeks" }), json!({ "name": "Days" })),
            ("/api/counterparties".to_owned(), json!({ "is_company": false, "first_name": "Oleg" }), json!({ "is_company": false, "first_name": "Anna" })),
            (format!("{customer}/contacts"), json!({ "kind": "phone", "value": "79001234568" }), json!({ "comment": "x" })),
            (format!("{customer}/bank_requisites"), account.clone(), json!({ "comment": "x" })),
            ("/api/branches".to_owned(), json!({ "name": "Nord" }), json!({ "name": "Sud" })),
            (format!("/api/branches/{branch}/bank_requisites"), account, json!({ "comment": "x" })),
            (format!("{hooks}/slides"), json!({ "title": "Sale" }), json!({ "title": "News" })),
            (format!("{hooks}/webhooks"), json!({ "url": "http://127.0.0.1:9/x" }), json!({ "name": "x" })),
            (
                format!("{hooks}/subscription-nomenclatures"),
                json!({ "nomenclature_id": plan, "plan_slug": "plan" }),
                json!({ "position": 7 }),
            ),
        ];
        for (path, new, change) in made {
            let answer = fixture.post(&path, new).await;
            assert_eq!(answer.status, 201, "{path}: {}", answer.text);
            let first = tag(&answer);
            let id = version(&first).split('-').rev().nth(1).unwrap_or_default().to_owned();
            let method = if ["agents", "webhooks", "subscription-nomenclatures"].iter().any(|kind| path.ends_with(kind)) {
                Method::PATCH
            } else {
                Method::PUT
            };
            let write = || given(fixture.server.as_staff(&fixture.owner, method.clone(), &format!("{path}/{id}")), &first);
            let changed = send(write().json(&change)).await;
            assert_eq!(changed.status, 200, "{path} {first}: {}", changed.text);
            send(write().json(&change)).await.expect(412);
        }
        // A `POST` that changes a record also checks the header, and returns the new state.
        let discount = fixture.create("/api/discounts", json!({ "name": "Sale", "type": "percent", "value": 5 })).await;
        let (path, paused) = (format!("/api/discounts/{discount}"), format!("/api/discounts/{discount}/pause"));
        let first = fixture.tag_of(&path).await;
        let done = send(given(fixture.server.as_staff(&fixture.owner, Method::POST, &paused), &first)).await;
        done.expect(200);
        assert_eq!(tag(&done), fixture.tag_of(&path).await);
        send(given(fixture.server.as_staff(&fixture.owner, Method::POST, &paused), &first)).await.expect(412);
    }

    async fn customers_are_notified_of_a_change_without_its_author(db: TestDatabase) {
        let shop = ShopFixture::open(db).await;
        let own = |method| shop.server.as_customer(&shop.project, &shop.bearer, method, "/api/counterparty");
        let read = send(own(Method::GET)).await;
        let first = tag(&read);
        assert!(first.starts_with("\"counterparties-"), "{first}");
        let unchanged = send(own(Method::GET).header("If-None-Match", &first)).await;
        unchanged.expect(304);
        assert_eq!(unchanged.headers["cache-control"], "no-store");
        let owner = shop.server.owner(&shop.project).await;
        let path = format!("/api/counterparties/{}", shop.customer);
        let noted = send(shop.server.as_staff(&owner, Method::PUT, &path).json(&json!({ "is_company": false, "first_name": "Pyotr" }))).await;
        noted.expect(200);
        let stale = send(given(own(Method::PUT), &first).json(&json!({ "first_name": "Ivan" }))).await;
        let current = stale.expect(412)["current"].clone();
        assert_eq!(current["changed_by"], json!({ "kind": "user", "id": null, "name": null }));
        let changed = send(given(own(Method::PUT), &tag(&stale)).json(&json!({ "first_name": "Ivan" }))).await;
        assert_eq!(changed.expect(200)["counterparty"]["first_name"], "Ivan");
        let staff = send(given(shop.server.as_staff(&owner, Method::PUT, &path), &tag(&noted)).json(&json!({ "is_company": false }))).await;
        let by = staff.expect(412)["current"]["changed_by"].clone();
        assert_eq!((&by["kind"], &by["id"]), (&json!("counterparty"), &json!(shop.customer)));
        send(given(own(Method::DELETE), &first)).await.expect(412);
        send(given(own(Method::DELETE), &tag(&changed))).await.expect(200);
    }

    async fn versions_cost_few_statements(db: TestDatabase) {
        let fixture = ProjectFixture::open(db).await;
        let path = department(&fixture).await;
        let put = || fixture.server.as_staff(&fixture.owner, Method::PUT, &path).json(&json!({}));
        let server = &fixture.server;
        let unconditional = async || send(put()).await.expect(200);
        let any = async || send(given(put(), "*")).await.expect(200);
        let read = async || fixture.tag_of(&path).await;
        let as_read = async || send(given(put(), &fixture.tag_of(&path).await)).await.expect(200);
        let plain = server.fewest_statements(unconditional).await;
        assert_eq!(server.fewest_statements(any).await, plain + 1, "the version before");
        let reading = server.fewest_statements(read).await;
        let both = server.fewest_statements(as_read).await;
        assert_eq!(both, reading + plain + 2, "the version before, and once more in the step");
    }

    async fn an_operator_requires_versions(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].to_string();
        let set = |project: &str, required: &str| {
            environment.command(&["project", "if-match", "--project", project, "--required", required]).output().unwrap()
        };
        let done = set(&project, "true");
        assert!(done.status.success() && String::from_utf8(done.stdout).unwrap().contains("if_match_required  true"));
        assert!(!set(&project, "maybe").status.success());
        let unknown = set("999", "true");
        assert!(!unknown.status.success() && String::from_utf8(unknown.stderr).unwrap().contains("project 999 not found"));
        assert!(set(&project, "false").status.success());
    }
}
