//! Records of files: waiting, ready, deleted, swept.

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::StaffRegistryError;
use kontor_auth::model::{EmployeeChange, Login};
use kontor_auth::ports::StaffRepository;
use kontor_content::model::{Dimensions, FileKey, FileType, MediaType, NewFile, Sha256, StoredContent};
use kontor_content::ports::FileRepository;
use kontor_customers::CustomerError;
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    CounterpartyId, Edit, FileId, Line, Listing, PageRequest, ProjectId, ProjectScoped, RecordError, Stamp, UserId,
};

use crate::auth::people;
use crate::fixtures;

pub fn noon() -> DateTime<Utc> {
    "2026-06-30T12:00:00Z".parse().unwrap()
}

fn key(number: usize) -> FileKey {
    FileKey::parse(&format!("{number:0>40}")).unwrap()
}

pub fn draft(number: usize) -> NewFile {
    NewFile {
        project_id: ProjectId::new(1).unwrap(),
        file_type: FileType::Avatar,
        key: key(number),
        name: MediaType::Png.label(Some("Я.png")).unwrap(),
        media: MediaType::Png,
        dimensions: Some(Dimensions::new(640, 480).unwrap()),
        order_id: None,
        creator_id: UserId::new(1).unwrap(),
        created_at: noon(),
        expires_at: noon() + TimeDelta::hours(1),
    }
}

fn stamp(project_id: ProjectId) -> Stamp {
    Stamp::of_system(project_id, noon())
}

pub fn first() -> Stamp {
    stamp(ProjectId::new(1).unwrap())
}

pub fn content() -> StoredContent {
    StoredContent { size: 5_000_000_000, sha256: Sha256::parse(&"ab".repeat(32)).unwrap() }
}

async fn take(database: &Database, now: DateTime<Utc>) -> Vec<i64> {
    let again_at = now + TimeDelta::minutes(5);
    let taken = database.take_orphaned_files("me", now, again_at, 50).await.unwrap();
    taken.iter().map(|leftover| leftover.id.get()).collect()
}

async fn left(db: &TestDatabase) -> i64 {
    fixtures::number(db, "SELECT COUNT(*) AS value FROM files").await
}

