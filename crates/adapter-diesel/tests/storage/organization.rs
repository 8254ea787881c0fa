//! Branches and applications.

use chrono::DateTime;
use kontor_adapter_diesel::database_tests;
use kontor_kernel::{
    AppScope, ApplicationId, BranchId, Name, PaymentTypeId, Phone, ProjectId, ProjectScoped, RecordError, Stamp,
};
use kontor_organization::model::{Application, ApplicationDraft, BranchDraft};
use kontor_organization::ports::{ApplicationRepository, BranchRepository, CheckoutOptionRepository};
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
    ApplicationRepository::insert(&db.database, project, draft, token.to_owned(), DateTime::UNIX_EPOCH).await
}

use kontor_adapter_diesel::testing::TestDatabase;

database_tests! {
    async fn a_branch_is_listed_in_its_project_only(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let stored = BranchRepository::insert(&db.database, at(mine), branch("Мастерская")).await.unwrap();
        assert_eq!(BranchRepository::list(&db.database, mine).await.unwrap(), vec![stored]);
        assert!(BranchRepository::list(&db.database, other).await.unwrap().is_empty());
    }

    async fn a_token_names_its_application(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch = BranchRepository::insert(&db.database, at(project), branch("A")).await.unwrap();
        let stored = insert(&db, project, branch.id, "token-a").await.unwrap();
        let scope = db.database.by_token("token-a").await.unwrap().unwrap();
        assert_eq!((scope.project_id, scope.application_id, scope.wholesale), (project, stored.id, true));
        assert_eq!(db.database.by_token("token-b").await.unwrap(), None);
        assert_eq!(ApplicationRepository::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(project, stored)));
    }

    async fn an_application_takes_the_payment_types_chosen_for_it(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let branch = BranchRepository::insert(&db.database, at(mine), branch("A")).await.unwrap();
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
            options.choose_payment_types(application.id, chosen, DateTime::UNIX_EPOCH).await
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

    async fn an_application_needs_a_branch_of_its_project(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let foreign = BranchRepository::insert(&db.database, at(other), branch("B")).await.unwrap();
        let refused = insert(&db, mine, foreign.id, "token").await;
        assert!(matches!(refused, Err(RecordError::Refused(ApplicationRefusal::UnknownBranch))));
    }
}
