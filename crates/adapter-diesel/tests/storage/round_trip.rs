//! For any catalog that the API accepts, importing its export changes nothing.

use std::path::Path;
use std::sync::Arc;

use kontor_adapter_diesel::database_tests;
use kontor_catalog::model::*;
use kontor_catalog::ports::*;
use kontor_catalog::spreadsheet::ports::{ItemSheetRepository, RowSink, SheetReader};
use kontor_catalog::spreadsheet::{CardLine, CardSheet, CategoryPath, Cell, Content, ImportMode, SheetError, SheetRow};
use kontor_kernel::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::catalog::records::{seller, system};
use crate::fixtures;
use crate::import::counts;

/// Parts of names: above all characters with a meaning in paths, lists of tags and lists of photos.
const PIECES: [&str; 17] =
    ["/", " / ", " /", "/ ", "\\", " \\/ ", "\\/", "|", "\\|", " | ", "a", "Ё", "ß", "  ", "1", "'=", ";\""];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..7).prop_map(|pieces| pieces.concat())
}

fn any_name() -> impl Strategy<Value = Name> {
    text().prop_filter_map("a name", |text| Name::parse(&text).ok())
}

fn photo() -> impl Strategy<Value = PhotoUrl> {
    let pieces = ["|", "\\", "||", "x", "https://b", "\\|", "?v=", "Ё"];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..6)
        .prop_map(|pieces| PhotoUrl::parse(&format!("https://a/{}", pieces.concat())).unwrap())
}

fn prose() -> impl Strategy<Value = Option<Prose>> {
    let pieces = [" ", "\n", "\r\n", "\t", "<b>", "=1", "a", "\"", ";"];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..6)
        .prop_map(|text| Prose::parse(&text.concat()).ok())
}

/// An item and the indexes of its category, its brand and its tags.
type Places = (Card, Option<usize>, Option<usize>, Vec<usize>);

fn card() -> impl Strategy<Value = Places> {
    let texts = (any_name(), prop::option::of(any_name()), prose(), prose());
    let sale = (0..3_u8, prop::option::of(0..1_000_000_i64), prop::option::of(photo()));
    let places = (
        prop::option::of(any::<usize>()),
        prop::option::of(any::<usize>()),
        prop::collection::vec(any::<usize>(), 0..4),
    );
    let rest = (prop::collection::vec(photo(), 0..4), any::<bool>(), 1..9_i64);
    (texts, sale, places, rest).prop_map(
        |(texts, (sort, price, link), (category, brand, tags), (photos, wholesale, pack))| {
            let (name, article, description, characteristics) = texts;
            let kind = if sort == 0 { NomenclatureKind::Goods } else { NomenclatureKind::Service };
            let subscription = (sort == 2).then(|| BillingPeriod::months(3).unwrap());
            let price = price.or((sort > 0).then_some(0)).map(|minor| Money::from_minor(minor).unwrap());
            let article = article.and_then(|article| Line::parse(&article).ok());
            let share_link = link.map(|link| ShareLink::parse(link.as_str()).unwrap());
            let packaging =
                Packaging { wholesale, pieces_per_pack: Quantity::new(pack).unwrap(), ..Packaging::default() };
            let photos = Gallery::new(photos).unwrap();
            let card = Card {
                article,
                description,
                characteristics,
                price,
                share_link,
                subscription,
                packaging,
                photos,
                ..Card::new(name, kind)
            };
            (card, category, brand, tags)
        },
    )
}

fn some<T>(runner: &mut TestRunner, strategy: impl Strategy<Value = T>) -> T {
    strategy.new_tree(runner).unwrap().current()
}

/// Cells of an export as read from a file.
struct Rows(Vec<Vec<Cell>>);

impl SheetReader for Rows {
    fn read(&self, _: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        (1..).zip(&self.0).try_for_each(|(number, cells)| sink(SheetRow::new(number, cells.clone())))
    }
}

fn cells(contents: Vec<Content<'_>>) -> Vec<Cell> {
    let text = |content| match content {
        Content::Empty => String::new(),
        Content::Text(text) => text.into_owned(),
        Content::Number(number) => number,
    };
    contents.into_iter().map(|content| Cell::Text(text(content))).collect()
}

database_tests! {
    async fn an_export_of_any_catalogue_that_is_imported_again_changes_nothing(db: TestDatabase) {
        let mut runner = TestRunner::deterministic();
        let database = &db.database;
        for round in 0..12 {
            let project = fixtures::project(&db).await;
            let (mut categories, mut brands, mut tags): (Vec<CategoryId>, Vec<BrandId>, Vec<TagId>) = Default::default();
            for place in 0..12_usize {
                let parent = some(&mut runner, prop::option::of(any::<usize>()));
                let parent_id = parent.filter(|_| !categories.is_empty()).map(|parent| categories[parent % categories.len()]);
                let draft = CategoryDraft { name: some(&mut runner, any_name()), photo: None, parent_id, code: None, description: None };
                categories.push(CategoryRepository::insert(database, system(project), draft).await.unwrap().id);
                if place % 3 == 0 {
                    let draft = BrandDraft { name: some(&mut runner, any_name()), photo: None };
                    brands.extend(RecordRepository::<Brand>::insert(database, system(project), draft).await.map(|brand| brand.id));
                    let draft = TagDraft { name: some(&mut runner, any_name()), photo: None };
                    tags.extend(TagRepository::insert(database, system(project), draft).await.map(|tag| tag.id));
                }
            }
            // One chain that is deeper than a sheet may create.
            for _ in 0..CategoryPath::MAX_DEPTH {
                let draft = CategoryDraft { name: some(&mut runner, any_name()), photo: None, parent_id: categories.last().copied(), code: None, description: None };
                categories.push(CategoryRepository::insert(database, system(project), draft).await.unwrap().id);
            }
            let mut stored = 0_usize;
            for _ in 0..15 {
                let (card, category, brand, marks) = some(&mut runner, card());
                let category_id = category.map(|place| categories[place % categories.len()]);
                let brand_id = brand.map(|place| brands[place % brands.len()]);
                let mut marks: Vec<TagId> = marks.into_iter().map(|place| tags[place % tags.len()]).collect();
                marks.sort_unstable();
                marks.dedup();
                let card = Card { category_id, brand_id, tags: marks, ..card };
                // An article in use is refused.
                stored += usize::from(NomenclatureRepository::insert(database, system(project), card).await.is_ok());
            }
            assert!(stored > 5);

            let export = async || database.lines(project, None, 500).await.unwrap();
            let before: Vec<CardLine> = export().await;
            let rows = std::iter::once(CardLine::header()).chain(before.iter().map(CardLine::cells)).map(cells).collect();
            let sheet = CardSheet::read(&Rows(rows), Path::new(""), 1_000).unwrap();
            let report = ItemSheetRepository::import(database, seller(project), Arc::new(sheet), ImportMode::AllOrNothing).await;
            assert_eq!(counts(&report.unwrap()), [0, 0, stored, 0], "round {round}");
            assert_eq!(export().await, before);
        }
        assert_eq!(fixtures::number(&db, "SELECT max(version) AS value FROM nomenclatures").await, 1);
        assert_eq!(fixtures::number(&db, "SELECT count(*) AS value FROM histories WHERE user_id IS NOT NULL").await, 0);
    }
}
