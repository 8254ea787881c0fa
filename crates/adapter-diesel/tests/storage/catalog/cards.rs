//! Goods, services and subscription plans.

use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::{CardReference, NomenclatureError, NomenclatureRefusal, NomenclatureService};
use kontor_kernel::history::{Author, Histories, HistoryAction, HistoryEntry};
use kontor_kernel::listing::Sort;
use kontor_kernel::*;

use super::records::*;
use crate::fixtures;

async fn listed(db: &TestDatabase, project: ProjectId, listing: Listing) -> Vec<String> {
    let page = NomenclatureRepository::list(&db.database, project, listing).await.unwrap();
    assert_eq!(usize::try_from(page.total).unwrap(), page.items.len());
    page.items.into_iter().map(|item| item.card.name.into()).collect()
}

fn searching(text: &str) -> Listing {
    Listing { text: Some(Line::parse(text).unwrap()), unsorted: true, ..everything() }
}

fn photos(urls: &[&str]) -> Gallery {
    Gallery::new(urls.iter().map(|url| PhotoUrl::parse(url).unwrap()).collect()).unwrap()
}

async fn history(db: &TestDatabase, project: ProjectId, item: NomenclatureId) -> Vec<HistoryEntry> {
    let all =
        Histories::page(&db.database, project, Resource::Nomenclatures.name(), item.get(), page(1, 100)).await.unwrap();
    all.items
}

/// An employee of the project.
async fn user(db: &TestDatabase, project: ProjectId) -> UserId {
    const AT: &str = "'2026-01-01 00:00:00'";
    let role = format!(
        "INSERT INTO roles (id, project_id, name, is_owner, created_at, updated_at) VALUES (1, {project}, 'R', false, {AT}, {AT})"
    );
    execute(db, role).await;
    let user = format!(
        "INSERT INTO users (id, project_id, role_id, login, email, password_hash, first_name, last_name, is_banned, \
         is_sick, active_seconds, created_at, updated_at) VALUES (1, {project}, 1, 'anna', 'a@example.com', 'none', \
         'Anna', 'Kern', false, false, 0, {AT}, {AT})"
    );
    execute(db, user).await;
    UserId::new(1).unwrap()
}

