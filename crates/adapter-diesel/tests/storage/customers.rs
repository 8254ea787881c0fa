//! Customers for staff: search, and concurrent writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, TimeDelta, Utc};
use kontor_adapter_diesel::testing::{Kind, TestDatabase, pool_options};
use kontor_adapter_diesel::{Database, database_tests};
use kontor_auth::model::{NewCode, NewPhoneCode, PhoneChangeAttempt, PhoneChangeOutcome};
use kontor_auth::ports::{CustomerAccounts, PhoneRepository};
use kontor_customers::StaffCustomerRefusal::{PaymentOpen, Unavailable};
use kontor_customers::model::{CustomerChange, CustomerDraft, DecidedChange, PersonalData, StaffCustomer};
use kontor_customers::ports::{CustomerRepository, StaffCustomerRepository};
use kontor_customers::{CustomerReference, StaffCustomerError};
use kontor_kernel::history::{Histories, HistoryAction};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    Contact, CounterpartyId, Edit, Line, Listing, Name, PageRequest, Phone, ProjectId, RecordError, Resource, Stamp,
};
use tokio::sync::Barrier;

use crate::fixtures;
use crate::orders::shop::ShopFixture;

const START: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, START + TimeDelta::seconds(9))
}

fn named(name: &str) -> CustomerDraft {
    CustomerDraft { first_name: Name::parse(name).ok(), ..CustomerDraft::default() }
}

fn with_phone(name: &str, phone: &str) -> CustomerDraft {
    CustomerDraft { phone_1: Phone::parse(phone).ok(), ..named(name) }
}

fn to_phone(phone: &str) -> CustomerChange {
    CustomerChange { phone_1: Edit::Set(Phone::parse(phone).ok()), ..CustomerChange::default() }
}

async fn signed_up(db: &Database, project: ProjectId, contact: &str) -> CounterpartyId {
    db.find_or_create(project, &Contact::parse(contact).unwrap(), START).await.unwrap()
}

/// Port for staff.
fn staff(db: &Database) -> &dyn StaffCustomerRepository {
    db
}

/// Customers that staff find by a text.
pub async fn found(db: &TestDatabase, project: ProjectId, text: &str) -> Vec<i64> {
    let all = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 100, 100).unwrap());
    let listing = Listing { text: Some(Line::parse(text).unwrap()), ..all };
    let page = staff(&db.database).list(project, listing).await.unwrap();
    page.items.into_iter().map(|customer: StaffCustomer| customer.record.id.get()).collect()
}

