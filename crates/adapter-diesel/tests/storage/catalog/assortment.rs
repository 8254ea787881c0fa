//! Categories, brands and what an application shows of them.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::{AssortmentError, BrandError, CategoryError};
use kontor_kernel::*;

use super::records::*;
use crate::fixtures;

async fn shown(db: &TestDatabase, application: ApplicationId) -> (Vec<String>, Vec<String>) {
    let categories = AssortmentRepository::<Category>::assigned(&db.database, application).await.unwrap();
    let brands = AssortmentRepository::<Brand>::assigned(&db.database, application).await.unwrap();
    (
        categories.into_iter().map(|category| category.name.into()).collect(),
        brands.into_iter().map(|brand| brand.details.name.into()).collect(),
    )
}

database_tests! {
    async fn a_category_comes_back_with_its_parent(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let root = category(&db, mine, "Мебель").await;
        let draft = CategoryDraft {
            photo: Some(PhotoUrl::parse("https://cdn.example/a.jpg").unwrap()),
            parent_id: Some(root.id),
            description: Some(Prose::parse("<p>Стулья</p>").unwrap()),
            ..category_draft("Стулья")
        };
        let child = CategoryRepository::insert(&db.database, mine, draft.clone(), NOON).await.unwrap();
        assert_eq!(child.parent, Some(Reference { id: root.id, name: root.name.clone() }));
        assert_eq!((&child.photo, &child.description), (&draft.photo, &draft.description));
        assert_eq!(CategoryRepository::list(&db.database, mine).await.unwrap(), vec![root, child]);
        assert!(CategoryRepository::list(&db.database, other).await.unwrap().is_empty());
        let refused = CategoryRepository::insert(&db.database, other, draft, NOON).await;
        assert!(matches!(refused, Err(CategoryError::UnknownParent)));
    }

    async fn a_category_gets_the_next_code_of_its_project(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let coded = CategoryDraft { code: Some(CategoryCode::new(40).unwrap()), ..category_draft("A") };
        assert_eq!(category(&db, mine, "First").await.code.get(), 1);
        CategoryRepository::insert(&db.database, mine, coded.clone(), NOON).await.unwrap();
        let refused = CategoryRepository::insert(&db.database, mine, coded, NOON).await;
        assert!(matches!(refused, Err(CategoryError::CodeTaken)));
        assert_eq!(category(&db, mine, "Next").await.code.get(), 41);
        assert_eq!(category(&db, other, "Elsewhere").await.code.get(), 1);
    }

    async fn categories_added_at_once_get_different_codes(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let tasks: Vec<_> = (0..8).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { CategoryRepository::insert(&database, project, category_draft("A"), NOON).await })
        }).collect();
        let mut codes = Vec::new();
        for task in tasks {
            codes.push(task.await.unwrap().unwrap().code.get());
        }
        codes.sort_unstable();
        assert_eq!(codes, (1..=8).collect::<Vec<_>>());
    }

    async fn a_brand_name_is_unique_in_its_project_in_any_case(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let stored = brand(&db, mine, "Ёлка").await;
        let again = BrandDraft { name: name("ЁЛКА"), photo: None };
        let refused = BrandRepository::insert(&db.database, mine, again.clone(), NOON).await;
        assert!(matches!(refused, Err(BrandError::NameTaken)));
        BrandRepository::insert(&db.database, other, again, NOON).await.unwrap();
        assert_eq!(BrandRepository::list(&db.database, mine).await.unwrap(), vec![stored]);
    }

    async fn an_application_shows_what_was_assigned_in_the_order_of_assigning(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let branch = branch(&db, project).await;
        let (site, kiosk) = (application(&db, project, branch, "Site").await, application(&db, project, branch, "Kiosk").await);
        for title in ["B", "C", "A", "B"] {
            let known = CategoryRepository::list(&db.database, project).await.unwrap();
            let record = match known.into_iter().find(|category| category.name.as_str() == title) {
                Some(known) => known,
                None => category(&db, project, title).await,
            };
            AssortmentRepository::<Category>::assign(&db.database, project, site, record.id).await.unwrap();
        }
        let (first, second) = (brand(&db, project, "First").await, brand(&db, project, "Second").await);
        for id in [first.id, second.id, first.id] {
            AssortmentRepository::<Brand>::assign(&db.database, project, site, id).await.unwrap();
        }
        let expected = (["B", "C", "A"].map(String::from).to_vec(), ["First", "Second"].map(String::from).to_vec());
        assert_eq!(shown(&db, site).await, expected);
        assert_eq!(shown(&db, kiosk).await, (Vec::new(), Vec::new()));
    }

    async fn only_records_of_the_project_are_assigned(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let branch = branch(&db, mine).await;
        let site = application(&db, mine, branch, "Site").await;
        let foreign = category(&db, other, "Foreign").await;
        for id in [foreign.id, CategoryId::new(999).unwrap()] {
            let refused = AssortmentRepository::<Category>::assign(&db.database, mine, site, id).await;
            assert!(matches!(refused, Err(AssortmentError::UnknownRecord)));
        }
        assert_eq!(db.database.owner(site).await.unwrap(), Some(mine));
        assert_eq!(db.database.owner(ApplicationId::new(999).unwrap()).await.unwrap(), None);
    }
}