database_tests! {
    async fn a_full_card_comes_back_with_its_labels(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (category, brand) = (category(&db, project, "Чай").await, brand(&db, project, "Слон").await);
        for (tag, title) in [(1, "Новинка"), (2, "Хит")] {
            execute(&db, format!("INSERT INTO tags (id, project_id, name, created_at) \
                VALUES ({tag}, {project}, '{title}', '2026-01-01 00:00:00')")).await;
        }
        let card = Card {
            article: Some(Line::parse("ЧАЙ-1").unwrap()),
            type_id: Some(NomenclatureTypeId::new(1).unwrap()),
            category_id: Some(category.id),
            brand_id: Some(brand.id),
            country_id: Some(CountryId::new(8).unwrap()),
            storage_unit_id: Some(StorageUnitId::new(2).unwrap()),
            vat_id: Some(VatId::new(3).unwrap()),
            price: Some("265.00".parse().unwrap()),
            description: Some(Prose::parse("<p>Листовой</p>").unwrap()),
            characteristics: Some(Prose::parse("<ul><li>100 г</li></ul>").unwrap()),
            packaging: Packaging { wholesale: true, pieces_per_pack: Quantity::new(12).unwrap(), quantity_pack: Quantity::new(4).unwrap() },
            photos: photos(&["https://cdn.example/2.jpg", "https://cdn.example/1.jpg"]),
            tags: vec![TagId::new(2).unwrap(), TagId::new(1).unwrap(), TagId::new(2).unwrap()],
            ..goods("Чай")
        };
        let stored = item(&db, project, card.clone()).await;
        let tags = vec![TagId::new(1).unwrap(), TagId::new(2).unwrap()];
        assert_eq!(stored.card, Card { tags, ..card });
        let labels = &stored.labels;
        assert_eq!(labels.kind.as_str(), "Goods");
        assert_eq!(labels.nomenclature_type.as_ref().unwrap().name.as_str(), "Merchandise");
        assert_eq!(labels.category.as_ref().unwrap().name.as_str(), "Чай");
        assert_eq!(labels.brand.as_ref().unwrap().name.as_str(), "Слон");
        assert_eq!(labels.country.as_ref().unwrap().name.as_str(), "India");
        assert_eq!(labels.storage_unit.as_ref().unwrap().abbreviation.as_str(), "kg");
        assert_eq!(labels.vat.as_ref().unwrap().name.as_str(), "10%");
        assert_eq!(labels.tags[1].name.as_str(), "Хит");
        assert_eq!(NomenclatureRepository::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(project, stored)));
        let plan = Card {
            subscription: Some(BillingPeriod::months(36).unwrap()),
            ..Card::new(name("Клуб"), NomenclatureKind::Service)
        };
        assert_eq!(item(&db, project, plan.clone()).await.card, plan);
    }

    async fn every_unknown_reference_is_named(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let card = Card {
            type_id: Some(NomenclatureTypeId::new(999).unwrap()),
            category_id: Some(category(&db, other, "Foreign").await.id),
            brand_id: Some(brand(&db, other, "Foreign").await.id),
            country_id: Some(CountryId::new(999).unwrap()),
            storage_unit_id: Some(StorageUnitId::new(999).unwrap()),
            vat_id: Some(VatId::new(999).unwrap()),
            tags: vec![TagId::new(999).unwrap()],
            ..goods("A")
        };
        let refused = NomenclatureRepository::insert(&db.database, Stamp::of_system(mine, NOON), card).await.unwrap_err();
        let expected = [
            CardReference::Type, CardReference::Category, CardReference::Brand, CardReference::Country,
            CardReference::StorageUnit, CardReference::Vat, CardReference::Tag(0),
        ];
        assert!(matches!(refused, NomenclatureError::Refused(NomenclatureRefusal::UnknownReferences(all)) if all == expected));
        assert!(listed(&db, mine, everything()).await.is_empty());
    }

    async fn an_article_is_unique_in_its_project(db: TestDatabase) {
        let (mine, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let card = Card { article: Some(Line::parse("A-1").unwrap()), ..goods("A") };
        item(&db, mine, card.clone()).await;
        item(&db, other, card.clone()).await;
        let refused = NomenclatureRepository::insert(&db.database, Stamp::of_system(mine, NOON), card.clone()).await;
        assert!(matches!(refused, Err(NomenclatureError::Refused(NomenclatureRefusal::ArticleTaken))));
        let second = item(&db, mine, goods("B")).await;
        let refused = NomenclatureRepository::replace(&db.database, Stamp::of_system(mine, NOON), second, card).await;
        assert!(matches!(refused, Err(NomenclatureError::Refused(NomenclatureRefusal::ArticleTaken))));
    }

    async fn a_card_is_replaced_once_per_version(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let stored = item(&db, project, Card { photos: photos(&["https://a/1", "https://a/2"]), ..goods("A") }).await;
        let next = Card { photos: photos(&["https://a/3"]), ..goods("B") };
        let replaced =
            NomenclatureRepository::replace(&db.database, Stamp::of_system(project, NOON), stored.clone(), next.clone()).await;
        let replaced = replaced.unwrap();
        assert_eq!((&replaced.card, replaced.version), (&next, stored.version + 1));
        let late = NomenclatureRepository::replace(&db.database, Stamp::of_system(project, NOON), stored.clone(), goods("C")).await;
        assert!(matches!(late, Err(NomenclatureError::Refused(NomenclatureRefusal::Stale))));
        assert_eq!(NomenclatureRepository::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(project, replaced)));
    }

    async fn changes_of_one_card_at_once_are_all_kept(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let stored = item(&db, project, goods("A")).await;
        let clock = Arc::new(FixedClock::at(NOON));
        let store = Arc::new(db.database.clone());
        let service = Arc::new(NomenclatureService { nomenclatures: store.clone(), histories: store, clock });
        let staff = Staff {
            project_id: project,
            user_id: user(&db, project).await,
            token_id: TokenId::new(1).unwrap(),
            is_agent: false,
            permissions: [Permission::edit(Resource::Nomenclatures)].into(),
        };
        let changes = [
            CardChange { name: Edit::Set(name("B")), ..CardChange::default() },
            CardChange { price: Edit::Set(Money::MAX), ..CardChange::default() },
            CardChange { wholesale: Edit::Set(true), ..CardChange::default() },
            CardChange { article: Edit::Set(Some(Line::parse("A-1").unwrap())), ..CardChange::default() },
        ];
        let tasks: Vec<_> = changes.into_iter().map(|change| {
            let (service, staff, id) = (Arc::clone(&service), staff.clone(), stored.id);
            tokio::spawn(async move { service.update(&staff, id, change).await })
        }).collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let card = NomenclatureRepository::find(&db.database, stored.id).await.unwrap().unwrap().within(project).unwrap().card;
        assert_eq!((card.name.as_str(), card.price, card.packaging.wholesale), ("B", Some(Money::MAX), true));
        assert_eq!(card.article.as_deref(), Some("A-1"));
        let reported = history(&db, project, stored.id).await;
        let mut fields: Vec<&str> = reported[..4].iter().flat_map(|line| &line.changes).map(|change| change.field.as_str()).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["article", "name", "parameters.wholesale", "price"], "one line for each, and nothing twice");
        assert!(reported[..4].iter().all(|line| line.author == Author::User(staff.user_id)));
        assert_eq!((reported.len(), reported[4].action), (5, HistoryAction::Created));
    }

    async fn refused_lines_are_not_stored(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let stored = item(&db, project, Card { article: Some(Line::parse("A-1").unwrap()), ..goods("A") }).await;
        let second = item(&db, project, goods("B")).await;
        let stamp = Stamp::of_system(project, NOON);
        NomenclatureRepository::replace(&db.database, stamp, second.clone(), stored.card.clone()).await.unwrap_err();
        NomenclatureRepository::replace(&db.database, stamp, second.clone(), second.card.clone()).await.unwrap();
        let late = NomenclatureRepository::replace(&db.database, stamp, second.clone(), goods("C")).await;
        assert!(matches!(late, Err(NomenclatureError::Refused(NomenclatureRefusal::Stale))));
        assert_eq!(history(&db, project, second.id).await.len(), 1);
    }

    async fn an_item_with_stock_stays_goods(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let stored = item(&db, project, goods("A")).await;
        stock(&db, project, stored.id, 0).await;
        let service = Card::new(name("A"), NomenclatureKind::Service);
        let refused =
            NomenclatureRepository::replace(&db.database, Stamp::of_system(project, NOON), stored.clone(), service).await;
        assert!(matches!(refused, Err(NomenclatureError::Refused(NomenclatureRefusal::Stocked))));
        assert_eq!(NomenclatureRepository::find(&db.database, stored.id).await.unwrap(), Some(ProjectScoped::new(project, stored)));
    }

    async fn a_search_ignores_case_and_knows_no_wildcards(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        item(&db, project, Card { article: Some(Line::parse("Ж-100%").unwrap()), ..goods("Ёлка зелёная") }).await;
        item(&db, project, Card { article: Some(Line::parse("x_1").unwrap()), ..goods("Чайник") }).await;
        item(&db, project, goods("Ёж \\ MUG")).await;
        for (text, found) in [
            ("ЁЛКА", vec!["Ёлка зелёная"]),
            ("ё", vec!["Ёж \\ MUG", "Ёлка зелёная"]),
            ("ж-100%", vec!["Ёлка зелёная"]),
            ("Ж 100", vec!["Ёлка зелёная"]),
            ("X1", vec!["Чайник"]),
            ("%", vec![]),
            ("_", vec![]),
            ("\\", vec![]),
            ("mug", vec!["Ёж \\ MUG"]),
            ("абракадабра", vec![]),
        ] {
            assert_eq!(listed(&db, project, searching(text)).await, found, "{text}");
        }
    }

    async fn a_list_is_filtered_sorted_and_cut_into_pages(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let (tea, brand) = (category(&db, project, "Tea").await.id, brand(&db, project, "Elephant").await.id);
        item(&db, project, Card { category_id: Some(tea), price: Some("3".parse().unwrap()), ..goods("b") }).await;
        item(&db, project, Card { brand_id: Some(brand), price: Some("1".parse().unwrap()), ..goods("C") }).await;
        item(&db, project, Card { price: Some("2".parse().unwrap()), ..Card::new(name("a"), NomenclatureKind::Service) }).await;
        let all = everything();
        for (listing, expected) in [
            (all.clone(), vec!["b", "C", "a"]),
            (all.clone().among("category_id", [tea.get()]), vec!["b"]),
            (all.clone().among("brand_id", [brand.get()]), vec!["C"]),
            (all.clone().among("kind_id", [NomenclatureKind::Service.id()]), vec!["a"]),
            (since(NOON), vec!["b", "C", "a"]),
            (since(NOON + chrono::TimeDelta::days(1)), vec![]),
            (before(NOON), vec![]),
            (sorted(Sort::descending("id")), vec!["a", "C", "b"]),
            (sorted(Sort::ascending("name")), vec!["a", "b", "C"]),
            (sorted(Sort::descending("price")), vec!["b", "a", "C"]),
            (sorted(Sort::descending("created_at")), vec!["a", "C", "b"]),
            (sorted(Sort::ascending("updated_at")), vec!["b", "C", "a"]),
        ] {
            assert_eq!(listed(&db, project, listing.clone()).await, expected, "{listing:?}");
        }
        let second = NomenclatureRepository::list(&db.database, project, Listing { page: page(2, 2), ..all.clone() }).await.unwrap();
        assert_eq!((second.total, second.items.len(), second.items[0].card.name.as_str()), (3, 1, "a"));
        let beyond = NomenclatureRepository::list(&db.database, project, Listing { page: page(9, 2), ..all.clone() }).await.unwrap();
        assert_eq!((beyond.total, beyond.items.len()), (3, 0));
        assert!(listed(&db, fixtures::project(&db).await, all).await.is_empty());
    }

    async fn a_page_costs_the_same_statements_with_any_content(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let mut costs = Vec::new();
        for count in [1, 30] {
            for number in 0..count {
                let photos = photos(&["https://a/1", "https://a/2"]);
                item(&db, project, Card { photos, ..goods(&format!("{count}-{number}")) }).await;
            }
            let before = db.statements();
            listed(&db, project, everything()).await;
            costs.push(db.statements() - before);
        }
        assert_eq!(costs[0], costs[1]);
        assert!(costs[0] <= 8, "{costs:?}");
    }
}
