//! A generated catalog: the same rows every time.

use std::borrow::Cow;
use std::path::Path;

use kontor_adapter_spreadsheet::Spreadsheets;
use kontor_catalog::spreadsheet::Content;
use kontor_catalog::spreadsheet::ports::{SheetFormat, SheetWriters as _};
use rust_xlsxwriter::Workbook;

use crate::Failure;

/// Number of items.
pub const ROWS: usize = 3_694;
/// Name of the only warehouse.
pub const WAREHOUSE: &str = "Main warehouse";

/// Category, and the kind of item in it.
const SHELVES: [(&str, &str); 17] = [
    ("Furniture / Tables", "Table"),
    ("Furniture / Chairs", "Chair"),
    ("Furniture / StorefrontReader", "Shelf"),
    ("Furniture / Beds", "Bed"),
    ("Kitchen / Pots", "Pot"),
    ("Kitchen / Pans", "Pan"),
    ("Kitchen / Knives", "Knife"),
    ("Kitchen / Mugs", "Mug"),
    ("Lighting / Lamps", "Lamp"),
    ("Lighting / Bulbs", "Bulb"),
    ("Textiles / Towels", "Towel"),
    ("Textiles / Curtains", "Curtain"),
    ("Textiles / Blankets", "Blanket"),
    ("Garden / Tools", "Spade"),
    ("Garden / Pots", "Planter"),
    ("Office / Paper", "Notebook"),
    ("Office / Pens", "Pen"),
];
/// Materials in item names.
pub const MATERIALS: [&str; 12] =
    ["oak", "birch", "walnut", "steel", "brass", "copper", "linen", "cotton", "wool", "glass", "ceramic", "leather"];
/// Series in item names.
pub const SERIES: [&str; 14] = [
    "Alster", "Trave", "Weser", "Elbe", "Saale", "Havel", "Spree", "Oder", "Memel", "Newa", "Wolchow", "Dwina",
    "Warthe", "Persante",
];
/// Colours in item names.
pub const COLOURS: [&str; 9] = ["white", "black", "grey", "sand", "olive", "navy", "ochre", "moss", "natural"];
/// Brands of items.
pub const BRANDS: [&str; 11] = [
    "Hanse",
    "Kogge",
    "Speicher",
    "Kontorhaus",
    "Brooks",
    "Lotse",
    "Hafenrand",
    "Deich",
    "Fleet",
    "Windjammer",
    "Boje",
];

/// A pseudo-random sequence that is the same in every run (splitmix64).
pub struct TestRng(u64);

impl TestRng {
    /// Starts the sequence of this seed.
    pub fn new(seed: usize) -> Self {
        Self(u64::try_from(seed).unwrap_or_default())
    }

    /// Returns the next number below the bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        usize::try_from(mixed >> 33).unwrap_or_default() % bound
    }

    /// Returns a pseudo-random word of the list.
    pub fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words.get(self.below(words.len())).copied().unwrap_or_default()
    }
}

fn article(row: usize) -> String {
    format!("K-{row:05}")
}

/// Columns of the item rows.
const HEADER: [&str; 9] = ["article", "name", "kind", "category", "brand", "unit", "price", "description", "photos"];

/// Writes the items.
pub fn write_cards(format: SheetFormat, file: &Path) -> Result<(), Failure> {
    write(format, file, &HEADER, cards(ROWS))
}

/// Writes this many items as csv.
pub fn write_many_cards(rows: usize, file: &Path) -> Result<(), Failure> {
    write(SheetFormat::Csv, file, &HEADER, cards(rows))
}

/// Writes this many items as spreadsheet programs do: with a shared string table.
pub fn write_workbook(rows: usize, file: &Path) -> Result<(), Failure> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet_with_low_memory()?;
    let header = HEADER.iter().map(|title| text(*title)).collect();
    for (number, row) in (0..).zip(std::iter::once(header).chain(cards(rows))) {
        for (column, cell) in (0..).zip(row) {
            match cell {
                Content::Empty => {}
                Content::Number(value) => {
                    sheet.write_number(number, column, value.parse::<f64>()?)?;
                }
                Content::Text(value) => {
                    sheet.write_string(number, column, value)?;
                }
            }
        }
    }
    Ok(book.save(file)?)
}

fn cards(rows: usize) -> impl Iterator<Item = Vec<Content<'static>>> {
    let mut rng = TestRng(3_694);
    (0..rows).map(move |row| {
        let (category, thing) = SHELVES.get(rng.below(SHELVES.len())).copied().unwrap_or_default();
        let (material, series, colour) = (rng.one_of(&MATERIALS), rng.one_of(&SERIES), rng.one_of(&COLOURS));
        let size = 10 + 5 * rng.below(30);
        let article = article(row);
        let description = format!(
            "<p>{thing} of the series {series}: {material}, {colour}, {size} cm. Made to be used every day and to last.</p>"
        );
        let photo = format!("https://pictures.example/{article}.jpg");
        vec![
            text(article),
            text(format!("{thing} {series}, {material}, {colour}, {size} cm")),
            text("goods"),
            text(category),
            text(rng.one_of(&BRANDS)),
            text("pc"),
            Content::Number(format!("{}.{:02}", 90 + rng.below(25_000), rng.below(100))),
            text(description),
            text(photo),
        ]
    })
}

/// Writes the stock: quantities so large that no item sells out.
pub fn write_stock(file: &Path) -> Result<(), Failure> {
    let mut rng = TestRng(17);
    let rows = (0..ROWS).map(|row| {
        let price = format!("{}.{:02}", 100 + rng.below(30_000), rng.below(100));
        vec![text(article(row)), text(WAREHOUSE), Content::Number("10000000".into()), Content::Number(price)]
    });
    write(SheetFormat::Csv, file, &["article", "warehouse", "quantity", "price"], rows)
}

fn text<'a>(text: impl Into<Cow<'a, str>>) -> Content<'a> {
    Content::Text(text.into())
}

fn write<'a>(
    format: SheetFormat,
    file: &Path,
    header: &[&'a str],
    rows: impl Iterator<Item = Vec<Content<'a>>>,
) -> Result<(), Failure> {
    let mut sheet = Spreadsheets::default().open(format)?;
    sheet.row(&header.iter().map(|title| text(*title)).collect::<Vec<_>>())?;
    for row in rows {
        sheet.row(&row)?;
    }
    std::io::copy(&mut sheet.finish()?, &mut std::fs::File::create(file)?)?;
    Ok(())
}