database_tests! {
    async fn a_customer_is_found_by_the_last_written_text_of_any_author(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let anna = signed_up(&db.database, project, "79001234567").await;
        assert_eq!(found(&db, project, "8 (900) 123-45-67").await, [anna.get()]);
        let data = PersonalData { last_name: Edit::Set(Name::parse("Ёлкина").ok()), ..PersonalData::default() };
        let change = DecidedChange { customer: anna, project_id: project, data, at: START };
        db.database.change_profile(change).await.unwrap();
        assert_eq!(found(&db, project, "елкина").await, [anna.get()]);

        let phone = Phone::parse("79007654321").unwrap();
        let code = NewCode { fingerprint: "c".to_owned(), attempts: 2, created_at: START, expires_at: START + TimeDelta::minutes(5) };
        let code = NewPhoneCode { project_id: project, customer: anna, phone: phone.clone(), code };
        assert!(db.database.store_code(code).await.unwrap());
        let attempt = PhoneChangeAttempt { project_id: project, customer: anna, phone, fingerprint: "c".to_owned(), at: START };
        assert_eq!(db.database.change_phone(attempt).await.unwrap(), PhoneChangeOutcome::Changed);
        assert_eq!(found(&db, project, "79007654321").await, [anna.get()]);
        assert!(found(&db, project, "79001234567").await.is_empty());
        let lines = Histories::all(&db.database, project, Resource::Counterparties.name(), anna.get()).await.unwrap();
        assert_eq!((lines[0].changes[0].field.as_str(), lines[0].changes[0].old.as_deref()), ("phone_1", Some("79001234567")));

        let other = fixtures::project(&db).await;
        assert!(found(&db, other, "елкина").await.is_empty());
        db.database.delete_account(project, anna, START).await.unwrap();
        for trace in ["елкина", "79007654321", &anna.to_string()] {
            assert!(found(&db, project, trace).await.is_empty(), "{trace}");
        }
        if db.kind == Kind::Sqlite {
            assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM counterparty_search_docsize").await, 0);
        }
        let lines = Histories::all(&db.database, project, Resource::Counterparties.name(), anna.get()).await.unwrap();
        let actions: Vec<_> = lines.iter().map(|line| line.action).collect();
        assert_eq!(actions, [HistoryAction::Deleted, HistoryAction::Changed, HistoryAction::Changed]);
        let reported = lines.iter().flat_map(|line| &line.changes);
        assert!(reported.clone().all(|change| change.field == "is_company" || change.old.is_none() && change.new.is_none()), "{reported:?}");
    }

    async fn customers_without_search_text_are_found_after_a_migration(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        fixtures::run(&db, format!(
            "INSERT INTO counterparties (id, project_id, is_company, name, deleted_at, created_at, updated_at) VALUES
                 (7, {project}, TRUE, 'Nord', NULL, '2026-01-01 00:00:00', '2026-01-01 00:00:00'),
                 (8, {project}, TRUE, 'Nord Left', '2026-01-01 00:00:00', '2026-01-01 00:00:00', '2026-01-01 00:00:00');"
        )).await;
        assert!(found(&db, project, "nord").await.is_empty());
        let database = db.database.clone();
        tokio::task::spawn_blocking(move || database.migrate().unwrap()).await.unwrap();
        assert_eq!(found(&db, project, "nord").await, [7]);
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM counterparties WHERE search_text IS NULL OR sort_key IS NULL").await, 0);
    }

    async fn a_migration_fills_columns_during_other_writes(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        fixtures::run(&db, format!(
            "INSERT INTO counterparties (project_id, is_company, name, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
             SELECT {project}, TRUE, 'Nord', created_at, created_at FROM n, projects WHERE id = {project};"
        )).await;
        let other = Database::open(db.url(), pool_options()).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let mut written = 0;
                while !is_over.load(Ordering::SeqCst) {
                    let stated = TestDatabase::borrowed(other.clone(), db.kind).run_outside_transaction("UPDATE projects SET name = 'Q'");
                    written += i64::from(stated.is_ok());
                }
                written
            });
            let migrated = db.database.migrate();
            is_over.store(true, Ordering::SeqCst);
            migrated.unwrap();
            assert!(writing.join().unwrap() > 0, "nobody else came to write");
        });
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM counterparties WHERE search_text IS NULL").await, 0);
    }

    async fn a_text_finds_few_customers_and_very_many_alike(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let many = |project: ProjectId, name: &str, from: i64, to: i64| format!(
            "INSERT INTO counterparties (id, project_id, is_company, name, created_at, updated_at) \
             WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {to}) \
             SELECT i, {project}, TRUE, '{name}', created_at, created_at FROM n, projects WHERE id = {project};"
        );
        let rows = [many(project, "Nord 2047", 1, 1_200), many(other, "Nord", 2_001, 3_100), many(project, "Nord Sued", 4_001, 4_999)];
        fixtures::run(&db, rows.concat()).await;
        let database = db.database.clone();
        tokio::task::spawn_blocking(move || database.migrate().unwrap()).await.unwrap();
        let page = async |project: ProjectId, text: &str| {
            let all = Listing::unfiltered(Sort::descending("id"), PageRequest::new(1, 3, 100).unwrap());
            let listing = Listing { text: Some(Line::parse(text).unwrap()), ..all };
            let page = staff(&db.database).list(project, listing).await.unwrap();
            (page.total, page.items.iter().map(|customer: &StaffCustomer| customer.record.id.get()).collect::<Vec<_>>())
        };
        assert_eq!(page(project, "nord").await, (2_199, vec![4_999, 4_998, 4_997]));
        assert_eq!(page(project, "sued nord").await, (999, vec![4_999, 4_998, 4_997]));
        // A number is the id of a customer, a part of a name, or both.
        assert_eq!(page(project, "2047").await, (1_200, vec![1_200, 1_199, 1_198]));
        assert_eq!(page(project, "7").await, (1, vec![7]));
        assert_eq!(page(project, "# 4500").await, (1, vec![4_500]));
        assert_eq!(page(other, "nord").await, (1_100, vec![3_100, 3_099, 3_098]));
        assert_eq!(page(other, "4500").await, (0, Vec::new()), "a customer of another project");
        assert_eq!(page(other, "sued").await, (0, Vec::new()));
    }

    async fn many_records_may_have_a_phone_until_it_is_a_login(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        for round in 0..4_u32 {
            let phone = format!("7900555000{round}");
            let start = Arc::new(Barrier::new(5));
            let mut made = Vec::new();
            for n in 0..4_u32 {
                let (database, start, phone) = (db.database.clone(), Arc::clone(&start), phone.clone());
                made.push(tokio::spawn(async move {
                    start.wait().await;
                    staff(&database).insert(stamp(project), with_phone(&format!("N{n}"), &phone)).await
                }));
            }
            let (database, gate, contact) = (db.database.clone(), Arc::clone(&start), phone.clone());
            let new_customer = tokio::spawn(async move {
                gate.wait().await;
                signed_up(&database, project, &contact).await
            });
            for one in made {
                match one.await.unwrap() {
                    Ok(_) => {}
                    Err(RecordError::Refused(Unavailable(taken))) => assert_eq!(taken, [CustomerReference::Phone]),
                    Err(other) => panic!("{other}"),
                }
            }
            let new_customer = new_customer.await.unwrap();
            assert_eq!(signed_up(&db.database, project, &phone).await, new_customer, "it signs one in and stays with them");
            let late = staff(&db.database).insert(stamp(project), with_phone("Late", &phone)).await;
            assert!(matches!(late, Err(RecordError::Refused(Unavailable(_)))));
        }
    }

    async fn changes_at_once_come_one_after_the_other_and_none_after_leaving(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        for round in 0..6_u32 {
            let customer = staff(&db.database).insert(stamp(project), with_phone("Anna", "79001234567")).await.unwrap();
            let id = customer.record.id;
            let start = Arc::new(Barrier::new(5));
            let changes: Vec<_> = (0..4_u32).map(|n| {
                let (database, start) = (db.database.clone(), Arc::clone(&start));
                tokio::spawn(async move {
                    start.wait().await;
                    staff(&database).update(stamp(project), id, to_phone(&format!("790033344{round}{n}"))).await
                })
            }).collect();
            let (database, gate) = (db.database.clone(), Arc::clone(&start));
            let leaving = tokio::spawn(async move {
                gate.wait().await;
                staff(&database).delete(stamp(project), id).await
            });
            let mut changed = 0;
            for change in changes {
                match change.await.unwrap() {
                    Ok(_) => changed += 1,
                    Err(StaffCustomerError::NotFound) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            leaving.await.unwrap().unwrap();
            assert!(staff(&db.database).find(id).await.unwrap().is_none());
            let lines = Histories::all(&db.database, project, Resource::Counterparties.name(), id.get()).await.unwrap();
            assert_eq!(lines.len(), changed + 2, "each change has its line, and coming and going");
            assert_eq!(lines[0].action, HistoryAction::Deleted);
            let kept = lines.iter().flat_map(|line| &line.changes);
            assert!(kept.clone().all(|change| change.field == "is_company" || change.new.is_none()), "{kept:?}");
        }
        let traces = "SELECT count(*) AS value FROM counterparties WHERE phone_1 IS NOT NULL OR search_text <> ''";
        assert_eq!(fixtures::number(&db, traces).await, 0);
    }

    async fn staff_who_delete_while_a_customer_orders_leave_nothing_half_done(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 1_000, 100).await;
        let project = shop.customer.app.project_id;
        let (mut left, mut kept) = (0, 0);
        for round in 0..12_usize {
            let customer = shop.another_customer().await;
            let command =
                if round.is_multiple_of(2) { shop.online(&[(vase, 1)]) } else { shop.command(&[(vase, 1)]) };
            let (database, id) = (db.database.clone(), customer.counterparty_id);
            let leaving = async move { staff(&database).delete(stamp(project), id).await };
            match shop.order_during(customer, &command, leaving).await {
                Ok(()) => {
                    left += 1;
                    assert_eq!(shop.open_charges(id).await, 0, "nobody pays who has left");
                }
                Err(RecordError::Refused(PaymentOpen)) => {
                    kept += 1;
                    assert!(staff(&db.database).find(id).await.unwrap().is_some(), "nothing is half done");
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(left >= 6 && left + kept == 12, "{left} left, {kept} stayed");
    }
}
