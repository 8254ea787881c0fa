//! `kontor doctor`

use kontor_adapter_diesel::database_tests;
use serde_json::{Value, json};

use crate::owner_client::OwnerClient;
use crate::process::ProcessEnvironment;

const CARDS: &str = "article;name;category;price\nA;Anchor;Harbour;\nB;Buoy;Harbour;";
const STOCK: &str = "article;warehouse;quantity;price\nA;Main;5;10,00\nB;Main;7;20,00";

fn lines(output: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

database_tests! {
    async fn it_finds_what_was_planted_and_fails(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let owner_client = OwnerClient::sign_in(&environment, project.clone()).await;
        owner_client.import_catalog(CARDS, STOCK).await;
        let number = project["project_id"].to_string();
        let sound = environment.command(&["doctor", "--json"]).output().unwrap();
        assert!(sound.status.success());
        let examined = json!({ "inventories": 2, "discounts": 0, "nomenclatures": 2, "applications": 1, "orders": 0 });
        assert_eq!(lines(&sound.stdout), [json!({ "examined": examined, "differences": 0 })]);

        environment.execute(&["UPDATE inventories SET quantity = quantity + 1 WHERE price = 1000"]).await;
        let broken = environment.command(&["doctor", "--json", "--project", &number]).output().unwrap();
        assert_eq!(broken.status.code(), Some(1));
        let reported = lines(&broken.stdout);
        assert_eq!(reported.len(), 3, "{reported:?}");
        assert_eq!(reported[0]["figure"], "inventories.quantity");
        assert_eq!((&reported[0]["stored"], &reported[0]["derived"], &reported[0]["source"]), (&json!(6), &json!(5), &json!("stock_movements")));
        assert_eq!(reported[0]["project_id"], project["project_id"]);
        assert_eq!(reported[2], json!({ "examined": examined, "differences": 2 }));

        let table = environment.command(&["doctor"]).output().unwrap();
        assert_eq!(table.status.code(), Some(1));
        let text = String::from_utf8(table.stdout).unwrap();
        assert!(text.contains("inventories.quantity") && text.contains("examined 2 stock records"), "{text}");
        let other = environment.create_project("other")["project_id"].to_string();
        assert!(environment.command(&["doctor", "--project", &other]).output().unwrap().status.success());
        assert!(!environment.command(&["doctor", "--project", "0"]).output().unwrap().status.success());
        drop(process);
    }

    async fn it_lists_and_releases_parked_rows(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        environment.execute(&["INSERT INTO password_requests (login, requested_at, attempts, next_attempt_at, parked_at, \
            parked_reason) VALUES ('a', '2026-01-01 00:00:00', 0, '2026-01-01 00:00:00', '2026-01-02 00:00:00', \
            'password_requests a: broken')"]).await;
        let parked = environment.command(&["doctor", "--json"]).output().unwrap();
        assert_eq!(parked.status.code(), Some(1));
        let reported = lines(&parked.stdout);
        let row = json!({
            "table": "password_requests", "id": "a", "since": "2026-01-02T00:00:00Z", "reason": "password_requests a: broken",
        });
        assert_eq!((reported.len(), &reported[0]), (2, &json!({ "parked": row })));
        let text = environment.command(&["doctor"]).output().unwrap();
        assert!(String::from_utf8_lossy(&text.stdout).contains("password_requests a: broken"));

        let released = environment.command(&["doctor", "--release-parked", "--json"]).output().unwrap();
        assert!(released.status.success(), "{released:?}");
        assert_eq!(lines(&released.stdout)[0], json!({ "released": 1 }));
        assert_eq!(environment.number("SELECT count(*) AS id FROM password_requests WHERE parked_at IS NULL").await, 1);
    }

    async fn it_lists_unreadable_rows(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let project = environment.create_project("owner")["project_id"].as_i64().unwrap();
        let brand = format!("INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
            VALUES ({project}, ' ', 'nord', '2026-01-01 00:00:00', '2026-01-01 00:00:00')");
        environment.execute(&[&brand]).await;
        let id = environment.number("SELECT id FROM brands").await;
        let found = environment.command(&["doctor", "--json"]).output().unwrap();
        assert_eq!(found.status.code(), Some(1));
        let reported = lines(&found.stdout);
        assert_eq!((&reported[0]["unreadable"]["table"], &reported[0]["unreadable"]["id"]), (&json!("brands"), &json!(id)));
        assert!(reported[0]["unreadable"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{reported:?}");
        let text = environment.command(&["doctor"]).output().unwrap();
        let (printed, why) = (String::from_utf8_lossy(&text.stdout), String::from_utf8_lossy(&text.stderr));
        assert!(printed.contains(&format!("cannot be read: brands {id}")) && why.contains("1 rows cannot be read"), "{text:?}");
        environment.execute(&["UPDATE brands SET name = 'Nord'"]).await;
        assert!(environment.command(&["doctor"]).output().unwrap().status.success());
    }

    async fn it_corrects_differences_while_the_service_runs(db: TestDatabase) {
        let environment = ProcessEnvironment::open(db, 1.0).await;
        let process = environment.serve().await;
        let project = environment.create_project("owner");
        let owner_client = OwnerClient::sign_in(&environment, project.clone()).await;
        owner_client.import_catalog(CARDS, STOCK).await;
        environment.execute(&[
            "UPDATE inventories SET quantity = quantity + 1 WHERE price = 1000",
            "UPDATE offer_counts SET total = total + 1 WHERE category_id = 0",
        ]).await;
        let repaired = environment.command(&["doctor", "--correct", "--json"]).output().unwrap();
        assert!(repaired.status.success(), "{repaired:?}");
        let reported = lines(&repaired.stdout);
        assert_eq!(reported.len(), 6, "{reported:?}");
        assert_eq!(reported[0]["figure"], "inventories.quantity");
        assert_eq!(reported[2]["figure"], "offer_counts.total");
        assert_eq!(reported[3]["differences"], 3);
        let corrected = json!({ "inventories": 1, "discounts": 0, "words": 0, "nomenclatures": 0, "counts": 1 });
        assert_eq!(reported[4], json!({ "corrected": corrected }));
        assert_eq!(reported[5]["differences"], 0);
        let again = environment.command(&["doctor", "--correct"]).output().unwrap();
        let text = String::from_utf8(again.stdout).unwrap();
        assert!(again.status.success() && text.lines().count() == 1 && text.contains(": 0 differences"), "{text}");
        let reason = "SELECT count(*) AS id FROM stock_movements WHERE reason = 'correction'";
        assert_eq!(environment.number(reason).await, 1);

        environment.execute(&[
            "UPDATE inventories SET quantity = quantity - 1 WHERE price = 1000",
            "UPDATE inventories SET reserved = 2 WHERE price = 2000",
        ]).await;
        let repaired = environment.command(&["doctor", "--correct"]).output().unwrap();
        let text = String::from_utf8(repaired.stdout).unwrap();
        assert!(repaired.status.success() && text.contains("corrected 2 stock records, "), "{text}");
        drop(process);
    }
}
