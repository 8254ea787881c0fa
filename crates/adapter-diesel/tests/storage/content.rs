//! Content shown by an application: number of statements, and the order of slides.

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::testing::TestDatabase;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_catalog::model::{SearchQuery, SearchText};
use kontor_content::model::{
    Block, BlockDraft, MenuItem, MenuItemDraft, Node, Page, PageDraft, PageFilter, PageOrder, PartCode, PlaceDraft,
    Slide, SlideContent, Slug, TagName, TagNames,
};
use kontor_content::ports::{BlockKey, PageReader, PartOrder, PartReader, PartRepository};
use kontor_kernel::listing::Sort;
use kontor_kernel::{
    AppScope, ApplicationId, BlockTypeId, Line, ListedRepository, Listing, MoveDirection, Name, PageRequest, Period,
    ProjectId, RecordRepository, Stamp,
};

use crate::auth::people;
use crate::fixtures;

const AT: DateTime<Utc> = DateTime::UNIX_EPOCH;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

async fn app(db: &TestDatabase) -> AppScope {
    people(db).await;
    let project = fixtures::number(db, "SELECT project_id AS value FROM applications WHERE id = 1").await;
    AppScope {
        project_id: ProjectId::new(project).unwrap(),
        application_id: ApplicationId::new(1).unwrap(),
        wholesale: false,
    }
}

async fn item(database: &Database, app: AppScope, text: &str, parent: Option<&MenuItem>) -> MenuItem {
    let place = PlaceDraft { parent_id: parent.map(|item| item.id), code: None, slug: Some(slug(text)) };
    let draft = MenuItemDraft { place, name: name(text), avatar: None, preview: None };
    let stamp = Stamp::of_system(app.project_id, AT);
    PartRepository::<MenuItem>::insert(database, stamp, app.application_id, draft).await.unwrap()
}

async fn block(database: &Database, app: AppScope, code: i64, parent: Option<&Block>) -> Block {
    let place = PlaceDraft {
        parent_id: parent.map(|block| block.id),
        code: Some(PartCode::new(code).unwrap()),
        slug: Some(slug(&format!("block-{code}"))),
    };
    let draft = BlockDraft {
        place,
        name: name("Block"),
        avatar: None,
        block_type_id: BlockTypeId::new(1).unwrap(),
        link: None,
        file: None,
        text: None,
    };
    let stamp = Stamp::of_system(app.project_id, AT);
    PartRepository::<Block>::insert(database, stamp, app.application_id, draft).await.unwrap()
}

fn page(title: &str, tags: &[&str]) -> PageDraft {
    let tags = tags.iter().map(|tag| TagName::parse(tag).unwrap()).collect();
    PageDraft {
        slug: None,
        title: name(title),
        description: None,
        preview: None,
        html: None,
        page_type_id: None,
        tags: TagNames::new(tags).unwrap(),
        is_active: true,
        is_fallback: false,
    }
}

fn all<T>(node: &Node<T>) -> usize {
    1 + node.children.iter().map(all).sum::<usize>()
}

