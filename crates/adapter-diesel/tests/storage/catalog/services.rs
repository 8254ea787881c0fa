//! Services and the applications that sell them, added at the same time.

use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_kernel::{Money, Stamp};

use super::records::*;
use crate::fixtures;

database_tests! {
    async fn a_new_application_sells_every_service_in_any_order_of_creation(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let here = branch(&db, project).await;
        let mut goods_before = Vec::new();
        for _ in 0..40 {
            goods_before.push(item(&db, project, goods("Advice")).await);
        }
        // Enough services that adding an application takes a while.
        fixtures::run(&db, format!(
            "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, price, is_subscription, wholesale, pieces_per_pack, \
             quantity_pack, views_count, version, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
             SELECT {project}, 'S', 's', 1, 100, FALSE, FALSE, 1, 1, 0, 1, created_at, created_at FROM n, projects \
             WHERE id = {project}"
        )).await;
        let service = Card { price: Some(Money::ZERO), ..Card::new(name("Repair"), NomenclatureKind::Service) };
        for title in ["A", "B", "C"] {
            let database = db.database.clone();
            let adding = tokio::spawn(async move {
                let draft = kontor_organization::model::ApplicationDraft { branch_id: here, name: name(title), url: None, wholesale: false };
                kontor_organization::ports::ApplicationRepository::insert(&database, system(project), draft, title.to_owned()).await
            });
            let mut added = 0;
            while !adding.is_finished() || added < 2 {
                item(&db, project, service.clone()).await;
                if let Some(seen) = goods_before.pop() {
                    let card = Card { kind: NomenclatureKind::Service, price: Some(Money::ZERO), ..seen.card.clone() };
                    NomenclatureRepository::replace(&db.database, Stamp::of_system(project, NOON), seen, card).await.unwrap();
                }
                added += 1;
            }
            adding.await.unwrap().unwrap();
            let missing = "SELECT count(*) AS value FROM nomenclatures n CROSS JOIN applications a WHERE n.kind_id = 1 \
                AND NOT EXISTS (SELECT 1 FROM storefront_offers o WHERE o.application_id = a.id AND o.nomenclature_id = n.id)";
            assert_eq!(fixtures::number(&db, missing).await, 0, "{title}, {added} services meanwhile");
        }
    }
}
