//! Branches and applications.

use chrono::{DateTime, TimeDelta};
use kontor_adapter_diesel::database_tests;
use kontor_kernel::history::Histories;
use kontor_kernel::{
    AppScope, ApplicationId, BranchId, Edit, Language, Link, Name, PageRequest, PaymentTypeId, Phone, ProjectId,
    ProjectScoped, RecordError, RecordRepository, Resource, Stamp,
};
use kontor_organization::model::{
    Application, ApplicationChange, ApplicationDraft, Branch, BranchDraft, HoldHours, PieceLimit, ProjectChange,
    ProjectSettings,
};
use kontor_organization::ports::{ApplicationRepository, CheckoutOptionRepository, ProjectSettingsStore};
use kontor_organization::{ApplicationError, ApplicationRefusal};

use crate::fixtures;

fn branch(name: &str) -> BranchDraft {
    BranchDraft {
        name: Name::parse(name).unwrap(),
        inn: None,
        kpp: None,
        address: None,
        phone: Some(Phone::parse("79001234567").unwrap()),
        email: None,
    }
}

fn at(project: ProjectId) -> Stamp {
    Stamp::of_system(project, DateTime::UNIX_EPOCH)
}

fn application(branch_id: BranchId) -> ApplicationDraft {
    ApplicationDraft { branch_id, name: Name::parse("Shop").unwrap(), url: None, wholesale: true }
}

async fn insert(
    db: &TestDatabase,
    project: ProjectId,
    branch: BranchId,
    token: &str,
) -> Result<Application, ApplicationError> {
    let draft = application(branch);
    ApplicationRepository::insert(&db.database, at(project), draft, token.to_owned()).await
}

use kontor_adapter_diesel::testing::TestDatabase;

