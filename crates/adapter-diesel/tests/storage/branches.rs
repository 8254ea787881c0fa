//! Branches and their bank accounts.

use chrono::DateTime;
use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_kernel::listing::{Listing, Sort};
use kontor_kernel::{
    BankAccount, BankRequisite, BankRequisiteChange, BankRequisiteDraft, Bik, BranchId, DeletableRepository, Edit,
    IntegrationId, Kpp, Line, ListedRepository, Name, PageRequest, ProjectId, RecordError, RecordRepository, Stamp,
};
use kontor_organization::model::{Branch, BranchChange, BranchDraft, IntegrationOwner, ParameterKey, StoredValue};
use kontor_organization::ports::{BranchRequisiteRepository, IntegrationRepository};
use kontor_organization::{BranchRefusal, BranchRequisiteRefusal, IntegrationError};

use crate::fixtures;

fn stamp(project: ProjectId) -> Stamp {
    Stamp::of_system(project, DateTime::UNIX_EPOCH)
}

async fn branch(db: &TestDatabase, project: ProjectId, name: &str) -> Branch {
    let name = Name::parse(name).unwrap();
    let draft = BranchDraft { name, inn: None, kpp: None, address: None, phone: None, email: None };
    RecordRepository::<Branch>::insert(&db.database, stamp(project), draft).await.unwrap()
}

fn account() -> BankRequisiteDraft {
    BankRequisiteDraft {
        bik: Bik::parse("044525225").unwrap(),
        bank_name: Name::parse("Bank").unwrap(),
        correspondent_account: None,
        account: BankAccount::parse("40702810938000000001").unwrap(),
        comment: None,
    }
}

async fn requisite(db: &TestDatabase, project: ProjectId, branch: BranchId) -> BankRequisite {
    BranchRequisiteRepository::insert(&db.database, stamp(project), branch, account()).await.unwrap()
}

fn asked(text: Option<&str>, sort: Sort) -> Listing {
    let text = text.map(|text| Line::parse(text).unwrap());
    Listing { text, sort, conditions: Vec::new(), page: PageRequest::new(1, 100, 100).unwrap(), unsorted: false }
}

