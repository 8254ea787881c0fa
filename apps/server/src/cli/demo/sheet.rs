//! Sheets of the demo's catalog.

use crate::cli::Failure;

const CATALOGUE: &str = include_str!("catalogue.csv");
const STOCK: &str = include_str!("stock.csv");

/// Separator between a category and its subcategory.
pub const CATEGORY_SEPARATOR: &str = " / ";

/// Line of the catalog. Only the name and the fields after the brand may be quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub article: String,
    pub category: String,
    pub brand: String,
    before: String,
    after: String,
}

impl Row {
    fn read(line: &str) -> Option<Self> {
        let kinds = [",goods,", ",service,"];
        let (before, rest, kind) = kinds.iter().find_map(|kind| {
            let (before, rest) = line.split_once(kind)?;
            Some((before, rest, kind))
        })?;
        let (category, rest) = rest.split_once(',')?;
        let (brand, after) = rest.split_once(',')?;
        let (article, _) = before.split_once(',')?;
        let [article, category, brand, after] = [article, category, brand, after].map(str::to_owned);
        Some(Self { article, category, brand, before: format!("{before}{kind}"), after })
    }

    /// Returns the line with other names of the category and the brand.
    pub fn line(&self, category: &str, brand: &str) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        format!("{}{},{},{}\n", self.before, quoted(category), quoted(brand), self.after)
    }
}

/// Returns the lines of the catalog, with pictures from the sandbox.
pub fn catalogue(sandbox_url: &str) -> Result<Vec<Row>, Failure> {
    let pictures = format!("{sandbox_url}/pictures");
    let line = |line: &str| {
        Row::read(&line.replace("{pictures}", &pictures)).ok_or_else(|| format!("catalogue.csv: {line}").into())
    };
    CATALOGUE.lines().skip(1).map(line).collect()
}

/// Returns lines as a catalog with a header row.
pub fn with_heading(lines: &str) -> String {
    format!("{}\n{lines}", CATALOGUE.lines().next().unwrap_or_default())
}

/// Returns article, quantity and price.
pub fn stock() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    STOCK.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        let (article, _warehouse) = (cells.next()?, cells.next()?);
        Some((article, cells.next()?, cells.next()?))
    })
}

/// Returns a path and all its ancestors, from the root down.
pub fn paths(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices(CATEGORY_SEPARATOR).map(|(end, _)| end).chain([path.len()]);
    ends.filter_map(move |end| path.get(..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_sheets_is_read() {
        let rows = catalogue("http://sandbox").unwrap();
        assert_eq!((rows.len(), stock().count()), (30, 26));
        let tea = rows.first().unwrap();
        assert_eq!((tea.category.as_str(), tea.brand.as_str()), ("Tea and coffee / Tea", "Nordkai"));
        assert_eq!(paths(&tea.category).collect::<Vec<_>>(), ["Tea and coffee", "Tea and coffee / Tea"]);
        for (article, quantity, price) in stock() {
            assert!(rows.iter().any(|row| row.article == article), "{article}");
            assert!(quantity.parse::<u32>().is_ok() && price.contains('.'), "{article}");
        }
    }

    #[test]
    fn a_line_takes_the_names_of_today() {
        let row = Row::read("A-1,\"Tea, green\",goods,Tea,Nordkai,pc,20%,,<p>x</p>,y").unwrap();
        let line = row.line("Tea \"leaf\"", "Kai, Nord");
        let expected = "A-1,\"Tea, green\",goods,\"Tea \"\"leaf\"\"\",\"Kai, Nord\",pc,20%,,<p>x</p>,y\n";
        assert_eq!(line, expected);
    }
}
