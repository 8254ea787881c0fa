//! Dictionaries of both surfaces: keys, fields, ids with a fixed meaning.

use kontor_adapter_diesel::database_tests;
use kontor_kernel::Name;
use kontor_organization::model::{PlannedPaymentType, ProjectPlan};
use kontor_organization::ports::ProjectRepository;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Project, TestServer, keys, send};

async fn founded(server: &TestServer) -> Project {
    let plan = ProjectPlan {
        name: Name::parse("Founded").unwrap(),
        token_fingerprint: crate::support::sha256("founded"),
        delivery_types: vec![(1, "Pickup"), (2, "Delivery")],
        delivery_subtypes: vec![(1, 2, "Point"), (2, 2, "Courier")],
        payment_types: vec![
            PlannedPaymentType { name: "Online", description: "By card", is_online: true },
            PlannedPaymentType { name: "Cash", description: "At the door", is_online: false },
        ],
    };
    let records = server.db.database.create_project(plan, chrono::DateTime::UNIX_EPOCH).await.unwrap();
    Project {
        id: records.project_id.get(),
        branch_id: records.branch_id.get(),
        application_id: records.application_id.get(),
        app_token: "founded".to_owned(),
    }
}

async fn client(server: &TestServer, project: &Project, path: &str) -> Value {
    send(server.as_app(project, Method::GET, path)).await.expect(200)
}

const LISTS: [(&str, &str); 18] = [
    ("/api/block_types", "blockTypes"),
    ("/api/call_statuses", "callStatuses"),
    ("/api/cities", "cities"),
    ("/api/counterparty_types", "counterpartyTypes"),
    ("/api/countries", "countries"),
    ("/api/delivery_types", "deliveryTypes"),
    ("/api/file_types", "fileTypes"),
    ("/api/integration_types", "integrationTypes"),
    ("/api/nomenclature_kinds", "nomenclatureKinds"),
    ("/api/nomenclature_types", "nomenclatureTypes"),
    ("/api/objects", "objects"),
    ("/api/order_statuses", "orderStatuses"),
    ("/api/page_types", "pageTypes"),
    ("/api/settings", "settings"),
    ("/api/storage_units", "units"),
    ("/api/task_statuses", "taskStatuses"),
    ("/api/vats", "vats"),
    ("/api/screens", "screens"),
];

/// Dictionaries with a path for one entry, and the key of that entry.
const ENTRIES: [(&str, &str); 12] = [
    ("/api/block_types", "blockType"),
    ("/api/call_statuses", "callStatus"),
    ("/api/cities", "city"),
    ("/api/counterparty_types", "counterpartyType"),
    ("/api/file_types", "fileType"),
    ("/api/integration_types", "integrationType"),
    ("/api/order_statuses", "orderStatus"),
    ("/api/page_types", "pageType"),
    ("/api/settings", "setting"),
    ("/api/storage_units", "unit"),
    ("/api/task_statuses", "taskStatus"),
    ("/api/vats", "vat"),
];

/// Dictionaries whose records have other fields.
const OTHER_SHAPES: [&str; 5] =
    ["/api/countries", "/api/delivery_types", "/api/screens", "/api/settings", "/api/storage_units"];

