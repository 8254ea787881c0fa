//! Search results are the same on both databases, and match the rules of the catalog.

use std::collections::BTreeSet;

use kontor_adapter_diesel::database_tests;
use kontor_adapter_diesel::testing::{Kind, TestDatabase};
use kontor_catalog::model::{NearQuery, SearchQuery, SearchText};
use kontor_catalog::ports::NomenclatureRepository;
use kontor_kernel::listing::Sort;
use kontor_kernel::{Line, Listing, Name, NomenclatureId, PageRequest, ProjectId, Stamp};

use crate::fixtures;
use crate::stock_fixture::{Item, StockFixture};

/// Names with articles as shops write them.
const CARDS: [(&str, Option<&str>); 16] = [
    ("Диван Клиппан, 4 места", Some("KLIPPAN-601")),
    ("KLIPPAN sofa cover", Some("702.510.94")),
    ("Ёлка искусственная 1,5 м", Some("EL-15")),
    ("Елочный шар", None),
    ("Bolt M6x40 \"DIN 933\"", Some("AB12")),
    ("Wi-Fi роутер TP-Link", Some("ТР/841-N")),
    ("Стол письменный", Some("СТОЛ 120")),
    ("Письменный стол МИККЕ", Some("120")),
    ("Столешница дубовая", None),
    ("100% хлопок: полотенце", Some("_x_")),
    ("Café crème ÄÖÜ ß", Some("Ø-9")),
    ("NEAR(a b) OR NOT * ^ {col} :", None),
    ("椅子 コーヒー", None),
    ("Краска RAL 9010 белая 0.9 л", Some("RAL-9010-0,9")),
    ("ΟΔΟΣ ΣΑΣ", None),
    ("--- ***", Some("%%")),
];

const QUERIES: [&str; 62] = [
    "диван",
    "ДИВАН клип",
    "клип диван",
    "иван",
    "601",
    "klippan 601",
    "klippan601",
    "KLIPPAN_601",
    "ppan-60",
    "01",
    "klippan",
    "702",
    "70251094",
    "702.510",
    "510 702",
    "ёлка",
    "ЕЛКА",
    "елк",
    "ёЛ",
    "el15",
    "el 15",
    "1,5",
    "1.5 м",
    "15",
    "m6x40",
    "m6",
    "x40",
    "din",
    "\"din 933\"",
    "ab-12",
    "ab12",
    "b12",
    "wifi",
    "wi-fi",
    "fi",
    "tplink",
    "tp link",
    "841n",
    "стол",
    "стол пис",
    "120",
    "столешница",
    "100%",
    "0%",
    "%",
    "_",
    "\\",
    "'",
    "*",
    "OR",
    "near(a",
    "not *",
    "col:",
    "café",
    "äöü",
    "ß",
    "椅子",
    "子",
    "コー",
    "9010 бел",
    "0.9",
    "οδος",
];

fn line(text: &str) -> Line<255> {
    Line::parse(text).unwrap()
}

fn about(query: &str) -> Listing {
    let all = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 100, 100).unwrap());
    Listing { text: Some(line(query)), unsorted: true, ..all }
}

async fn fill(
    db: &TestDatabase,
    stock_fixture: &StockFixture<'_>,
    cards: &[(&'static str, Option<&'static str>)],
) -> Vec<i64> {
    let category = stock_fixture.category("Everything", None).await;
    let mut ids = Vec::new();
    for (name, article) in cards {
        ids.push(stock_fixture.item(Item { article: *article, ..Item::goods(name, category) }).await);
    }
    db.database.rebuild_offers().await.unwrap();
    ids
}

async fn found(db: &TestDatabase, project: ProjectId, query: &str) -> Vec<i64> {
    let page = NomenclatureRepository::list(&db.database, project, about(query)).await.unwrap();
    assert_eq!(page.total, u64::try_from(page.items.len()).unwrap(), "{query}");
    page.items.into_iter().map(|item| item.id.get()).collect()
}