database_tests! {
    async fn a_content_that_cannot_be_read_is_parked_and_the_others_go(db: TestDatabase) {
        people(&db).await;
        let broken = db.database.insert_pending(draft(1)).await.unwrap();
        let sound = db.database.insert_pending(draft(2)).await.unwrap();
        fixtures::run(&db, format!("UPDATE files SET file_key = '../etc' WHERE id = {broken}")).await;
        let later = noon() + TimeDelta::hours(1);
        assert_eq!(take(&db.database, later).await, [sound.get()]);
        let parked = db.database.parked().await.unwrap();
        assert_eq!(parked.len(), 1);
        assert_eq!((parked[0].table, parked[0].id.clone(), parked[0].since), ("files", broken.to_string(), later));
        assert_eq!(take(&db.database, later + TimeDelta::minutes(5)).await, [sound.get()], "tried for again");
    }

    async fn files_named_before_there_was_a_search_are_found_after_a_migration(db: TestDatabase) {
        people(&db).await;
        let id = db.database.insert_pending(draft(1)).await.unwrap();
        db.database.complete(first(), id, content()).await.unwrap().unwrap();
        let found = async || {
            let all = Listing::unfiltered(Sort::descending("id"), PageRequest::new(1, 15, 100).unwrap());
            let listing = Listing { text: Some(Line::parse("я.PNG").unwrap()), ..all };
            let page = FileRepository::page(&db.database, first().project_id, listing).await.unwrap();
            page.items.iter().map(|listed| listed.file.id).collect::<Vec<_>>()
        };
        assert_eq!(found().await, [id]);
        // An older version of the service does not write it.
        fixtures::run(&db, "UPDATE files SET name_key = NULL".to_owned()).await;
        assert_eq!(found().await, Vec::<FileId>::new());
        db.database.migrate().unwrap();
        assert_eq!(found().await, [id]);
    }

    async fn a_file_is_seen_from_completion_to_deletion(db: TestDatabase) {
        people(&db).await;
        let id = db.database.insert_pending(draft(1)).await.unwrap();
        assert_eq!(FileRepository::find(&db.database, id).await.unwrap(), None);
        assert_eq!(db.database.find_by_key(key(1)).await.unwrap(), None);
        let refused = FileRepository::delete(&db.database, first(), id).await;
        assert!(matches!(refused, Err(RecordError::NotFound)), "it is not there yet");
        let stored = db.database.complete(first(), id, content()).await.unwrap().unwrap();
        assert_eq!((stored.name.as_str(), stored.content.clone()), ("Я.png", content()));
        assert_eq!(stored.dimensions, draft(1).dimensions);
        let found = FileRepository::find(&db.database, id).await.unwrap();
        assert_eq!(found, Some(ProjectScoped::new(stored.project_id, stored.clone())));
        assert_eq!(db.database.find_by_key(key(1)).await.unwrap(), Some(stored));
        assert_eq!(db.database.complete(first(), id, content()).await.unwrap(), None, "twice");
        assert_eq!(take(&db.database, noon() + TimeDelta::days(365)).await, Vec::<i64>::new());

        let other = fixtures::project(&db).await;
        assert_eq!(db.database.complete(stamp(other), id, content()).await.unwrap(), None);
        assert!(FileRepository::delete(&db.database, stamp(other), id).await.is_err());
        FileRepository::delete(&db.database, first(), id).await.unwrap();
        assert!(FileRepository::delete(&db.database, first(), id).await.is_err());
        assert_eq!(FileRepository::find(&db.database, id).await.unwrap(), None);
        assert_eq!(db.database.find_by_key(key(1)).await.unwrap(), None);
        assert_eq!(take(&db.database, noon()).await, [id.get()]);
        db.database.forget(id, noon()).await.unwrap();
        assert_eq!(left(&db).await, 0);
        let reported = "SELECT COUNT(*) AS value FROM histories WHERE resource = 'files' AND deed IN ('created', 'deleted')";
        assert_eq!(fixtures::number(&db, reported).await, 2);
    }

    async fn an_avatar_is_shown_until_its_file_is_gone(db: TestDatabase) {
        people(&db).await;
        let other = fixtures::project(&db).await;
        let colleague = format!(
            "INSERT INTO roles (id, project_id, name, is_owner, created_at, updated_at)
                 VALUES (9, {other}, 'Owner', TRUE, '2026-01-01 00:00:00', '2026-01-01 00:00:00');
             INSERT INTO users (id, project_id, role_id, login, email, password_hash, first_name, last_name, is_banned,
                 is_sick, active_seconds, created_at, updated_at) VALUES
                 (9, {other}, 9, 'other', 'f@x.ru', 'h', 'F', 'F', FALSE, FALSE, 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        );
        fixtures::run(&db, colleague).await;
        let database = &db.database;
        let (owner, customer) = (UserId::new(1).unwrap(), CounterpartyId::new(1).unwrap());
        let shown = async || {
            let employee = database.employee(owner).await.unwrap().unwrap();
            (employee.avatar, fixtures::customer(database, draft(1).project_id, customer).await.avatar)
        };
        let give = async |file: FileId| {
            let edit = EmployeeChange { avatar: Edit::Set(Some(file)), ..EmployeeChange::default() };
            let employee = database.update_employee(&Login::parse("owner").unwrap(), edit, noon()).await;
            (employee, database.set_avatar(customer, Some(file), noon()).await)
        };
        let mut refused = vec![FileId::new(999).unwrap(), database.insert_pending(draft(1)).await.unwrap()];
        for (number, foreign) in [(2, true), (3, false)] {
            let file_type = if foreign { FileType::Avatar } else { FileType::OrderFile };
            let project_id = if foreign { other } else { draft(1).project_id };
            let creator_id = if foreign { UserId::new(9).unwrap() } else { owner };
            let file = NewFile { project_id, file_type, creator_id, ..draft(number) };
            let id = database.insert_pending(file).await.unwrap();
            database.complete(stamp(project_id), id, content()).await.unwrap().unwrap();
            refused.push(id);
        }
        for file in refused {
            let (employee, customer) = give(file).await;
            assert!(matches!(employee, Err(StaffRegistryError::UnknownAvatar)), "{file}");
            assert!(matches!(customer, Err(CustomerError::UnknownAvatar)), "{file}");
        }
        assert_eq!(shown().await, (None, None));

        let file = database.insert_pending(draft(4)).await.unwrap();
        database.complete(first(), file, content()).await.unwrap().unwrap();
        let (employee, given) = give(file).await;
        assert_eq!((employee.unwrap(), given.is_ok()), (owner, true));
        assert_eq!(shown().await, (Some(key(4)), Some(key(4))));
        database.set_avatar(customer, None, noon()).await.unwrap();
        assert_eq!(shown().await, (Some(key(4)), None));
        database.set_avatar(customer, Some(file), noon()).await.unwrap();
        FileRepository::delete(database, first(), file).await.unwrap();
        assert_eq!(shown().await, (None, None));
        database.forget(file, noon()).await.unwrap();
        let links = "SELECT COUNT(*) AS value FROM counterparties WHERE avatar_id IS NOT NULL";
        assert_eq!(fixtures::number(&db, links).await, 0);
        let nobody = CounterpartyId::new(99).unwrap();
        assert!(matches!(database.set_avatar(nobody, None, noon()).await, Err(CustomerError::NotFound)));
    }

    async fn a_record_that_waited_too_long_is_never_completed(db: TestDatabase) {
        people(&db).await;
        let id = db.database.insert_pending(draft(1)).await.unwrap();
        assert_eq!(take(&db.database, noon() + TimeDelta::minutes(59)).await, Vec::<i64>::new());
        let late = noon() + TimeDelta::hours(1);
        assert_eq!(take(&db.database, late).await, [id.get()]);
        assert_eq!(db.database.complete(first(), id, content()).await.unwrap(), None);
        // The removal of a content that failed is retried later.
        assert_eq!(take(&db.database, late + TimeDelta::minutes(4)).await, Vec::<i64>::new());
        assert_eq!(take(&db.database, late + TimeDelta::minutes(5)).await, [id.get()]);
    }

    async fn abandoned_uploads_are_deleted_at_once_and_ready_files_stay(db: TestDatabase) {
        people(&db).await;
        let (broken, whole) = (db.database.insert_pending(draft(1)).await.unwrap(), db.database.insert_pending(draft(2)).await.unwrap());
        db.database.complete(first(), whole, content()).await.unwrap().unwrap();
        for id in [broken, whole] {
            db.database.give_up(id, noon()).await.unwrap();
        }
        assert_eq!(take(&db.database, noon()).await, [broken.get()]);
        for id in [broken, whole] {
            db.database.forget(id, noon()).await.unwrap();
        }
        assert!(FileRepository::find(&db.database, whole).await.unwrap().is_some());
        assert_eq!(left(&db).await, 1);
    }

    async fn sweepers_that_race_share_what_is_left(db: TestDatabase) {
        people(&db).await;
        for number in 0..120 {
            let id = db.database.insert_pending(draft(number)).await.unwrap();
            db.database.give_up(id, noon()).await.unwrap();
        }
        let sweepers = (0..4).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move {
                let mut mine = Vec::new();
                // A round in which other workers took everything is not the last one.
                for _ in 0..6 {
                    mine.extend(take(&database, noon()).await);
                }
                mine
            })
        });
        let mut all = Vec::new();
        for sweeper in sweepers.collect::<Vec<_>>() {
            all.extend(sweeper.await.unwrap());
        }
        all.extend(take(&db.database, noon()).await);
        all.sort_unstable();
        let once = all.len();
        all.dedup();
        assert_eq!((all.len(), once), (120, 120));
        for id in all {
            db.database.forget(FileId::new(id).unwrap(), noon()).await.unwrap();
        }
        assert_eq!(left(&db).await, 0);
    }

    async fn completion_and_sweep_never_both_win(db: TestDatabase) {
        people(&db).await;
        let late = noon() + TimeDelta::hours(2);
        for number in 0..20 {
            let id = db.database.insert_pending(draft(number)).await.unwrap();
            let (one, other) = (db.database.clone(), db.database.clone());
            let completing = tokio::spawn(async move { one.complete(first(), id, content()).await.unwrap().is_some() });
            let sweeping = tokio::spawn(async move { take(&other, late).await.contains(&id.get()) });
            let (completed, swept) = (completing.await.unwrap(), sweeping.await.unwrap());
            assert!(completed != swept, "completed {completed}, swept {swept}");
            assert_eq!(FileRepository::find(&db.database, id).await.unwrap().is_some(), completed);
        }
    }
}
