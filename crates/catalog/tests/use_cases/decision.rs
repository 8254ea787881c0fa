//! Changes by an import of items, given the existing records.

use std::collections::HashMap;
use std::path::Path;

use kontor_catalog::model::*;
use kontor_catalog::spreadsheet::ports::{RowSink, SheetReader};
use kontor_catalog::spreadsheet::{
    CardSheet, CategoryNode, Cell, Decision, ItemKey, KnownCard, ReferenceLookup, SheetError, SheetRow,
};
use kontor_kernel::*;

use crate::name;

/// Sheet with one line per row, cells separated by `;`.
pub struct Grid(pub &'static str);

impl SheetReader for Grid {
    fn read(&self, _: &Path, sink: &mut RowSink<'_>) -> Result<(), SheetError> {
        (1..).zip(self.0.lines()).try_for_each(|(number, line)| {
            let cells = line.split(';').map(|text| Cell::Text(text.to_owned())).collect();
            sink(SheetRow::new(number, cells))
        })
    }
}

fn words() -> ReferenceLookup {
    let mut words = ReferenceLookup::default();
    let id = |number| CategoryId::new(number).unwrap();
    words.add_category(CategoryNode { id: id(1), parent: None, name: name("Kitchen") });
    words.add_category(CategoryNode { id: id(2), parent: Some(id(1)), name: name("Mugs") });
    words.add_category(CategoryNode { id: id(3), parent: Some(id(1)), name: name("MUGS") });
    words.add_brand(Reference { id: BrandId::new(1).unwrap(), name: name("Nord") });
    words.add_country(Reference { id: CountryId::new(1).unwrap(), name: name("Norway") });
    words
}

fn mug(has_stock: bool) -> HashMap<ItemKey, KnownCard> {
    let article: Line<100> = Line::parse("M").unwrap();
    let card = Card {
        article: Some(article.clone()),
        category_id: CategoryId::new(3).ok(),
        ..Card::new(name("Mug"), NomenclatureKind::Goods)
    };
    HashMap::from([(ItemKey::Article(article), KnownCard { id: NomenclatureId::new(1).unwrap(), card, has_stock })])
}

fn decided(text: &'static str, known: &HashMap<ItemKey, KnownCard>) -> Decision {
    Decision::of(&CardSheet::read(&Grid(text), Path::new(""), 100).unwrap(), &words(), known)
}

fn wrong(text: &'static str, known: &HashMap<ItemKey, KnownCard>) -> Vec<(u32, &'static str)> {
    decided(text, known).problems.kept().iter().map(|problem| (problem.row, problem.column)).collect()
}

#[test]
fn a_row_makes_changes_or_leaves_an_item() {
    let known = mug(false);
    let text = "article;name;brand\nM;Mug;\nN;New;Nord\n";
    let report = decided(text, &known).preview_report(&words());
    assert_eq!((report.created, report.updated, report.unchanged, report.skipped), (1, 0, 1, 0));
    let report = decided("article;name;brand\nM;Cup;\n", &known).preview_report(&words());
    assert_eq!((report.created, report.updated, report.unchanged), (0, 1, 0));
    let report = decided("article;brand\nM;South\n", &known).preview_report(&words());
    assert_eq!((report.created, report.updated, report.unchanged), (0, 1, 0), "a brand that has to be made");
}

#[test]
fn every_reason_against_a_row_is_named() {
    let none = HashMap::new();
    assert_eq!(wrong("article;name\nN;\n", &none), [(2, "name")]);
    assert_eq!(wrong("article;name;country\nN;New;Nowhere\n", &none), [(2, "country")]);
    assert_eq!(wrong("article;name;kind\nN;New;service\n", &none), [(2, "price")]);
    assert_eq!(wrong("article;name;price;is_subscription\nN;New;1;1\n", &none), [(2, "billing_period_months")]);
    assert_eq!(wrong("article;kontor_id;name\n;5;New\n", &none), [(2, "kontor_id")]);
    for foreign in ["id;article;name\n5;;New\n", "Номер;article;name\n5;;New\n", "№;article;name\n5;;New\n"] {
        assert_eq!(wrong(foreign, &none), [(2, "article")], "{foreign}");
    }
    assert_eq!(wrong("article;name;category\nN;New;Kitchen / Mugs\n", &none), [(2, "category")], "two have this path");
    assert_eq!(wrong("article;kind;price\nM;service;1\n", &mug(true)), [(2, "kind")]);
    assert_eq!(wrong("article;kind;price\nM;service;1\n", &mug(false)), []);
}

#[test]
fn a_path_that_several_have_keeps_the_item_where_it_is() {
    let report = decided("article;category\nM;Kitchen / mugs\n", &mug(false)).preview_report(&words());
    assert_eq!((report.unchanged, report.problems.total()), (1, 0));
}

#[test]
fn an_item_stays_below_the_second_of_two_that_share_a_name() {
    let (mut words, id) = (words(), |number| CategoryId::new(number).unwrap());
    words.add_category(CategoryNode { id: id(4), parent: None, name: name("Kitchen") });
    words.add_category(CategoryNode { id: id(5), parent: Some(id(4)), name: name("Plates") });
    let mut known = mug(false);
    for known in known.values_mut() {
        known.card.category_id = Some(id(5));
    }
    let sheet = CardSheet::read(&Grid("article;category\nM;Kitchen / Plates\n"), Path::new(""), 100).unwrap();
    let report = Decision::of(&sheet, &words, &known).preview_report(&words);
    assert_eq!((report.unchanged, report.problems.total()), (1, 0), "the first Kitchen has no plates");
}

#[test]
fn no_path_deeper_than_twenty_is_made() {
    let deep: &'static str = "article;name;category\nN;New;a / a / a / a / a / a / a / a / a / a / a / a / a / a / a / a / a / a / a / a / a\n";
    assert_eq!(wrong(deep, &HashMap::new()), [(2, "category")]);
}
