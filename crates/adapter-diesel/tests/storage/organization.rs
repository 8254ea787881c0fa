//! Branches and applications.

use chrono::DateTime;
use kontor_adapter_diesel::database_tests;
use kontor_kernel::{BranchId, Name, Phone, ProjectId};
use kontor_organization::ApplicationError;
use kontor_organization::model::{ApplicationDraft, BranchDraft};
use kontor_organization::ports::{ApplicationRepository, BranchRepository};

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

fn application(branch_id: BranchId) -> ApplicationDraft {
    ApplicationDraft { branch_id, name: Name::parse("Shop").unwrap(), url: None, wholesale: true }
}

async fn insert(
    db: &TestDatabase,
    project: ProjectId,
    branch: BranchId,
    token: &str,
) -> Result<kontor_organization::model::Application, ApplicationError> {
    let draft = application(branch);
    ApplicationRepository::insert(&db.database, project, draft, token.to_owned(), DateTime::UNIX_EPOCH).await
}

use kontor_adapter_diesel::testing::TestDatabase;

database_tests! {
    async fn a_branch_is_listed_in_its_project_only(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let stored = BranchRepository::insert(&db.database, mine, branch("Мастерская"), DateTime::UNIX_EPOCH).await.unwrap();
        assert_eq!(BranchRepository::list(&db.database, mine).await.unwrap(), vec![stored]);
        assert!(BranchRepository::list(&db.database, other).await.unwrap().is_empty());
    }

    async fn a_token_names_its_application(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch = BranchRepository::insert(&db.database, project, branch("A"), DateTime::UNIX_EPOCH).await.unwrap();
        let stored = insert(&db, project, branch.id, "token-a").await.unwrap();
        let scope = db.database.by_token("token-a").await.unwrap().unwrap();
        assert_eq!((scope.project_id, scope.application_id, scope.wholesale), (project, stored.id, true));
        assert_eq!(db.database.by_token("token-b").await.unwrap(), None);
        assert_eq!(db.database.find(stored.id).await.unwrap(), Some(stored));
    }

    async fn an_application_needs_a_branch_of_its_project(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let foreign = BranchRepository::insert(&db.database, other, branch("B"), DateTime::UNIX_EPOCH).await.unwrap();
        let refused = insert(&db, mine, foreign.id, "token").await;
        assert!(matches!(refused, Err(ApplicationError::UnknownBranch)));
    }
}
