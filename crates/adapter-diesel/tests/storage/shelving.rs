//! Large warehouses whose links to applications change.

use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::{Edit, WarehouseChange};
use kontor_catalog::ports::WarehouseRepository;
use kontor_kernel::{ApplicationId, Stamp, WarehouseId};

use crate::stock_fixture::StockFixture;

/// More than two batches.
const COUNT: i64 = 2_500;

/// A warehouse with this many goods, and one item out of stock.
async fn fill(stock_fixture: &StockFixture<'_>) {
    let category = stock_fixture.category("Mugs", None).await;
    let (p, near) = (stock_fixture.project, stock_fixture.near);
    let goods = format!(
        "INSERT INTO nomenclatures (project_id, name, name_key, kind_id, category_id, price, is_subscription, wholesale, \
         pieces_per_pack, quantity_pack, views_count, version, created_at, updated_at) \
         WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {COUNT}) \
         SELECT {p}, 'Mug ' || i, 'mug ' || i, 2, {category}, 0, FALSE, FALSE, 1, 1, 0, 1, created_at, created_at \
         FROM n, projects WHERE id = {p} ORDER BY i"
    );
    stock_fixture.run(goods).await;
    let stock = format!(
        "INSERT INTO inventories (project_id, warehouse_id, nomenclature_id, quantity, reserved, price, created_at, updated_at) \
         SELECT {p}, {near}, id, 1, CASE name WHEN 'Mug 7' THEN 1 ELSE 0 END, 500, created_at, created_at \
         FROM nomenclatures WHERE project_id = {p} ORDER BY id"
    );
    stock_fixture.run(stock).await;
    stock_fixture.db.database.rebuild_offers().await.unwrap();
}

/// Number of goods that each of the two applications shows.
async fn shown(stock_fixture: &StockFixture<'_>) -> [usize; 2] {
    let offers = stock_fixture.offers().await;
    let of = |application: ApplicationId| offers.iter().filter(|(id, ..)| *id == application.get()).count();
    [of(stock_fixture.first.application_id), of(stock_fixture.second.application_id)]
}

async fn relink(stock_fixture: &StockFixture<'_>, applications: &[ApplicationId]) {
    let change = WarehouseChange { application_ids: Edit::Set(applications.to_vec()), ..WarehouseChange::default() };
    let stamp = Stamp::of_system(stock_fixture.project, chrono::DateTime::UNIX_EPOCH);
    let near = WarehouseId::new(stock_fixture.near).unwrap();
    let warehouse = WarehouseRepository::update(&stock_fixture.db.database, stamp, near, change).await.unwrap();
    assert_eq!(warehouse.applications.iter().map(|one| one.id).collect::<Vec<_>>(), applications);
}

/// The links alone, as after a process that stopped after its first commit.
async fn leave_undone(stock_fixture: &StockFixture<'_>) {
    let (near, project, second) = (stock_fixture.near, stock_fixture.project, stock_fixture.second.application_id);
    stock_fixture
        .run(format!("UPDATE warehouse_applications SET application_id = {second} WHERE warehouse_id = {near}"))
        .await;
    stock_fixture
        .run(format!("INSERT INTO shelving (warehouse_id, project_id, after_id) VALUES ({near}, {project}, 0)"))
        .await;
}

async fn left(stock_fixture: &StockFixture<'_>) -> i64 {
    stock_fixture.number("SELECT count(*) AS number FROM shelving".to_owned()).await
}

database_tests! {
    async fn a_large_warehouse_is_shown_elsewhere_in_several_commits(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        fill(&stock_fixture).await;
        let all = usize::try_from(COUNT).unwrap();
        assert_eq!(shown(&stock_fixture).await, [all, 0]);
        let commits = || stock_fixture.number("SELECT CAST(sum(version) AS BIGINT) AS number FROM change_marks".to_owned());
        let before = commits().await;
        relink(&stock_fixture, &[stock_fixture.second.application_id]).await;
        assert_eq!((shown(&stock_fixture).await, left(&stock_fixture).await), ([0, all], 0));
        assert!(commits().await >= before + 3, "others may write in between");
        relink(&stock_fixture, &[stock_fixture.first.application_id, stock_fixture.second.application_id]).await;
        assert_eq!((shown(&stock_fixture).await, left(&stock_fixture).await), ([all, all], 0));
        relink(&stock_fixture, &[]).await;
        assert_eq!((shown(&stock_fixture).await, left(&stock_fixture).await), ([0, 0], 0));
    }

    async fn unfinished_work_of_one_process_is_done_by_others(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        fill(&stock_fixture).await;
        leave_undone(&stock_fixture).await;
        assert!(db.database.refresh_offers_next().await.unwrap());
        assert_eq!(shown(&stock_fixture).await, [1_500, 1_000]);
        let workers: Vec<_> = (0..8)
            .map(|_| {
                let database = db.database.clone();
                tokio::spawn(async move { database.refresh_offers_next().await.unwrap() })
            })
            .collect();
        let mut steps = 0;
        for worker in workers {
            steps += usize::from(worker.await.unwrap());
        }
        assert_eq!((steps, left(&stock_fixture).await), (2, 0), "each step is done once");
        assert_eq!(shown(&stock_fixture).await, [0, usize::try_from(COUNT).unwrap()]);
        assert!(!db.database.refresh_offers_next().await.unwrap());
    }

    async fn links_that_change_again_meanwhile_restart(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        fill(&stock_fixture).await;
        leave_undone(&stock_fixture).await;
        assert!(db.database.refresh_offers_next().await.unwrap());
        relink(&stock_fixture, &[stock_fixture.first.application_id]).await;
        assert_eq!((shown(&stock_fixture).await, left(&stock_fixture).await), ([usize::try_from(COUNT).unwrap(), 0], 0));
        assert_eq!(db.database.reconcile_offers().await.unwrap(), 0);
    }
}
