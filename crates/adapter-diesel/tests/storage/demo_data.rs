//! The demo project: missing records are added once, and other projects are never taken for it.

use chrono::{DateTime, TimeDelta};
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::demo_data::{AddedDemoData, DemoData, DemoIdentity, PickupPoint, Shop};
use kontor_kernel::Name;
use kontor_organization::model::ProjectPlan;
use kontor_organization::ports::ProjectRepository as _;

use crate::fixtures::{self, number};

const LATER: TimeDelta = TimeDelta::days(20_000);

fn plan() -> ProjectPlan {
    ProjectPlan::ready_to_sell(Name::parse("Kontor").unwrap(), "fingerprint".to_owned())
}

fn sample(known: Option<AddedDemoData>) -> DemoData {
    let ProjectPlan { delivery_types, delivery_subtypes, payment_types, .. } = plan();
    let (shop, point) = (known.map(|known| known.shop), known.map(|known| known.pickup_point));
    DemoData {
        shop: Shop { known: shop, name: "Old Harbour", address: "Quay 1", phone: "79001110000" },
        pickup_point: PickupPoint { known: point, name: "Gate", address: "Quay 2" },
        delivery_types,
        delivery_subtypes,
        payment_types,
    }
}

fn identity(login: &str, fingerprint: &str) -> DemoIdentity {
    DemoIdentity { login: login.to_owned(), token_fingerprint: fingerprint.to_owned() }
}

database_tests! {
    async fn demo_data_is_added_once_and_left_alone(db: TestDatabase) {
        let at = DateTime::UNIX_EPOCH + LATER;
        let project = db.database.create_project(plan(), at).await.unwrap().project_id;
        let first = db.database.add_demo_data(project, sample(None), at).await.unwrap();
        let old = "SELECT count(*) AS value FROM shops WHERE created_at < '2000-01-01 00:00:00'";
        assert_eq!(number(&db, old).await, 0);
        assert_eq!(db.database.add_demo_data(project, sample(None), at).await.unwrap(), first, "known by name");

        fixtures::run(&db, "UPDATE shops SET name = 'Mine', is_active = false; \
            UPDATE delivery_subtype_params SET name = 'Mine'; \
            UPDATE delivery_types SET price = 5 WHERE id = 1".to_owned()).await;
        assert_eq!(db.database.add_demo_data(project, sample(Some(first)), at).await.unwrap(), first, "known by number");
        assert_eq!(number(&db, "SELECT count(*) AS value FROM shops WHERE name = 'Mine' AND NOT is_active").await, 1);
        assert_eq!(number(&db, "SELECT count(*) AS value FROM delivery_types WHERE price = 5").await, 1);

        fixtures::run(&db, "DELETE FROM shops; DELETE FROM delivery_subtype_params; DELETE FROM delivery_subtypes; \
            DELETE FROM delivery_types WHERE id = 2; DELETE FROM payment_types WHERE name = 'Online'".to_owned()).await;
        db.database.add_demo_data(project, sample(Some(first)), at).await.unwrap();
        for (table, expected) in [("shops", 1), ("delivery_subtype_params", 1), ("delivery_types", 2),
            ("delivery_subtypes", 2), ("payment_types", 2)] {
            let statement: &'static str = format!("SELECT count(*) AS value FROM {table}").leak();
            assert_eq!(number(&db, statement).await, expected, "{table}");
        }
    }

    async fn the_demo_project_is_known_by_its_identity(db: TestDatabase) {
        let project = db.database.create_project(plan(), DateTime::UNIX_EPOCH).await.unwrap();
        let look = async |login: &str, fingerprint: &str| {
            db.database.demo_project(project.project_id, identity(login, fingerprint)).await.unwrap()
        };
        assert_eq!(look("owner", "another").await, None, "the number of a project says nothing");
        let there = look("owner", "fingerprint").await.unwrap();
        assert_eq!((there.application, there.owner_is_in), (Some(project.application_id.get()), false));
        fixtures::run(&db, "UPDATE applications SET is_active = false".to_owned()).await;
        assert_eq!(look("owner", "fingerprint").await.unwrap().application, None);
    }
}
