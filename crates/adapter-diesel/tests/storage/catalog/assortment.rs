//! Categories, brands and the assortment of an application.

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::{
    AssortmentError, AssortmentRefusal, BrandError, BrandRefusal, CategoryError, CategoryRefusal, PromotionError,
    PromotionRefusal, TagError, TagRefusal,
};
use kontor_kernel::history::*;
use kontor_kernel::*;

use super::records::*;
use crate::fixtures;

async fn shown(db: &TestDatabase, application: ApplicationId) -> (Vec<String>, Vec<String>) {
    let categories = AssortmentRepository::<Category>::assigned(&db.database, application).await.unwrap();
    let brands = AssortmentRepository::<Brand>::assigned(&db.database, application).await.unwrap();
    (
        categories.into_iter().map(|category| category.name.into()).collect(),
        brands.into_iter().map(|brand| brand.name.into()).collect(),
    )
}

/// An application that shows categories and brands of these names.
struct AssortmentFixture {
    project: ProjectId,
    site: ApplicationId,
    categories: Vec<CategoryId>,
    brands: Vec<BrandId>,
}

impl AssortmentFixture {
    async fn of(db: &TestDatabase, names: &[&str]) -> Self {
        let project = fixtures::project(db).await;
        let branch = branch(db, project).await;
        let (site, other) =
            (application(db, project, branch, "Site").await, application(db, project, branch, "Kiosk").await);
        let mut fixture = Self { project, site, categories: Vec::new(), brands: Vec::new() };
        for title in names {
            let (category, brand) = (category(db, project, title).await.id, brand(db, project, title).await.id);
            for application in [site, other] {
                AssortmentRepository::<Category>::assign(&db.database, system(project), application, category)
                    .await
                    .unwrap();
                AssortmentRepository::<Brand>::assign(&db.database, system(project), application, brand).await.unwrap();
            }
            fixture.categories.push(category);
            fixture.brands.push(brand);
        }
        fixture
    }

    fn stamp(&self) -> Stamp {
        system(self.project)
    }

    /// Changes of this field in its history, latest first: old and new value.
    async fn reported(&self, db: &TestDatabase, field: &str) -> Vec<(Option<String>, Option<String>)> {
        let lines =
            Histories::page(&db.database, self.project, Resource::Applications.name(), self.site.get(), page(1, 100));
        let lines = lines.await.unwrap().items.into_iter().filter(|line| line.action == HistoryAction::Changed);
        let changes = lines.flat_map(|line| {
            assert_eq!((line.author, line.at), (Author::System, NOON));
            line.changes
        });
        changes.filter(|change| change.field == field).map(|change| (change.old, change.new)).collect()
    }