#[expect(clippy::disallowed_methods, reason = "tests are configured by their environment alone")]
fn profile() -> String {
    std::env::var("TEST_POSTGRES_PROFILE").unwrap_or_default()
}

/// Name of an item, queries that find it, and queries that find others.
type Case = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Fills a catalog with the items of the cases and runs all queries. Queries that `may_find` an item are skipped for
/// it.
async fn find_their_items(db: &TestDatabase, cases: &[Case], may_find: impl Fn(&str, &str) -> bool) {
    let stock_fixture = StockFixture::open(db).await;
    let cards: Vec<(&str, Option<&str>)> = cases.iter().map(|(name, ..)| (*name, None)).collect();
    let ids = fill(db, &stock_fixture, &cards).await;
    for ((name, queries, others), id) in cases.iter().zip(&ids) {
        for query in *queries {
            assert!(found(db, stock_fixture.project, query).await.contains(id), "{query} does not find {name}");
        }
        for query in others.iter().filter(|query| !may_find(query, name)) {
            assert!(!found(db, stock_fixture.project, query).await.contains(id), "{query} finds {name}");
        }
    }
}

database_tests! {
    async fn searches_have_an_index_unless_the_server_cannot_have_one(db: TestDatabase) {
        let is_plain = db.kind == Kind::Postgres && profile() == "plain-search";
        assert_eq!(db.database.searches_are_indexed().unwrap(), !is_plain);
    }

    async fn every_query_finds_what_the_catalogue_says(db: TestDatabase) {
        let (stock_fixture, other) = (StockFixture::open(&db).await, StockFixture::open(&db).await);
        let ids = fill(&db, &stock_fixture, &CARDS).await;
        fill(&db, &other, &CARDS).await;
        let mut nothing = 0;
        for query in QUERIES {
            let asked = SearchQuery::of_items(&line(query));
            let text = |(name, article): &(&str, Option<&str>)| {
                SearchText::of(&Name::parse(name).unwrap(), article.map(|article| Line::parse(article).unwrap()).as_ref())
            };
            let found_by = |finds: &dyn Fn(&SearchText) -> bool| -> Vec<i64> {
                CARDS.iter().zip(&ids).filter(|(card, _)| finds(&text(card))).map(|(_, id)| *id).collect()
            };
            let mut expected = found_by(&|text| asked.matches(text));
            if let Some(near) = NearQuery::of(&line(query)).filter(|_| expected.is_empty() && !asked.terms().is_empty()) {
                expected = found_by(&|text| near.typos(text).is_some());
            }
            let mut found = found(&db, stock_fixture.project, query).await;
            found.sort_unstable();
            assert_eq!(found, expected, "{query}");
            nothing += usize::from(expected.is_empty());
        }
        assert!((5..25).contains(&nothing), "{nothing} queries find nothing");
    }

    async fn items_are_found_as_people_look_for_them(db: TestDatabase) {
        // A query without other matches may count as a typo.
        let is_near = |query: &str, name: &str| {
            let text = SearchText::of(&Name::parse(name).unwrap(), None);
            NearQuery::of(&line(query)).is_some_and(|near| near.typos(&text).is_some())
        };
        find_their_items(&db, include!("../../../catalog/src/model/item_search_cases.rs"), is_near).await;
    }

    async fn mistyped_words_find_what_was_meant(db: TestDatabase) {
        find_their_items(&db, include!("../../../catalog/src/model/near_search_cases.rs"), |_, _| false).await;
    }

    async fn several_words_are_compared_whole(db: TestDatabase) {
        const MANY: &str = "альфа бетон ветер гранит домик енот жираф зебра игла кабан лимон масло носок олень пирог рыбак сахар тигр";
        let stock_fixture = StockFixture::open(&db).await;
        let cards = [
            "Mango oak red", "Mangle oak red", "Man bingo oak red", "Стол дубовый белый", "Столб дубовый белый", "Шкаф дубовый", MANY,
        ];
        let ids = fill(&db, &stock_fixture, &cards.map(|name| (name, None))).await;
        let named = |places: &[usize]| places.iter().map(|place| ids[*place]).collect::<Vec<_>>();
        let backwards = MANY.split(' ').rev().collect::<Vec<_>>().join(" ");
        let cases: [(&str, &[usize]); 7] = [
            ("mango oak red", &[0]),
            ("man oak red", &[2, 0, 1]),
            // Each word in either keyboard layout.
            ("cnjk le,jdsq ,tksq", &[3, 4]),
            ("шкаф le,jdsq", &[5]),
            // Items have each of the words, but none has all of them. The second is one typo away from one of these.
            ("cnjk дубовый ьфтпщ", &[]),
            ("mango mangle oak", &[1]),
            // More alternatives than are looked up first.
            (&backwards, &[6]),
        ];
        for (query, places) in cases {
            assert_eq!(found(&db, stock_fixture.project, query).await, named(places), "{query}");
        }
    }

    async fn results_are_ordered_by_relevance(db: TestDatabase) {
        const CASES: &[(&str, &[&str])] = include!("../../../catalog/src/model/ranked_search_cases.rs");
        for (query, names) in CASES {
            let stock_fixture = StockFixture::open(&db).await;
            let cards: Vec<(&'static str, Option<&'static str>)> = names.iter().rev().map(|name| (*name, None)).collect();
            let mut ids = fill(&db, &stock_fixture, &cards).await;
            ids.reverse();
            assert_eq!(found(&db, stock_fixture.project, query).await, ids, "{query}");
        }
    }

    async fn pages_of_a_search_follow_each_other(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let category = stock_fixture.category("Everything", None).await;
        // More than are ranked; of these the last ones are the best.
        for number in 0..320 {
            let name: &'static str = if number < 290 { "Подстольник" } else { "Письменный стол" };
            stock_fixture.item(Item::goods(name, category)).await;
        }
        db.database.rebuild_offers().await.unwrap();
        let mut all = Vec::new();
        for page in 1..=11 {
            let listing = Listing { page: PageRequest::new(page, 30, 100).unwrap(), ..about("стол") };
            let page = NomenclatureRepository::list(&db.database, stock_fixture.project, listing).await.unwrap();
            assert_eq!(page.total, 320);
            all.extend(page.items.into_iter().map(|item| item.id.get()));
        }
        assert!(all[..10].windows(2).all(|pair| pair[0] < pair[1]) && all[10] < all[0], "the best of 300 come first");
        assert!(all[300..].windows(2).all(|pair| pair[0] < pair[1]), "the others by number");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 320);
    }

    async fn customers_are_found_by_the_same_words(db: TestDatabase) {
        let (project, other) = (fixtures::project(&db).await, fixtures::project(&db).await);
        let texts = |place: usize| (CARDS[place].0, format!("79001{place:02}4567"), format!("buyer{place}.north@example.com"));
        for (project, first) in [(project, 900_000), (other, 910_000)] {
            for place in 0..CARDS.len() {
                let (name, phone, email) = texts(place);
                fixtures::run(&db, format!(
                    "INSERT INTO counterparties (id, project_id, is_company, name, phone_1, email, created_at, updated_at) VALUES \
                     ({}, {project}, TRUE, '{}', '{phone}', '{email}', '2026-01-01 00:00:00', '2026-01-01 00:00:00');",
                    first + place, name.replace('\'', "''")
                )).await;
            }
        }
        let database = db.database.clone();
        tokio::task::spawn_blocking(move || database.migrate().unwrap()).await.unwrap();
        let own = ["buyer3.north@example.com", "buyer1", "north", "example.com", "exampl", "79001074567", "0010745", "900 107", "клиппан 79001", "cover north"];
        let mut hits = 0;
        for query in QUERIES.into_iter().chain(own) {
            let asked = SearchQuery::of(&line(query));
            let expected: Vec<i64> = (0..CARDS.len()).filter(|place| {
                let (name, phone, email) = texts(*place);
                asked.matches(&SearchText::of_texts([name, phone.as_str(), email.as_str()]))
            }).map(|place| 900_000 + i64::try_from(place).unwrap()).collect();
            assert_eq!(crate::customers::found(&db, project, query).await, expected, "{query}");
            hits += expected.len();
        }
        assert!(hits > 60, "{hits}");
    }

    async fn texts_are_found_as_people_write_them(db: TestDatabase) {
        const CASES: &[(&str, &str, bool)] = include!("../../../catalog/src/model/search_cases.rs");
        let stock_fixture = StockFixture::open(&db).await;
        let names: BTreeSet<&'static str> = CASES.iter().map(|(_, name, _)| *name).collect();
        let cards: Vec<(&'static str, Option<&'static str>)> = names.into_iter().map(|name| (name, None)).collect();
        let ids = fill(&db, &stock_fixture, &cards).await;
        for (query, name, expected) in CASES {
            let place = cards.iter().position(|(card, _)| card == name).unwrap();
            assert_eq!(found(&db, stock_fixture.project, query).await.contains(&ids[place]), *expected, "`{query}` in `{name}`");
        }
    }

    async fn the_article_comes_first_then_names_that_begin_so_then_the_rest_by_number(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let ids = fill(&db, &stock_fixture, &CARDS).await;
        let named = |places: &[usize]| places.iter().map(|place| ids[*place]).collect::<Vec<_>>();
        let cases: [(&str, &[usize]); 7] = [
            ("120", &[7, 6]), ("klippan-601", &[0]), ("klippan", &[1, 0]), ("стол", &[6, 8, 7]), ("письменный", &[7, 6]),
            ("ab-12", &[4]), ("el15", &[2]),
        ];
        for (query, places) in cases {
            assert_eq!(found(&db, stock_fixture.project, query).await, named(places), "{query}");
        }
        let by_name = Listing { sort: Sort::descending("name"), unsorted: false, ..about("стол") };
        let page = NomenclatureRepository::list(&db.database, stock_fixture.project, by_name).await.unwrap();
        assert_eq!(page.items.iter().map(|item| item.id.get()).collect::<Vec<_>>(), named(&[8, 6, 7]));
    }

    async fn renamed_records_are_found_by_their_new_name_only(db: TestDatabase) {
        let project = fixtures::project(&db).await;
        let card = |name: &str| kontor_catalog::model::Card::new(Name::parse(name).unwrap(), kontor_catalog::model::NomenclatureKind::Goods);
        let stamp = Stamp::of_system(project, chrono::DateTime::UNIX_EPOCH);
        let item = NomenclatureRepository::insert(&db.database, stamp, card("Табурет")).await.unwrap();
        assert_eq!(found(&db, project, "табур").await, [item.id.get()]);
        NomenclatureRepository::replace(&db.database, stamp, item.clone(), card("Кресло")).await.unwrap();
        assert_eq!(found(&db, project, "табур").await, [0_i64; 0]);
        assert_eq!(found(&db, project, "кресл").await, [item.id.get()]);
        assert_eq!(NomenclatureId::new(found(&db, project, "КРЕСЛО").await[0]).unwrap(), item.id);
    }

    async fn search_texts_that_are_missing_are_filled_in_by_migrating(db: TestDatabase) {
        let stock_fixture = StockFixture::open(&db).await;
        let category = stock_fixture.category("Everything", None).await;
        let mug = stock_fixture.item(Item { article: Some("M-1"), ..Item::goods("Кружка", category) }).await;
        assert_eq!(found(&db, stock_fixture.project, "руж").await, [0_i64; 0]);
        let database = db.database.clone();
        tokio::task::spawn_blocking(move || database.migrate().unwrap()).await.unwrap();
        for query in ["руж", "m1"] {
            assert_eq!(found(&db, stock_fixture.project, query).await, [mug], "{query}");
        }
    }
}