database_tests! {
    async fn every_entry_can_be_read_alone(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = founded(&server).await;
        let owner = server.owner(&project).await;
        for (path, key) in ENTRIES {
            let list = send(server.as_staff(&owner, Method::GET, path)).await.expect(200);
            let plural = LISTS.iter().find(|(list, _)| *list == path).unwrap().1;
            for entry in list[plural].as_array().unwrap() {
                let one = send(server.as_staff(&owner, Method::GET, &format!("{path}/{}", entry["id"]))).await.expect(200);
                assert_eq!(one, json!({ key: entry }), "{path}");
            }
            for absent in ["0", "999999", "9223372036854775808", "x", "-1", "1.0"] {
                send(server.as_staff(&owner, Method::GET, &format!("{path}/{absent}"))).await.expect(404);
            }
            let nobody = server.staff_with(&project, &[]).await;
            send(server.as_staff(&nobody, Method::GET, &format!("{path}/1"))).await.expect(403);
        }
        for absent in ["/api/units", "/api/units/1", "/api/countries/1", "/api/nomenclature_kinds/1", "/api/objects/1"] {
            send(server.as_staff(&owner, Method::GET, absent)).await.expect(404);
        }
        send(server.as_staff(&owner, Method::POST, "/api/cities")).await.expect(405);
    }

    async fn records_have_their_documented_fields(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = founded(&server).await;
        let owner = server.owner(&project).await;
        for (path, key) in LISTS {
            let list = send(server.as_staff(&owner, Method::GET, path)).await.expect(200);
            let first = &list[key][0];
            assert!(first["name"].is_string(), "{path}: {first}");
            if !OTHER_SHAPES.contains(&path) {
                assert_eq!(keys(first), ["avatar", "created_at", "id", "name"], "{path}");
            }
        }
        let countries = send(server.as_staff(&owner, Method::GET, "/api/countries")).await.expect(200);
        assert_eq!(keys(&countries["countries"][0]), ["created_at", "id", "name", "photo"]);
        let files = send(server.as_staff(&owner, Method::GET, "/api/file_types")).await.expect(200);
        let names: Vec<_> = files["fileTypes"].as_array().unwrap().iter().map(|kind| (kind["id"].clone(), kind["name"].clone())).collect();
        let expected = [(1, "Employment contract"), (2, "Avatar"), (3, "Order file")];
        assert_eq!(names, expected.map(|(id, name)| (json!(id), json!(name))));
        let currency = send(server.as_staff(&owner, Method::GET, "/api/settings/2")).await.expect(200);
        assert_eq!((&currency["setting"]["name"], &currency["setting"]["value"]), (&json!("currency"), &json!("RUB")));
    }

    async fn staff_dictionaries_have_their_documented_keys(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = founded(&server).await;
        let owner = server.owner(&project).await;
        for (path, key) in LISTS {
            let body = send(server.as_staff(&owner, Method::GET, path)).await.expect(200);
            let items = body[key].as_array().unwrap_or_else(|| panic!("{key} in {body}"));
            assert!(!items.is_empty(), "{path}");
            assert_eq!(body[format!("{key}Count")], items.len(), "{path}");
            let nobody = server.staff_with(&project, &[]).await;
            send(server.as_staff(&nobody, Method::GET, path)).await.expect(403);
        }
        let statuses = send(server.as_staff(&owner, Method::GET, "/api/order_statuses")).await.expect(200);
        let ids: Vec<_> = statuses["orderStatuses"].as_array().unwrap().iter().map(|s| s["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, [1, 2, 3, 4, 5, 6, 22]);
        let units = send(server.as_staff(&owner, Method::GET, "/api/storage_units")).await.expect(200);
        assert_eq!(units["units"][0], json!({ "id": 1, "name": "Piece", "abbreviation": "pc" }));
    }

    async fn delivery_and_payment_types_are_the_projects_own(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let project = founded(&server).await;
        let types = client(&server, &project, "/api/counterparty/delivery_types").await;
        assert_eq!(types["deliveryTypesCount"], 2);
        let pickup = json!({ "id": 1, "name": "Pickup", "price": "0.00", "is_active": 1 });
        assert_eq!(types["deliveryTypes"][0], pickup);
        assert_eq!(client(&server, &project, "/api/counterparty/delivery_types/1").await, json!({ "deliveryType": pickup }));
        let subtypes = client(&server, &project, "/api/counterparty/delivery_types/2/subtypes").await;
        assert_eq!((subtypes["deliverySubtypesCount"].as_i64(), &subtypes["deliverySubtypes"][1]["name"]), (Some(2), &json!("Courier")));
        let crossed = client(&server, &project, "/api/counterparty/delivery_types/1/subtypes/2").await;
        assert_eq!(crossed["deliverySubtype"]["name"], "Courier");
        let params = client(&server, &project, "/api/counterparty/delivery_types/2/subtypes/1/params").await;
        assert_eq!(params, json!({ "deliverySubtypeParams": [] }));
        let payments = client(&server, &project, "/api/counterparty/payment_types").await;
        assert_eq!((payments["paymentTypesCount"].as_i64(), &payments["paymentTypes"][0]["photo"]), (Some(2), &Value::Null));
        for absent in ["delivery_types/3", "delivery_types/3/subtypes", "delivery_types/2/subtypes/9", "delivery_types/x"] {
            send(server.as_app(&project, Method::GET, &format!("/api/counterparty/{absent}"))).await.expect(404);
        }
        let empty = server.project().await;
        assert_eq!(client(&server, &empty, "/api/counterparty/delivery_types").await["deliveryTypesCount"], 0);
    }

    async fn inactive_options_and_every_field_are_shown(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let (project, other) = (founded(&server).await, server.project().await);
        let id = project.id;
        server.execute(&format!("UPDATE delivery_types SET is_active = FALSE, price = 30050 WHERE project_id = {id} AND id = 2")).await;
        server.execute(&format!("UPDATE delivery_subtypes SET is_active = FALSE, price = 7 WHERE project_id = {id} AND id = 1")).await;
        let mut points = Vec::new();
        for (name, address, active) in [("North", "'Elbe Street 5'", true), ("South", "NULL", false)] {
            points.push(server.insert(format!(
                "INSERT INTO delivery_subtype_params (project_id, delivery_subtype_id, name, address, is_active) \
                 VALUES ({id}, 1, '{name}', {address}, {active}) RETURNING id"
            )).await);
        }
        for (table, columns, values) in
            [("delivery_types", "id", "2"), ("delivery_subtypes", "id, delivery_type_id", "1, 2")]
        {
            server.execute(&format!(
                "INSERT INTO {table} (project_id, {columns}, name, price, is_active) VALUES ({}, {values}, 'Elsewhere', 0, TRUE)",
                other.id
            )).await;
        }
        server.insert(format!(
            "INSERT INTO delivery_subtype_params (project_id, delivery_subtype_id, name, is_active) \
             VALUES ({}, 1, 'Elsewhere', TRUE) RETURNING id", other.id
        )).await;
        server.execute(&format!("UPDATE payment_types SET photo = 'https://x.ru/card.png' WHERE project_id = {id} AND name = 'Online'")).await;

        let types = "/api/counterparty/delivery_types";
        let delivery = json!({ "id": 2, "name": "Delivery", "price": "300.50", "is_active": 0 });
        let listed = client(&server, &project, types).await;
        assert_eq!((&listed["deliveryTypesCount"], &listed["deliveryTypes"][1]), (&json!(2), &delivery));
        assert_eq!(listed["deliveryTypes"][0]["is_active"], 1);
        assert_eq!(client(&server, &project, &format!("{types}/2")).await["deliveryType"], delivery);
        let point = json!({ "id": 1, "name": "Point", "price": "0.07", "is_active": 0 });
        let listed = client(&server, &project, &format!("{types}/2/subtypes")).await;
        assert_eq!((&listed["deliverySubtypesCount"], &listed["deliverySubtypes"][0]), (&json!(2), &point));
        assert_eq!(listed["deliverySubtypes"][1]["is_active"], 1);
        assert_eq!(client(&server, &project, &format!("{types}/2/subtypes/1")).await["deliverySubtype"], point);
        let params = client(&server, &project, &format!("{types}/2/subtypes/1/params")).await;
        assert_eq!(params, json!({ "deliverySubtypeParams": [
            { "id": points[0], "name": "North", "address": "Elbe Street 5", "is_active": 1 },
            { "id": points[1], "name": "South", "address": null, "is_active": 0 },
        ] }));
        let payments = client(&server, &project, "/api/counterparty/payment_types").await;
        let (card, cash) = (&payments["paymentTypes"][0], &payments["paymentTypes"][1]);
        assert_eq!(keys(card), ["description", "id", "is_online", "name", "photo"]);
        assert_eq!((&card["is_online"], &cash["is_online"]), (&json!(true), &json!(false)));
        assert_eq!((&card["name"], &card["description"]), (&json!("Online"), &json!("By card")));
        assert_eq!((&card["photo"], &cash["photo"]), (&json!({ "url": "https://x.ru/card.png" }), &Value::Null));
        let all = client(&server, &project, "/api/counterparty/dictionaries").await;
        assert_eq!((&all["deliveryTypes"][1], &all["paymentTypes"]), (&delivery, &payments["paymentTypes"]));
    }

    async fn shops_belong_to_the_project(db: TestDatabase) {
        let server = TestServer::start(db).await;
        let (project, other) = (server.project().await, server.project().await);
        let shop = |active: bool| format!(
            "INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) VALUES \
             ({}, {}, 'Corner', 'Street 1', {active}, '2026-01-01 00:00:00', '2026-01-01 00:00:00') RETURNING id",
            project.id, project.branch_id
        );
        let (open, closed) = (server.insert(shop(true)).await, server.insert(shop(false)).await);
        let shops = client(&server, &project, "/api/counterparty/shops").await;
        assert_eq!((shops["shopsCount"].as_i64(), shops["shops"][0]["id"].as_i64()), (Some(1), Some(open)));
        let one = format!("/api/counterparty/shops/{open}");
        assert_eq!(client(&server, &project, &one).await["shop"], shops["shops"][0]);
        send(server.as_app(&other, Method::GET, &one)).await.expect(404);
        send(server.as_app(&project, Method::GET, &format!("/api/counterparty/shops/{closed}"))).await.expect(404);
    }
}
