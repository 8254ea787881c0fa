//! Content pages and their parts, files, shops and webhooks.

use chrono::{DateTime, TimeDelta};
use kontor_content::model::*;
use kontor_content::ports::{FileRepository, PartOrder, PartRepository};
use kontor_kernel::{
    ApplicationId, BlockTypeId, BranchId, DeletableRepository, Edit, MoveDirection, ProjectId, RecordRepository,
    ShopId, Stamp,
};
use kontor_organization::model::{Department, DepartmentChange, DepartmentDraft, TimesChange};
use kontor_organization::ports::OpeningTimesStore;
use kontor_webhooks::model::SendOutcome;
use kontor_webhooks::ports::DeliveryQueue;

use super::scenarios;
use crate::auth::people;
use crate::catalog::records::{application, branch, name, system};
use crate::{files, fixtures, webhooks};

fn place<Id>(parent_id: Option<Id>) -> PlaceDraft<Id> {
    PlaceDraft { parent_id, code: None, slug: None }
}

fn block(title: &str) -> BlockDraft {
    let block_type_id = BlockTypeId::new(1).unwrap();
    BlockDraft {
        place: place(None),
        name: name(title),
        avatar: None,
        block_type_id,
        link: None,
        file: None,
        text: None,
    }
}

fn menu_item(title: &str) -> MenuItemDraft {
    MenuItemDraft { place: place(None), name: name(title), avatar: None, preview: None }
}

async fn site(db: &kontor_adapter_diesel::testing::TestDatabase) -> (ProjectId, ApplicationId) {
    let project = fixtures::project(db).await;
    let branch = branch(db, project).await;
    (project, application(db, project, branch, "Site").await)
}

scenarios! {
    async fn page_written(db, run) {
        let project = fixtures::project(db).await;
        run.begin(db);
        let draft = PageDraft {
            slug: None,
            title: name("News"),
            description: None,
            preview: None,
            html: None,
            page_type_id: None,
            tags: TagNames::default(),
            is_active: true,
            is_fallback: true,
        };
        let pages: &dyn DeletableRepository<Page> = &db.database;
        let page = run.step("insert", async || pages.insert(system(project), draft.clone()).await).await;
        let change = PageChange { title: Edit::Set(name("Old news")), ..PageChange::default() };
        run.step("update", async || pages.update(system(project), page.id, change.clone()).await).await;
        run.step("delete", async || pages.delete(system(project), page.id).await).await;
    }

    async fn block_moved(db, run) {
        let (project, site) = site(db).await;
        let blocks: &dyn PartRepository<Block> = &db.database;
        let top = blocks.insert(system(project), site, block("Top")).await.unwrap();
        run.begin(db);
        let below = run.step("insert", async || blocks.insert(system(project), site, block("Below")).await).await;
        let change = || BlockChange {
            place: PlaceChange { parent_id: Edit::Set(Some(top.id)), ..PlaceChange::default() },
            ..BlockChange::default()
        };
        run.step("move", async || blocks.update(system(project), site, below.id, change()).await).await;
    }

    async fn menu_ordered(db, run) {
        let (project, site) = site(db).await;
        let items: &dyn PartRepository<MenuItem> = &db.database;
        items.insert(system(project), site, menu_item("First")).await.unwrap();
        run.begin(db);
        let second = run.step("insert", async || items.insert(system(project), site, menu_item("Second")).await).await;
        run.step("shift", async || PartOrder::<MenuItem>::shift(&db.database, system(project), site, second.id, MoveDirection::Up).await).await;
    }

    async fn file_stored_and_deleted(db, run) {
        people(db).await;
        run.begin(db);
        let id = run.step("announce", async || db.database.insert_pending(files::draft(1)).await).await;
        run.step("complete", async || db.database.complete(files::first(), id, files::content()).await).await;
        run.step("delete", async || FileRepository::delete(&db.database, files::first(), id).await).await;
        run.step("forget", async || db.database.forget(id, files::noon()).await).await;
    }

    async fn shop_closes_on_a_holiday(db, run) {
        let project = fixtures::project(db).await;
        let branch: BranchId = branch(db, project).await;
        fixtures::run(db, format!(
            "INSERT INTO shops (id, project_id, branch_id, name, address, is_active, created_at, updated_at) \
             VALUES (1, {project}, {branch}, 'Shop', 'Square 1', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00')"
        )).await;
        run.begin(db);
        let holiday = || TimesChange::SetHoliday { day: "1970-05-09".parse().unwrap(), name: None, is_yearly: true };
        let stamp = Stamp::of_system(project, DateTime::UNIX_EPOCH);
        run.step("close", async || db.database.change_times(stamp, ShopId::new(1).unwrap(), holiday()).await).await;
    }

    async fn department_renamed(db, run) {
        let project = fixtures::project(db).await;
        let departments: &dyn RecordRepository<Department> = &db.database;
        run.begin(db);
        let draft = DepartmentDraft { name: name("Sales"), description: None, branch_id: None };
        let sales = run.step("insert", async || departments.insert(system(project), draft.clone()).await).await;
        let change = DepartmentChange { name: Edit::Set(name("Trade")), ..DepartmentChange::default() };
        run.step("rename", async || departments.update(system(project), sales.id, change.clone()).await).await;
    }

    async fn webhook_delivered(db, run) {
        let shop = webhooks::shop(db).await;
        webhooks::event(db, &shop, 1, "order.paid").await;
        run.begin(db);
        let start = webhooks::START;
        run.step("fan out", async || db.database.fan_out(100, webhooks::SeededRandom::shared(), start).await).await;
        let lease = || webhooks::lease("w", start + TimeDelta::minutes(1));
        let leased = run.step("lease", async || DeliveryQueue::lease(&db.database, lease(), 10, start).await).await;
        let attempt = || webhooks::attempt(&leased[0], "w", SendOutcome::Answered(200), start);
        run.step("record", async || db.database.record_attempt(attempt()).await).await;
    }
}
