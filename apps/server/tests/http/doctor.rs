//! `kontor doctor`

use kontor_adapter_diesel::database_tests;
use serde_json::{Value, json};

use crate::desk::Desk;
use crate::process::Site;

const CARDS: &str = "article;name;category;price\nA;Anchor;Harbour;\nB;Buoy;Harbour;";
const STOCK: &str = "article;warehouse;quantity;price\nA;Main;5;10,00\nB;Main;7;20,00";

fn lines(output: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

database_tests! {
    async fn it_finds_what_was_planted_and_fails(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let process = site.serve().await;
        let project = site.create_project("owner");
        let desk = Desk::sign_in(&site, project.clone()).await;
        desk.furnish(CARDS, STOCK).await;
        let number = project["project_id"].to_string();
        let sound = site.command(&["doctor", "--json"]).output().unwrap();
        assert!(sound.status.success());
        let examined = json!({ "inventories": 2, "discounts": 0, "nomenclatures": 2, "applications": 1, "orders": 0 });
        assert_eq!(lines(&sound.stdout), [json!({ "examined": examined, "differences": 0 })]);

        site.execute(&["UPDATE inventories SET quantity = quantity + 1 WHERE price = 1000"]).await;
        let broken = site.command(&["doctor", "--json", "--project", &number]).output().unwrap();
        assert_eq!(broken.status.code(), Some(1));
        let told = lines(&broken.stdout);
        assert_eq!(told.len(), 3, "{told:?}");
        assert_eq!(told[0]["figure"], "inventories.quantity");
        assert_eq!((&told[0]["stored"], &told[0]["derived"], &told[0]["source"]), (&json!(6), &json!(5), &json!("stock_movements")));
        assert_eq!(told[0]["project_id"], project["project_id"]);
        assert_eq!(told[2], json!({ "examined": examined, "differences": 2 }));

        let table = site.command(&["doctor"]).output().unwrap();
        assert_eq!(table.status.code(), Some(1));
        let text = String::from_utf8(table.stdout).unwrap();
        assert!(text.contains("inventories.quantity") && text.contains("examined 2 stock records"), "{text}");
        let other = site.create_project("other")["project_id"].to_string();
        assert!(site.command(&["doctor", "--project", &other]).output().unwrap().status.success());
        assert!(!site.command(&["doctor", "--project", "0"]).output().unwrap().status.success());
        drop(process);
    }

    async fn it_tells_of_parked_rows_and_puts_them_back(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        site.execute(&["INSERT INTO password_requests (login, requested_at, attempts, next_attempt_at, parked_at, \
            parked_reason) VALUES ('a', '2026-01-01 00:00:00', 0, '2026-01-01 00:00:00', '2026-01-02 00:00:00', \
            'password_requests a: broken')"]).await;
        let parked = site.command(&["doctor", "--json"]).output().unwrap();
        assert_eq!(parked.status.code(), Some(1));
        let told = lines(&parked.stdout);
        let row = json!({
            "table": "password_requests", "id": "a", "since": "2026-01-02T00:00:00Z", "reason": "password_requests a: broken",
        });
        assert_eq!((told.len(), &told[0]), (2, &json!({ "parked": row })));
        let text = site.command(&["doctor"]).output().unwrap();
        assert!(String::from_utf8_lossy(&text.stdout).contains("password_requests a: broken"));

        let released = site.command(&["doctor", "--release-parked", "--json"]).output().unwrap();
        assert!(released.status.success(), "{released:?}");
        assert_eq!(lines(&released.stdout)[0], json!({ "released": 1 }));
        assert_eq!(site.number("SELECT count(*) AS id FROM password_requests WHERE parked_at IS NULL").await, 1);
    }

    async fn it_tells_of_rows_that_cannot_be_read(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let project = site.create_project("owner")["project_id"].as_i64().unwrap();
        let brand = format!("INSERT INTO brands (project_id, name, name_key, created_at, updated_at) \
            VALUES ({project}, ' ', 'nord', '2026-01-01 00:00:00', '2026-01-01 00:00:00')");
        site.execute(&[&brand]).await;
        let id = site.number("SELECT id FROM brands").await;
        let found = site.command(&["doctor", "--json"]).output().unwrap();
        assert_eq!(found.status.code(), Some(1));
        let told = lines(&found.stdout);
        assert_eq!((&told[0]["unreadable"]["table"], &told[0]["unreadable"]["id"]), (&json!("brands"), &json!(id)));
        assert!(told[0]["unreadable"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{told:?}");
        let text = site.command(&["doctor"]).output().unwrap();
        let (said, why) = (String::from_utf8_lossy(&text.stdout), String::from_utf8_lossy(&text.stderr));
        assert!(said.contains(&format!("cannot be read: brands {id}")) && why.contains("1 rows cannot be read"), "{text:?}");
        site.execute(&["UPDATE brands SET name = 'Nord'"]).await;
        assert!(site.command(&["doctor"]).output().unwrap().status.success());
    }

    async fn it_puts_right_what_it_found_beside_the_service(db: TestDatabase) {
        let site = Site::open(db, 1.0).await;
        let process = site.serve().await;
        let project = site.create_project("owner");
        let desk = Desk::sign_in(&site, project.clone()).await;
        desk.furnish(CARDS, STOCK).await;
        site.execute(&[
            "UPDATE inventories SET quantity = quantity + 1 WHERE price = 1000",
            "UPDATE offer_counts SET total = total + 1 WHERE category_id = 0",
        ]).await;
        let mended = site.command(&["doctor", "--correct", "--json"]).output().unwrap();
        assert!(mended.status.success(), "{mended:?}");
        let told = lines(&mended.stdout);
        assert_eq!(told.len(), 6, "{told:?}");
        assert_eq!(told[0]["figure"], "inventories.quantity");
        assert_eq!(told[2]["figure"], "offer_counts.total");
        assert_eq!(told[3]["differences"], 3);
        let corrected = json!({ "inventories": 1, "discounts": 0, "words": 0, "nomenclatures": 0, "counts": 1 });
        assert_eq!(told[4], json!({ "corrected": corrected }));
        assert_eq!(told[5]["differences"], 0);
        let again = site.command(&["doctor", "--correct"]).output().unwrap();
        let text = String::from_utf8(again.stdout).unwrap();
        assert!(again.status.success() && text.lines().count() == 1 && text.contains(": 0 differences"), "{text}");
        let reason = "SELECT count(*) AS id FROM stock_movements WHERE reason = 'correction'";
        assert_eq!(site.number(reason).await, 1);

        site.execute(&[
            "UPDATE inventories SET quantity = quantity - 1 WHERE price = 1000",
            "UPDATE inventories SET reserved = 2 WHERE price = 2000",
        ]).await;
        let mended = site.command(&["doctor", "--correct"]).output().unwrap();
        let text = String::from_utf8(mended.stdout).unwrap();
        assert!(mended.status.success() && text.contains("corrected 2 stock records, "), "{text}");
        drop(process);
    }
}