    async fn order(&self, db: &TestDatabase) -> (String, String) {
        let (categories, brands) = shown(db, self.site).await;
        (categories.concat(), brands.concat())
    }
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
        let child = CategoryRepository::insert(&db.database, Stamp::of_system(mine, NOON), draft.clone()).await.unwrap();
        assert_eq!(child.parent, Some(Reference { id: root.id, name: root.name.clone() }));
        assert_eq!((&child.photo, &child.description), (&draft.photo, &draft.description));
        assert_eq!(CategoryRepository::list(&db.database, mine).await.unwrap(), vec![root, child]);
        assert!(CategoryRepository::list(&db.database, other).await.unwrap().is_empty());
        let refused = CategoryRepository::insert(&db.database, Stamp::of_system(other, NOON), draft).await;
        assert!(matches!(refused, Err(CategoryError::Refused(CategoryRefusal::UnknownParent))));
    }

    async fn a_category_gets_the_next_code_of_its_project(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let coded = CategoryDraft { code: Some(CategoryCode::new(40).unwrap()), ..category_draft("A") };
        assert_eq!(category(&db, mine, "First").await.code.get(), 1);
        CategoryRepository::insert(&db.database, Stamp::of_system(mine, NOON), coded.clone()).await.unwrap();
        let refused = CategoryRepository::insert(&db.database, Stamp::of_system(mine, NOON), coded).await;
        assert!(matches!(refused, Err(CategoryError::Refused(CategoryRefusal::CodeTaken))));
        assert_eq!(category(&db, mine, "Next").await.code.get(), 41);
        assert_eq!(category(&db, other, "Elsewhere").await.code.get(), 1);
    }

    async fn after_the_last_code_the_smallest_free_one_is_given(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        for code in [1, 3, CategoryCode::MAX_CODE] {
            let draft = CategoryDraft { code: Some(CategoryCode::new(code).unwrap()), ..category_draft("A") };
            CategoryRepository::insert(&db.database, Stamp::of_system(mine, NOON), draft).await.unwrap();
        }
        category(&db, other, "Elsewhere").await;
        assert_eq!(category(&db, mine, "B").await.code.get(), 2);
        assert_eq!(category(&db, mine, "C").await.code.get(), 4);
    }

    async fn categories_added_at_once_get_different_codes(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let tasks: Vec<_> = (0..8).map(|_| {
            let database = db.database.clone();
            tokio::spawn(async move { CategoryRepository::insert(&database, Stamp::of_system(project, NOON), category_draft("A")).await })
        }).collect();
        let mut codes = Vec::new();
        for task in tasks {
            codes.push(task.await.unwrap().unwrap().code.get());
        }
        codes.sort_unstable();
        assert_eq!(codes, (1..=8).collect::<Vec<_>>());
    }

    async fn a_category_never_lies_in_itself(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let stamp = Stamp::of_system(project, NOON);
        let (a, b, c) = (category(&db, project, "A").await, category(&db, project, "B").await, category(&db, project, "C").await);
        let into = |parent: CategoryId| CategoryChange { parent_id: Edit::Set(Some(parent)), ..CategoryChange::default() };
        CategoryRepository::update(&db.database, stamp, b.id, into(a.id)).await.unwrap();
        CategoryRepository::update(&db.database, stamp, c.id, into(b.id)).await.unwrap();
        for below in [a.id, b.id, c.id] {
            let refused = CategoryRepository::update(&db.database, stamp, a.id, into(below)).await;
            assert!(matches!(refused, Err(CategoryError::Refused(CategoryRefusal::Cycle))), "{refused:?}");
        }
        let freed = CategoryChange { parent_id: Edit::Set(None), ..CategoryChange::default() };
        assert_eq!(CategoryRepository::update(&db.database, stamp, c.id, freed).await.unwrap().parent, None);
        CategoryRepository::update(&db.database, stamp, a.id, into(c.id)).await.unwrap();
    }

    async fn two_moves_at_once_never_close_a_circle(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        for round in 0..10 {
            let (a, b) = (category(&db, project, "A").await.id, category(&db, project, "B").await.id);
            let moves = [(a, b), (b, a)].map(|(one, into)| {
                let database = db.database.clone();
                let change = CategoryChange { parent_id: Edit::Set(Some(into)), ..CategoryChange::default() };
                tokio::spawn(async move {
                    CategoryRepository::update(&database, Stamp::of_system(project, NOON), one, change).await
                })
            });
            let mut refused = 0;
            for moved in moves {
                match moved.await.unwrap() {
                    Ok(_) => {}
                    Err(CategoryError::Refused(CategoryRefusal::Cycle)) => refused += 1,
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(refused, 1, "round {round}");
        }
    }

    async fn a_category_has_its_history(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let record = category(&db, mine, "Chairs").await;
        category(&db, mine, "Tables").await;
        let change = CategoryChange { name: Edit::Set(name("Seats")), ..CategoryChange::default() };
        for _ in 0..2 {
            CategoryRepository::update(&db.database, Stamp::of_system(mine, NOON), record.id, change.clone()).await.unwrap();
        }
        let page = PageRequest::new(1, 15, 100).unwrap();
        let history = Histories::page(&db.database, mine, Resource::Categories.name(), record.id.get(), page).await.unwrap();
        assert_eq!(history.total, 2, "a change of nothing is not told");
        let changed = &history.items[0];
        assert_eq!((changed.action, changed.author, changed.at), (HistoryAction::Changed, Author::System, NOON));
        let renamed = FieldChange { field: "name".into(), old: Some("Chairs".into()), new: Some("Seats".into()) };
        assert_eq!(changed.changes, [renamed]);
        assert_eq!(history.items[1].action, HistoryAction::Created);
        let elsewhere = Histories::page(&db.database, other, Resource::Categories.name(), record.id.get(), page).await.unwrap();
        assert_eq!(elsewhere.total, 0);
        let second = PageRequest::new(2, 1, 100).unwrap();
        let older = Histories::page(&db.database, mine, Resource::Categories.name(), record.id.get(), second).await.unwrap();
        assert_eq!(older.items, history.items[1..]);
    }

    async fn a_brand_name_is_unique_in_its_project_in_any_case(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let stored = brand(&db, mine, "Ёлка").await;
        let again = BrandDraft { name: name("ЁЛКА"), photo: None };
        let refused = RecordRepository::<Brand>::insert(&db.database, system(mine), again.clone()).await;
        assert!(matches!(refused, Err(BrandError::Refused(BrandRefusal::NameTaken))));
        RecordRepository::<Brand>::insert(&db.database, system(other), again).await.unwrap();
        assert_eq!(RecordRepository::<Brand>::list(&db.database, mine).await.unwrap(), vec![stored]);
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
            AssortmentRepository::<Category>::assign(&db.database, system(project), site, record.id).await.unwrap();
        }
        let (first, second) = (brand(&db, project, "First").await, brand(&db, project, "Second").await);
        for id in [first.id, second.id, first.id] {
            AssortmentRepository::<Brand>::assign(&db.database, system(project), site, id).await.unwrap();
        }
        let expected = (["B", "C", "A"].map(String::from).to_vec(), ["First", "Second"].map(String::from).to_vec());
        assert_eq!(shown(&db, site).await, expected);
        assert_eq!(shown(&db, kiosk).await, (Vec::new(), Vec::new()));
    }

    async fn a_brand_is_changed_in_its_project_alone(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let (stored, second) = (brand(&db, mine, "Ёлка").await, brand(&db, mine, "Слон").await);
        let photo = Some(PhotoUrl::parse("https://cdn.example/a.jpg").unwrap());
        let change = BrandChange { name: Edit::Set(name("ЁЛКА")), photo: Edit::Set(photo.clone()) };
        let changed = RecordRepository::<Brand>::update(&db.database, system(mine), stored.id, change.clone()).await.unwrap();
        assert_eq!((changed.name, changed.photo), (name("ЁЛКА"), photo));
        let refused = RecordRepository::<Brand>::update(&db.database, system(mine), second.id, change.clone()).await;
        assert!(matches!(refused, Err(BrandError::Refused(BrandRefusal::NameTaken))));
        let refused = RecordRepository::<Brand>::update(&db.database, system(other), stored.id, change).await;
        assert!(matches!(refused, Err(BrandError::NotFound)));
        let cleared = BrandChange { photo: Edit::Set(None), ..BrandChange::default() };
        let changed = RecordRepository::<Brand>::update(&db.database, system(mine), stored.id, cleared).await.unwrap();
        assert_eq!((&changed.name, &changed.photo), (&name("ЁЛКА"), &None));
        assert_eq!(RecordRepository::<Brand>::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(mine, changed)));
    }

    async fn a_tag_has_a_name_of_its_own_in_its_project(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let draft = |title: &str| TagDraft { name: name(title), photo: None };
        let stored = TagRepository::insert(&db.database, system(mine), draft("Ёлка")).await.unwrap();
        let tasks: Vec<_> = ["хит", "Хит", "ХИТ", "ёлка"].map(|title| {
            let (database, draft) = (db.database.clone(), draft(title));
            tokio::spawn(async move { TagRepository::insert(&database, system(mine), draft).await })
        }).into();
        let mut added = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(_) => added += 1,
                Err(TagError::Refused(TagRefusal::NameTaken)) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(added, 1);
        TagRepository::insert(&db.database, system(other), draft("ёлка")).await.unwrap();
        let listed = TagRepository::list(&db.database, mine).await.unwrap();
        assert_eq!((listed.len(), &listed[0]), (2, &stored));
        let nowhere = TagRepository::insert(&db.database, system(ProjectId::new(999).unwrap()), draft("A")).await;
        assert!(matches!(nowhere, Err(TagError::NotFound)));
    }

    async fn assignments_are_moved_one_position_at_a_time(db: TestDatabase) {
        let fixture = AssortmentFixture::of(&db, &["A", "B", "C"]).await;
        for (one, shift, expected) in [
            (0, MoveDirection::Up, "ABC"), (2, MoveDirection::Up, "ACB"), (2, MoveDirection::Up, "CAB"), (2, MoveDirection::Up, "CAB"),
            (0, MoveDirection::Down, "CBA"), (0, MoveDirection::Down, "CBA"), (1, MoveDirection::Up, "BCA"),
        ] {
            let (category, brand) = (fixture.categories[one], fixture.brands[one]);
            let moved: Category = db.database.shift(fixture.stamp(), fixture.site, category, shift).await.unwrap();
            assert_eq!(moved.id, category);
            let moved: Brand = db.database.shift(fixture.stamp(), fixture.site, brand, shift).await.unwrap();
            assert_eq!(moved.id, brand);
            assert_eq!(fixture.order(&db).await, (expected.to_owned(), expected.to_owned()), "{one} {shift:?}");
        }
        AssortmentRepository::<Category>::withdraw(&db.database, fixture.stamp(), fixture.site, fixture.categories[2]).await.unwrap();
        AssortmentRepository::<Brand>::withdraw(&db.database, fixture.stamp(), fixture.site, fixture.brands[2]).await.unwrap();
        assert_eq!(fixture.order(&db).await, ("BA".to_owned(), "BA".to_owned()));
        let shown: Option<Category> = db.database.shown(fixture.site, fixture.categories[2]).await.unwrap();
        assert_eq!(shown, None);
        let refused: Result<Category, _> = db.database.shift(fixture.stamp(), fixture.site, fixture.categories[2], MoveDirection::Up).await;
        assert!(matches!(refused, Err(AssortmentError::NotFound)));
        let again = AssortmentRepository::<Category>::withdraw(&db.database, fixture.stamp(), fixture.site, fixture.categories[2]).await;
        assert!(matches!(again, Err(AssortmentError::NotFound)));
    }

    async fn assignments_are_in_the_history_of_the_application(db: TestDatabase) {
        let fixture = AssortmentFixture::of(&db, &["A", "B"]).await;
        let [first, second] = [fixture.categories[0], fixture.categories[1]];
        let [nord, west] = [fixture.brands[0], fixture.brands[1]];
        for shift in [MoveDirection::Down, MoveDirection::Down, MoveDirection::Up, MoveDirection::Up] {
            let _: Category = db.database.shift(fixture.stamp(), fixture.site, first, shift).await.unwrap();
        }
        let _: Brand = db.database.shift(fixture.stamp(), fixture.site, west, MoveDirection::Up).await.unwrap();
        AssortmentRepository::<Category>::assign(&db.database, fixture.stamp(), fixture.site, first).await.unwrap();
        AssortmentRepository::<Category>::withdraw(&db.database, fixture.stamp(), fixture.site, first).await.unwrap();
        AssortmentRepository::<Category>::withdraw(&db.database, fixture.stamp(), fixture.site, first).await.unwrap_err();
        let line = |old: Option<String>, new: Option<String>| (old, new);
        let (there, turned) = (format!("{first}, {second}"), format!("{second}, {first}"));
        let expected = [
            line(Some(first.to_string()), None),
            line(Some(turned.clone()), Some(there.clone())),
            line(Some(there), Some(turned)),
            line(None, Some(second.to_string())),
            line(None, Some(first.to_string())),
        ];
        assert_eq!(fixture.reported(&db, "categories").await, expected, "what changes nothing is not told");
        let brands = fixture.reported(&db, "brands").await;
        assert_eq!(brands.len(), 3);
        assert_eq!(brands[0], line(Some(format!("{nord}, {west}")), Some(format!("{west}, {nord}"))));
    }

    async fn brands_tags_and_promotions_have_histories_of_their_own(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let record = brand(&db, project, "Nord").await;
        let change = BrandChange { name: Edit::Set(name("West")), ..BrandChange::default() };
        for _ in 0..2 {
            RecordRepository::<Brand>::update(&db.database, system(project), record.id, change.clone()).await.unwrap();
        }
        let lines = Histories::page(&db.database, project, Resource::Brands.name(), record.id.get(), page(1, 10)).await.unwrap();
        assert_eq!(lines.items.iter().map(|line| line.action).collect::<Vec<_>>(), [HistoryAction::Changed, HistoryAction::Created]);
        let reported = FieldChange { field: "name".to_owned(), old: Some("Nord".to_owned()), new: Some("West".to_owned()) };
        assert_eq!(lines.items[0].changes, [reported]);

        let draft = TagDraft { name: name("New"), photo: None };
        let tag = TagRepository::insert(&db.database, system(project), draft).await.unwrap();
        let draft = PromotionDraft {
            name: name("Spring"),
            description: None,
            photo: None,
            period: Period::default(),
            discount_ids: Vec::new(),
            nomenclature_ids: vec![item(&db, project, goods("Mug")).await.id],
        };
        let promotion = PromotionRepository::insert(&db.database, system(project), draft).await.unwrap();
        let lines = "SELECT count(*) AS value FROM histories WHERE deed = 'created' AND resource IN ('tags', 'promotions')";
        assert_eq!(fixtures::number(&db, lines).await, 2, "of {} and {}", tag.id, promotion.id);
        let others = Histories::page(&db.database, project, Resource::Discounts.name(), promotion.id.get(), page(1, 10)).await;
        assert_eq!(others.unwrap().total, 0, "a discount with the number of the promotion has another history");
    }

    async fn changes_of_a_promotion_at_once_are_all_kept(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let mug = item(&db, project, goods("Mug")).await.id;
        let draft = PromotionDraft {
            name: name("Spring"),
            description: None,
            photo: None,
            period: Period::default(),
            discount_ids: Vec::new(),
            nomenclature_ids: vec![mug],
        };
        let id = PromotionRepository::insert(&db.database, system(project), draft).await.unwrap().id;
        let at = |day| Some(NOON + chrono::TimeDelta::days(day));
        let changes = [
            PromotionChange { name: Edit::Set(name("Summer")), ..PromotionChange::default() },
            PromotionChange { starts_at: Edit::Set(at(3)), ..PromotionChange::default() },
            PromotionChange { ends_at: Edit::Set(at(5)), ..PromotionChange::default() },
            PromotionChange { nomenclature_ids: Edit::Set(Vec::new()), ..PromotionChange::default() },
        ];
        let tasks = changes.map(|change| {
            let database = db.database.clone();
            tokio::spawn(async move { PromotionRepository::update(&database, system(project), id, change).await })
        });
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let found = PromotionRepository::find(&db.database, id).await.unwrap().unwrap().within(project).unwrap();
        assert_eq!((found.name.as_str(), found.period), ("Summer", Period::new(at(3), at(5)).unwrap()));
        assert_eq!(found.nomenclatures, []);
        // Each of the two changes fits the stored period, but both together do not.
        let turns = [
            PromotionChange { starts_at: Edit::Set(at(4)), ..PromotionChange::default() },
            PromotionChange { ends_at: Edit::Set(at(4)), ..PromotionChange::default() },
        ];
        let tasks = turns.map(|change| {
            let database = db.database.clone();
            tokio::spawn(async move { PromotionRepository::update(&database, system(project), id, change).await })
        });
        let mut refused = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(_) => {}
                Err(PromotionError::Refused(PromotionRefusal::Period(_))) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(refused, 1);
        let foreign = fixtures::project(&db).await;
        let lost = PromotionRepository::update(&db.database, system(foreign), id, PromotionChange::default()).await;
        assert!(matches!(lost, Err(PromotionError::NotFound)));
        assert!(matches!(PromotionRepository::delete(&db.database, system(foreign), id).await, Err(PromotionError::NotFound)));
        PromotionRepository::delete(&db.database, system(project), id).await.unwrap();
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM promotion_nomenclatures").await, 0);
        let lines = "SELECT count(*) AS value FROM histories WHERE resource = 'promotions'";
        assert_eq!(fixtures::number(&db, lines).await, 7, "one line of each change, the creation and the deletion");
    }

    async fn equal_places_are_parted_before_a_move(db: TestDatabase) {
        let fixture = AssortmentFixture::of(&db, &["A", "B", "C"]).await;
        execute(&db, "UPDATE application_categories SET position = 7".to_owned()).await;
        execute(&db, "UPDATE application_brands SET priority = 7".to_owned()).await;
        let _: Category = db.database.shift(fixture.stamp(), fixture.site, fixture.categories[2], MoveDirection::Up).await.unwrap();
        let _: Brand = db.database.shift(fixture.stamp(), fixture.site, fixture.brands[2], MoveDirection::Up).await.unwrap();
        assert_eq!(fixture.order(&db).await, ("ACB".to_owned(), "ACB".to_owned()));
    }

    async fn moves_at_once_lose_nothing_and_double_nothing(db: TestDatabase) {
        let fixture = AssortmentFixture::of(&db, &["A", "B", "C", "D", "E"]).await;
        let mut tasks = Vec::new();
        for round in 0..20 {
            for one in 0..5 {
                let (database, stamp, site) = (db.database.clone(), fixture.stamp(), fixture.site);
                let (category, brand) = (fixture.categories[one], fixture.brands[one]);
                let shift = if (round + one) % 2 == 0 { MoveDirection::Up } else { MoveDirection::Down };
                tasks.push(tokio::spawn(async move {
                    let _: Category = database.shift(stamp, site, category, shift).await.unwrap();
                    let _: Brand = database.shift(stamp, site, brand, shift).await.unwrap();
                }));
            }
        }
        for task in tasks {
            task.await.unwrap();
        }
        let (categories, brands) = fixture.order(&db).await;
        for order in [categories, brands] {
            let mut letters: Vec<char> = order.chars().collect();
            letters.sort_unstable();
            assert_eq!(letters, ['A', 'B', 'C', 'D', 'E'], "{order}");
        }
        let twice = "SELECT count(*) AS value FROM (\
            SELECT application_id, position AS place FROM application_categories GROUP BY 1, 2 HAVING count(*) > 1 \
            UNION ALL SELECT application_id, priority FROM application_brands GROUP BY 1, 2 HAVING count(*) > 1) AS twice";
        assert_eq!(fixtures::number(&db, twice).await, 0, "two records share a place");
    }

    async fn only_records_of_the_project_are_assigned(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let branch = branch(&db, mine).await;
        let site = application(&db, mine, branch, "Site").await;
        let foreign = category(&db, other, "Foreign").await;
        for id in [foreign.id, CategoryId::new(999).unwrap()] {
            let refused = AssortmentRepository::<Category>::assign(&db.database, system(mine), site, id).await;
            assert!(matches!(refused, Err(AssortmentError::Refused(AssortmentRefusal::UnknownRecord))));
        }
        assert_eq!(db.database.owner(site).await.unwrap(), Some(ProjectScoped::new(mine, ())));
        assert_eq!(db.database.owner(ApplicationId::new(999).unwrap()).await.unwrap(), None);
    }
}
