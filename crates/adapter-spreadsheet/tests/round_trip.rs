//! A catalog that is written to a file and read again is the same.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::HashMap;
use std::io;

use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_catalog::model::{
    BillingPeriod, Card, Gallery, NomenclatureKind, Packaging, PhotoUrl, Reference, ShareLink,
};
use kontor_catalog::spreadsheet::ports::{SheetFormat, SheetWriters};
use kontor_catalog::spreadsheet::{CardLine, CardSheet, CategoryNode, Decision, ItemKey, KnownCard, ReferenceLookup};
use kontor_kernel::{BrandId, CategoryId, Line, Money, Name, NomenclatureId, Prose, Quantity, TagId};
use proptest::prelude::*;
use tempfile::NamedTempFile;

const PIECES: [&str; 20] = [
    "/", " / ", " /", "/ ", "\\", " \\/ ", "\\/", "|", "\\|", " | ", "a", "Ё", "ß", "  ", "1", "'", "=", ";\"",
    "_x0041_", "&lt;",
];

fn name() -> impl Strategy<Value = Name> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 1..7)
        .prop_filter_map("a name", |pieces| Name::parse(&pieces.concat()).ok())
}

fn photo() -> impl Strategy<Value = PhotoUrl> {
    let pieces = ["|", "\\", "||", "x", "https://b", "\\|", "?v=", "&amp;"];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..6)
        .prop_map(|pieces| PhotoUrl::parse(&format!("https://a/{}", pieces.concat())).unwrap())
}

fn prose() -> impl Strategy<Value = Option<Prose>> {
    let pieces = [" ", "\n", "\r\n", "\t", "<b>", "=1", "a", "\"", ";", "'", "_x000D_"];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..6)
        .prop_map(|text| Prose::parse(&text.concat()).ok())
}

/// An item whose category, brand and tags are indexes into a list of six.
fn card() -> impl Strategy<Value = Card> {
    let texts = (name(), prop::option::of(name()), prose(), prose());
    let sale = (0..3_u8, prop::option::of(0..=Money::MAX.minor()), prop::option::of(photo()));
    let place = || prop::option::of(1..=6_i64);
    let places = (place(), place(), prop::collection::btree_set(1..=6_i64, 0..4));
    let rest = (prop::collection::vec(photo(), 0..4), any::<bool>(), 1..9_i64);
    (texts, sale, places, rest).prop_map(
        |(texts, (sort, price, link), (category, brand, tags), (photos, wholesale, pack))| {
            let (name, article, description, characteristics) = texts;
            let kind = if sort == 0 { NomenclatureKind::Goods } else { NomenclatureKind::Service };
            let price = price.or((sort > 0).then_some(0)).map(|minor| Money::from_minor(minor).unwrap());
            Card {
                article: article.and_then(|article| Line::parse(&article).ok()),
                description,
                characteristics,
                price,
                share_link: link.map(|link| ShareLink::parse(link.as_str()).unwrap()),
                subscription: (sort == 2).then(|| BillingPeriod::months(3).unwrap()),
                packaging: Packaging {
                    wholesale,
                    pieces_per_pack: Quantity::new(pack).unwrap(),
                    ..Packaging::default()
                },
                photos: Gallery::new(photos).unwrap(),
                category_id: category.map(|id| CategoryId::new(id).unwrap()),
                brand_id: brand.map(|id| BrandId::new(id).unwrap()),
                tags: tags.into_iter().map(|id| TagId::new(id).unwrap()).collect(),
                ..Card::new(name, kind)
            }
        },
    )
}

/// Category 1 is a root; the parent of each other one is an earlier one, or none. Brands and tags have distinct names.
fn vocabulary() -> impl Strategy<Value = ReferenceLookup> {
    let categories = prop::collection::vec((name(), any::<usize>()), 6);
    (categories, prop::collection::vec(name(), 6)).prop_map(|(categories, names)| {
        let mut words = ReferenceLookup::default();
        for (place, (name, parent)) in categories.into_iter().enumerate() {
            let number = |place: usize| CategoryId::new(i64::try_from(place).unwrap() + 1).unwrap();
            let parent = (parent % (place + 1)).checked_sub(1).map(number);
            words.add_category(CategoryNode { id: number(place), parent, name });
        }
        for (id, name) in (1..).zip(names) {
            let own = Name::parse(&format!("{name}{id}")).unwrap();
            words.add_brand(Reference { id: BrandId::new(id).unwrap(), name: own.clone() });
            words.add_tag(Reference { id: TagId::new(id).unwrap(), name: own });
        }
        words
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_export_that_is_imported_again_changes_nothing(
        words in vocabulary(),
        cards in prop::collection::vec(card(), 1..8),
        format in prop::sample::select(vec![SheetFormat::Csv, SheetFormat::Xlsx]),
    ) {
        let mut known = HashMap::new();
        let mut writer = Spreadsheets::default().open(format).unwrap();
        writer.row(&CardLine::header()).unwrap();
        for (number, mut card) in (1..).zip(cards) {
            let id = NomenclatureId::new(number).unwrap();
            if card.article.clone().is_some_and(|article| known.contains_key(&ItemKey::Article(article))) {
                card.article = None;
            }
            writer.row(&CardLine::new(id, card.clone(), &words).cells()).unwrap();
            let key = card.article.clone().map_or(ItemKey::Id(id), ItemKey::Article);
            known.insert(key, KnownCard { id, card, has_stock: false });
        }
        let mut file = NamedTempFile::new().unwrap();
        io::copy(&mut writer.finish().unwrap(), &mut file).unwrap();
        let sheet = CardSheet::read(&Spreadsheets::default(), file.path(), 1_000).unwrap();
        let decision = Decision::of(&sheet, &words, &known);
        prop_assert!(decision.problems.is_empty(), "{:?}", decision.problems);
        prop_assert_eq!(decision.drafts.len(), known.len());
        let report = decision.preview_report(&words);
        prop_assert_eq!((report.created, report.updated, report.unchanged), (0, 0, known.len()));
    }
}