database_tests! {
    async fn a_branch_is_listed_in_its_project_only(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let stored = RecordRepository::<Branch>::insert(&db.database, at(mine), branch("Мастерская")).await.unwrap();
        assert_eq!(RecordRepository::<Branch>::list(&db.database, mine).await.unwrap(), vec![stored]);
        assert!(RecordRepository::<Branch>::list(&db.database, other).await.unwrap().is_empty());
    }

    async fn a_token_names_its_application(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch = RecordRepository::<Branch>::insert(&db.database, at(project), branch("A")).await.unwrap();
        let stored = insert(&db, project, branch.id, "token-a").await.unwrap();
        let scope = db.database.by_token("token-a").await.unwrap().unwrap();
        assert_eq!((scope.project_id, scope.application_id, scope.wholesale), (project, stored.id, true));
        assert_eq!(db.database.by_token("token-b").await.unwrap(), None);
        assert_eq!(ApplicationRepository::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(project, stored)));
    }

    async fn an_application_takes_the_payment_types_chosen_for_it(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let branch = RecordRepository::<Branch>::insert(&db.database, at(mine), branch("A")).await.unwrap();
        let (one, two) = (insert(&db, mine, branch.id, "one").await.unwrap(), insert(&db, mine, branch.id, "two").await.unwrap());
        fixtures::run(&db, format!(
            "INSERT INTO payment_types (id, project_id, name) VALUES (1, {mine}, 'Card'), (2, {mine}, 'Cash'), (3, {other}, 'Foreign')"
        )).await;
        let options: &dyn CheckoutOptionRepository = &db.database;
        let taken = async |application: &Application| {
            let app = AppScope { project_id: mine, application_id: application.id, wholesale: false };
            let types = options.payment_types(app).await.unwrap();
            let choices = options.payment_choices(application.id).await.unwrap().unwrap();
            let taken: Vec<_> = choices.into_iter().filter(|choice| choice.is_taken).map(|choice| choice.payment_type).collect();
            assert_eq!(taken, types);
            types.into_iter().map(|kind| kind.id.get()).collect::<Vec<_>>()
        };
        let choose = async |application: &Application, ids: &[i64]| {
            let chosen = ids.iter().map(|id| PaymentTypeId::new(*id).unwrap()).collect();
            options.choose_payment_types(at(mine), application.id, chosen).await
        };
        assert_eq!((taken(&one).await, taken(&two).await), (vec![1, 2], vec![1, 2]));
        choose(&one, &[2]).await.unwrap();
        assert_eq!((taken(&one).await, taken(&two).await), (vec![2], vec![1, 2]));
        for wrong in [&[1, 3][..], &[99]] {
            assert!(matches!(choose(&one, wrong).await, Err(RecordError::Refused(ApplicationRefusal::UnknownPaymentType))));
        }
        assert_eq!(taken(&one).await, [2], "nothing is half done");
        choose(&one, &[1]).await.unwrap();
        choose(&two, &[1, 2]).await.unwrap();
        fixtures::run(&db, format!("INSERT INTO payment_types (id, project_id, name) VALUES (4, {mine}, 'Later')")).await;
        assert_eq!((taken(&one).await, taken(&two).await), (vec![1], vec![1, 2]));
        choose(&two, &[]).await.unwrap();
        assert_eq!(taken(&two).await, [1, 2, 4]);
        let nothing = Application { id: ApplicationId::new(99).unwrap(), ..one };
        assert!(matches!(choose(&nothing, &[]).await, Err(ApplicationError::NotFound)));
        assert!(options.payment_choices(nothing.id).await.unwrap().is_none());
    }

    async fn changes_of_an_application_raise_its_version_and_enter_its_history(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let branch_id = RecordRepository::<Branch>::insert(&db.database, at(mine), branch("A")).await.unwrap().id;
        let second = RecordRepository::<Branch>::insert(&db.database, at(mine), branch("B")).await.unwrap().id;
        let foreign = RecordRepository::<Branch>::insert(&db.database, at(other), branch("C")).await.unwrap().id;
        let application = insert(&db, mine, branch_id, "one").await.unwrap();
        let id = application.id;
        let applications: &dyn ApplicationRepository = &db.database;
        let change = ApplicationChange {
            branch_id: Edit::Set(second),
            name: Edit::Set(Name::parse("Kiosk").unwrap()),
            url: Edit::Set(Some(Link::parse("https://kiosk.example").unwrap())),
            wholesale: Edit::Set(false),
        };
        let changed = applications.update(at(mine), id, change.clone()).await.unwrap();
        let details = &changed.details;
        assert_eq!((details.branch_id, details.name.as_str(), details.wholesale), (second, "Kiosk", false));
        assert_eq!(applications.by_token("one").await.unwrap().map(|app| app.wholesale), Some(false));
        let kept = applications.update(at(mine), id, ApplicationChange::default()).await.unwrap();
        assert_eq!(kept, changed);
        let wrong = ApplicationChange { branch_id: Edit::Set(foreign), ..ApplicationChange::default() };
        let refused = applications.update(at(mine), id, wrong).await;
        assert!(matches!(refused, Err(RecordError::Refused(ApplicationRefusal::UnknownBranch))));
        let refused = applications.update(at(other), id, change).await;
        assert!(matches!(refused, Err(ApplicationError::NotFound)));
        assert!(!applications.switch(at(mine), id, false).await.unwrap().is_active);
        // The state that it has already is not written again.
        assert!(!applications.switch(at(mine), id, false).await.unwrap().is_active);
        applications.replace_token(at(mine), id, "two".to_owned()).await.unwrap();
        assert_eq!(fixtures::number(&db, "SELECT version AS value FROM applications").await, 5);

        let page = PageRequest::new(1, 100, 100).unwrap();
        let lines = Histories::page(&db.database, mine, Resource::Applications.name(), id.get(), page).await.unwrap().items;
        let fields: Vec<Vec<_>> =
            lines.iter().map(|line| line.changes.iter().map(|change| change.field.as_str()).collect()).collect();
        // The time of the fixture is that of the first token, so the replacement leaves no entry.
        assert_eq!(fields, [
            vec!["is_active"],
            vec!["branch_id", "name", "url", "wholesale"],
            vec!["branch_id", "name", "wholesale", "is_active", "token_issued_at"],
        ]);
        let later = Stamp::of_system(mine, DateTime::UNIX_EPOCH + TimeDelta::hours(1));
        applications.replace_token(later, id, "three".to_owned()).await.unwrap();
        let lines = Histories::page(&db.database, mine, Resource::Applications.name(), id.get(), page).await.unwrap().items;
        assert_eq!(lines[0].changes[0].field, "token_issued_at");
        let reported = "SELECT COUNT(*) AS value FROM histories WHERE changes LIKE '%three%' OR changes LIKE '%two%'";
        assert_eq!(fixtures::number(&db, reported).await, 0, "not even the fingerprint");
    }

    async fn settings_of_a_project_are_changed_with_their_history(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let settings: &dyn ProjectSettingsStore = &db.database;
        let before = settings.project_settings(mine).await.unwrap().unwrap();
        assert!(!db.database.requires_if_match(mine).await.unwrap());
        let change = ProjectChange {
            language: Edit::Set(Language::En),
            if_match_required: Edit::Set(true),
            contact_max_pieces: Edit::Set(PieceLimit::new(7).unwrap()),
            contact_hold_hours: Edit::Set(HoldHours::new(1).unwrap()),
            ..ProjectChange::default()
        };
        let changed = settings.change_project_settings(at(mine), change.clone()).await.unwrap();
        let expected = ProjectSettings {
            language: Language::En,
            if_match_required: true,
            contact_max_pieces: PieceLimit::new(7).unwrap(),
            contact_hold_hours: HoldHours::new(1).unwrap(),
            ..before.clone()
        };
        assert_eq!(changed, expected);
        assert_eq!(settings.change_project_settings(at(mine), change.clone()).await.unwrap(), expected);
        assert!(db.database.requires_if_match(mine).await.unwrap(), "the cache is invalidated");
        let theirs = settings.project_settings(other).await.unwrap().unwrap();
        assert_eq!(theirs, ProjectSettings { id: other, ..before });
        assert_eq!(fixtures::number(&db, "SELECT MAX(version) AS value FROM projects").await, 3);
        assert_eq!(fixtures::number(&db, "SELECT MIN(version) AS value FROM projects").await, 1);
        let page = PageRequest::new(1, 10, 10).unwrap();
        let lines = Histories::page(&db.database, mine, Resource::Settings.name(), mine.get(), page).await.unwrap().items;
        let fields: Vec<_> = lines.iter().flat_map(|line| &line.changes).map(|change| change.field.as_str()).collect();
        assert_eq!(fields, ["language", "if_match_required", "contact_max_pieces", "contact_hold_hours"]);
        let nowhere = ProjectId::new(99).unwrap();
        let refused = settings.change_project_settings(at(nowhere), change).await;
        assert!(matches!(refused, Err(RecordError::NotFound)));
        assert_eq!(settings.project_settings(nowhere).await.unwrap(), None);
    }

    async fn an_application_needs_a_branch_of_its_project(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let foreign = RecordRepository::<Branch>::insert(&db.database, at(other), branch("B")).await.unwrap();
        let refused = insert(&db, mine, foreign.id, "token").await;
        assert!(matches!(refused, Err(RecordError::Refused(ApplicationRefusal::UnknownBranch))));
    }
}