database_tests! {
    async fn unchecked_stored_values_can_be_read_and_changed(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let id = branch(&db, project, "Nord").await.id;
        fixtures::run(&db, format!("UPDATE branches SET inn = '7701234567', kpp = 'x' WHERE id = {id}")).await;
        let name = Edit::Set(Name::parse("Sud").unwrap());
        let renamed = BranchChange { name, ..BranchChange::default() };
        let changed = RecordRepository::<Branch>::update(&db.database, stamp(project), id, renamed).await.unwrap();
        assert_eq!((changed.inn.as_deref(), changed.kpp.as_deref()), (Some("7701234567"), Some("x")));
        assert_eq!((changed.name.as_str(), changed.version), ("Sud", 2));
    }

    async fn a_kpp_is_checked_against_what_is_stored_then(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let id = branch(&db, project, "Nord").await.id;
        fixtures::run(&db, format!("UPDATE branches SET inn = '500100732259' WHERE id = {id}")).await;
        let kpp = Edit::Set(Some(Kpp::parse("770701001").unwrap()));
        let change = BranchChange { kpp, ..BranchChange::default() };
        let refused = RecordRepository::<Branch>::update(&db.database, stamp(project), id, change).await;
        assert!(matches!(refused, Err(RecordError::Refused(BranchRefusal::Invalid(_)))), "{refused:?}");
    }

    async fn branches_are_found_by_parts_of_their_names(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (b, a) = (branch(&db, project, "Яхта").await, branch(&db, project, "Ёлка").await);
        branch(&db, fixtures::project(&db).await, "Ёлка").await;
        let ids = async |text: Option<&str>, sort: Sort| {
            let page = ListedRepository::<Branch>::page(&db.database, project, asked(text, sort)).await.unwrap();
            page.items.into_iter().map(|branch| branch.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(Some("ЁЛК"), Sort::ascending("id")).await, [a.id]);
        assert_eq!(ids(None, Sort::ascending("name")).await, [a.id, b.id]);
        assert!(ids(Some("%"), Sort::ascending("id")).await.is_empty());
    }

    async fn a_requisite_belongs_to_its_branch_alone(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let (here, there) = (branch(&db, mine, "A").await.id, branch(&db, mine, "B").await.id);
        let one = requisite(&db, mine, here).await;
        let repository: &dyn BranchRequisiteRepository = &db.database;
        assert_eq!(repository.of_branch(mine, here).await.unwrap(), std::slice::from_ref(&one));
        assert!(repository.of_branch(mine, there).await.unwrap().is_empty());
        assert!(repository.of_branch(other, here).await.unwrap().is_empty());
        let change = BankRequisiteChange { bik: Edit::Set(Bik::parse("044525187").unwrap()), ..Default::default() };
        for (project, branch) in [(mine, there), (other, here)] {
            let refused = repository.update(stamp(project), branch, one.id, BankRequisiteChange::default()).await;
            assert!(matches!(refused, Err(RecordError::NotFound)), "{refused:?}");
        }
        assert!(matches!(repository.insert(stamp(other), here, account()).await, Err(RecordError::NotFound)));
        let refused = repository.update(stamp(mine), here, one.id, change).await;
        assert!(matches!(refused, Err(RecordError::Refused(BranchRequisiteRefusal::Invalid(_)))), "{refused:?}");
    }

    async fn a_branch_goes_with_accounts_and_secrets(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (gone, kept) = (branch(&db, project, "A").await.id, branch(&db, project, "B").await.id);
        let integrations: &dyn IntegrationRepository = &db.database;
        let card = IntegrationId::new(1).unwrap();
        for branch in [gone, kept] {
            let owner = IntegrationOwner::BankRequisite(branch, requisite(&db, project, branch).await.id);
            integrations.switch(stamp(project), owner, card, true).await.unwrap();
            let (key, value) = (ParameterKey::parse("token").unwrap(), StoredValue::Sealed("x".to_owned()));
            integrations.add_parameter(stamp(project), owner, card, key, value).await.unwrap();
        }
        let wrong = IntegrationOwner::BankRequisite(gone, requisite(&db, project, kept).await.id);
        assert!(integrations.owner(wrong).await.unwrap().is_none());
        assert!(matches!(integrations.switch(stamp(project), wrong, card, true).await, Err(IntegrationError::NotFound)));
        DeletableRepository::<Branch>::delete(&db.database, stamp(project), gone).await.unwrap();
        let left = async |statement: &'static str| fixtures::number(&db, statement).await;
        assert_eq!(left("SELECT count(*) AS value FROM branch_bank_requisites").await, 2);
        assert_eq!(left("SELECT count(*) AS value FROM integration_links").await, 1);
        assert_eq!(left("SELECT count(*) AS value FROM integration_parameters").await, 1);
    }

    async fn a_branch_in_use_keeps_everything(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let id = branch(&db, project, "A").await.id;
        let owner = IntegrationOwner::BankRequisite(id, requisite(&db, project, id).await.id);
        let card = IntegrationId::new(1).unwrap();
        db.database.switch(stamp(project), owner, card, true).await.unwrap();
        let at = "'2026-01-01 00:00:00'";
        for (make, unmake) in [
            (format!("INSERT INTO departments (project_id, branch_id, name, created_at, updated_at) VALUES ({project}, {id}, 'D', {at}, {at})"), "departments"),
            (format!("INSERT INTO warehouses (project_id, branch_id, name, created_at, updated_at) VALUES ({project}, {id}, 'W', {at}, {at})"), "warehouses"),
            (format!("INSERT INTO shops (project_id, branch_id, name, address, is_active, created_at, updated_at) \
                VALUES ({project}, {id}, 'S', 'X', TRUE, {at}, {at})"), "shops"),
            (format!("INSERT INTO applications (project_id, branch_id, name, token_fingerprint, is_active, wholesale, created_at, updated_at) \
                VALUES ({project}, {id}, 'A', 't', TRUE, FALSE, {at}, {at})"), "applications"),
        ] {
            fixtures::run(&db, make).await;
            let refused = DeletableRepository::<Branch>::delete(&db.database, stamp(project), id).await;
            assert!(matches!(refused, Err(RecordError::Refused(BranchRefusal::InUse))), "{unmake}: {refused:?}");
            fixtures::run(&db, format!("DELETE FROM {unmake}")).await;
        }
        assert!(db.database.used(owner).await.unwrap()[0].is_active, "nothing is half deleted");
        DeletableRepository::<Branch>::delete(&db.database, stamp(project), id).await.unwrap();
    }

    async fn records_added_during_the_deletion_of_a_branch_are_deleted(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        for _ in 0..4 {
            let id = branch(&db, project, "A").await.id;
            let owner = IntegrationOwner::BankRequisite(id, requisite(&db, project, id).await.id);
            let delete = DeletableRepository::<Branch>::delete(&db.database, stamp(project), id);
            let note = BranchRequisiteRepository::insert(&db.database, stamp(project), id, account());
            let link = db.database.switch(stamp(project), owner, IntegrationId::new(1).unwrap(), true);
            let (deleted, noted, linked) = tokio::join!(delete, note, link);
            deleted.unwrap();
            assert!(matches!(noted, Ok(_) | Err(RecordError::NotFound)), "{noted:?}");
            assert!(matches!(linked, Ok(_) | Err(RecordError::NotFound)), "{linked:?}");
        }
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM branch_bank_requisites").await, 0);
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM integration_links").await, 0);
    }
}