database_tests! {
    async fn a_menu_takes_one_statement_with_many_items_as_with_one(db: TestDatabase) {
        let (app, database) = (app(&db).await, &db.database);
        let top = item(database, app, "navpanel", None).await;
        item(database, app, "footer", None).await;
        let mut read = Vec::new();
        for round in 0..2 {
            let before = database.statements();
            let menu = PartReader::menu(database, app, slug("navpanel")).await.unwrap().unwrap();
            read.push((all(&menu.root), database.statements() - before));
            if round == 0 {
                for number in 0..7 {
                    let below = item(database, app, &format!("item-{number}"), Some(&top)).await;
                    for leaf in 0..7 {
                        item(database, app, &format!("item-{number}-{leaf}"), Some(&below)).await;
                    }
                }
            }
        }
        assert_eq!(read, [(1, 1), (57, 1)]);
        let menu = PartReader::menu(database, app, slug("item-3")).await.unwrap().unwrap();
        let below: Vec<&str> = menu.root.children.iter().map(|node| node.record.slug.as_str()).collect();
        assert_eq!(below, (0..7).map(|leaf| format!("item-3-{leaf}")).collect::<Vec<_>>());
        assert_eq!(menu.root.record.slug, slug("item-3"));
        assert_eq!(PartReader::menu(database, app, slug("absent")).await.unwrap(), None);
        let outsider = AppScope { application_id: ApplicationId::new(2).unwrap(), ..app };
        assert_eq!(PartReader::menu(database, outsider, slug("navpanel")).await.unwrap(), None);
    }

    async fn a_block_takes_one_statement_with_all_below_it(db: TestDatabase) {
        let (app, database) = (app(&db).await, &db.database);
        let top = block(database, app, 100, None).await;
        block(database, app, 500, None).await;
        // The order is that of the codes, not of the ids.
        for code in (101..=140).rev() {
            block(database, app, code, Some(&top)).await;
        }
        let keys = || [BlockKey::Code(PartCode::new(100).unwrap()), BlockKey::Identifier(slug("block-100"))];
        for key in keys() {
            let before = database.statements();
            let read = PartReader::block(database, app, key).await.unwrap().unwrap();
            assert_eq!(database.statements() - before, 1);
            let codes: Vec<i64> = read.children.iter().map(|node| node.record.place.code.get()).collect();
            assert_eq!((all(&read), codes), (41, (101..=140).collect()));
        }
    }

    async fn a_page_takes_as_many_statements_as_its_fallback(db: TestDatabase) {
        let (app, database) = (app(&db).await, &db.database);
        let stamp = || Stamp::of_system(app.project_id, AT);
        for title in ["News", "Terms"] {
            RecordRepository::<Page>::insert(database, stamp(), page(title, &["Late", "Early"])).await.unwrap();
        }
        let instead = PageDraft { is_fallback: true, ..page("Instead", &[]) };
        RecordRepository::<Page>::insert(database, stamp(), instead).await.unwrap();
        let mut read = Vec::new();
        for asked in [Some("news"), Some("absent"), None] {
            let before = database.statements();
            let page = PageReader::find(database, app.project_id, asked.map(slug)).await.unwrap().unwrap();
            let tags: Vec<String> = page.tags.iter().map(|tag| tag.name.as_str().to_owned()).collect();
            read.push((page.content.slug.to_string(), tags.join(" "), database.statements() - before));
        }
        // Two readers, and both ends of the time of reading.
        let reported = |slug: &str, tags: &str| (slug.to_owned(), tags.to_owned(), read[0].2);
        assert_eq!(read, [reported("news", "Late Early"), reported("instead", ""), reported("instead", "")]);
        assert!(read[0].2 <= 4, "{read:?}");
    }

    async fn slides_that_change_places_get_versions_and_others_keep_theirs(db: TestDatabase) {
        let (app, database) = (app(&db).await, &db.database);
        let stamp = Stamp::of_system(app.project_id, AT);
        let mut slides = Vec::new();
        for title in ["A", "B", "C"] {
            let content = SlideContent {
                title: name(title),
                description: None,
                photo: None,
                link: None,
                is_active: true,
                period: Period::default(),
            };
            slides.push(PartRepository::<Slide>::insert(database, stamp, app.application_id, content).await.unwrap());
        }
        assert_eq!(slides.iter().map(|slide| slide.position).collect::<Vec<_>>(), [1, 2, 3]);
        let (site, second) = (app.application_id, slides[1].id);
        let up = PartOrder::<Slide>::shift(database, stamp, site, second, MoveDirection::Up).await.unwrap();
        assert_eq!((up.position, up.version), (1, 2));
        let listing = || Listing::unfiltered(Sort::ascending("position"), PageRequest::new(1, 10, 100).unwrap());
        let page = PartRepository::<Slide>::page(database, app.project_id, site, listing()).await.unwrap();
        let seen: Vec<_> = page.items.iter().map(|slide| (slide.content.title.as_str(), slide.version)).collect();
        assert_eq!(seen, [("B", 2), ("A", 2), ("C", 1)]);
        let outsider = ProjectId::new(app.project_id.get() + 1).unwrap();
        let page = PartRepository::<Slide>::page(database, outsider, site, listing()).await.unwrap();
        assert_eq!(page.total, 0);
        let elsewhere = ApplicationId::new(2).unwrap();
        let moved = PartOrder::<Slide>::shift(database, stamp, elsewhere, second, MoveDirection::Down).await;
        assert!(moved.is_err());
    }

    async fn a_list_of_pages_takes_as_many_statements_with_many_as_with_one(db: TestDatabase) {
        let (app, database) = (app(&db).await, &db.database);
        let mut read = Vec::new();
        for count in [1, 40] {
            for number in 0..count {
                let draft = page(&format!("Page {count} {number}"), &["A", "B"]);
                RecordRepository::<Page>::insert(database, Stamp::of_system(app.project_id, AT), draft).await.unwrap();
            }
            let request = PageRequest::new(1, 50, 100).unwrap();
            let before = database.statements();
            let pages =
                PageReader::list(database, app.project_id, PageFilter::default(), PageOrder::DateDesc, request).await;
            read.push((pages.unwrap().items.len(), database.statements() - before));
        }
        assert_eq!(read, [(1, read[0].1), (41, read[0].1)]);
        assert!(read[0].1 <= 6, "{read:?}");
    }

    async fn pages_are_found_by_what_the_catalogue_says(db: TestDatabase) {
        const WORDS: [&str; 8] = ["стол", "столешница", "дуб", "x5", "klippan-601", "wi-fi", "4", "письменный"];
        let (app, database) = (app(&db).await, &db.database);
        let mut pages = Vec::new();
        for first in WORDS {
            for second in WORDS {
                let title = format!("{first} {second}");
                let stamp = Stamp::of_system(app.project_id, AT);
                let kept = RecordRepository::<Page>::insert(database, stamp, page(&title, &[])).await.unwrap();
                pages.push((kept.id, SearchText::of_texts([title.as_str()])));
            }
        }
        let mut hits = 0;
        for word in WORDS {
            let letters: Vec<char> = word.chars().collect();
            let ends = (1..=letters.len()).flat_map(|to| (0..to).map(move |from| from..to));
            for query in ends.map(|part| letters[part].iter().collect::<String>()) {
                for query in [query.clone(), format!("{query} сто"), format!("б {query}")] {
                    let text = Line::parse(&query).unwrap();
                    let asked = SearchQuery::of(&text);
                    let all = Listing::unfiltered(Sort::ascending("id"), PageRequest::new(1, 100, 100).unwrap());
                    let listing = Listing { text: Some(text), ..all };
                    let found = ListedRepository::<Page>::page(database, app.project_id, listing).await.unwrap();
                    let expected = pages.iter().filter(|(_, text)| asked.matches(text)).map(|(id, _)| *id).collect::<Vec<_>>();
                    assert_eq!(found.items.iter().map(|page| page.id).collect::<Vec<_>>(), expected, "{query}");
                    hits += usize::from(!expected.is_empty());
                }
            }
        }
        assert!(hits > 200, "{hits} queries find something");
    }
}
