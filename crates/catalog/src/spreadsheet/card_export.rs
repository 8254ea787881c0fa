use std::fs::File;

use kontor_kernel::{Line, NomenclatureId};

use super::columns::Column;
use super::ports::{SheetFailed, SheetWriter};
use super::{CardColumn, CardLine};

/// A text that no cell of the file takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {column} of item {item}{} has {length} characters and a cell takes {most}; csv takes it", with(.article.as_ref()))]
pub struct LongText {
    /// The number of the item.
    pub item: NomenclatureId,
    /// Its article.
    pub article: Option<Line<100>>,
    /// The name of the column.
    pub column: &'static str,
    /// How long the text is, as the format counts.
    pub length: usize,
    /// The longest text of a cell.
    pub most: usize,
}

fn with(article: Option<&Line<100>>) -> String {
    article.map(|article| format!(" ({article})")).unwrap_or_default()
}

/// Why an export is refused.
#[derive(Debug, thiserror::Error)]
pub enum ExportFailed {
    /// These texts fit into no cell; of very many the first.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    LongTexts(Vec<LongText>),
    /// The file cannot be written.
    #[error(transparent)]
    Sheet(#[from] SheetFailed),
}

/// An export that is being written: a file of all items, or the names of those that it cannot hold.
pub struct CardExport {
    writer: Box<dyn SheetWriter>,
    long: Vec<LongText>,
}

impl CardExport {
    /// How many texts that are too long are named.
    pub const NAMED: usize = 20;

    /// Writes the headers.
    pub fn begin(mut writer: Box<dyn SheetWriter>) -> Result<Self, SheetFailed> {
        writer.row(&CardLine::header())?;
        Ok(Self { writer, long: Vec::new() })
    }

    /// Writes the next items. A text that is too long refuses the file at its end, so that all of them are named at once.
    pub fn add(&mut self, lines: &[CardLine]) -> Result<(), SheetFailed> {
        for line in lines {
            match self.writer.row(&line.cells()) {
                Err(SheetFailed::LongTexts { cells, most }) => {
                    let long = cells.into_iter().map(|(cell, length)| LongText {
                        item: line.id,
                        article: line.article().cloned(),
                        column: CardColumn::ALL.get(cell).map_or("", |(_, name, _)| name),
                        length,
                        most,
                    });
                    self.long.extend(long.take(Self::NAMED.saturating_sub(self.long.len())));
                }
                written => written?,
            }
        }
        Ok(())
    }

    /// Ends the file and hands it over, ready to be read from its start.
    pub fn finish(self) -> Result<File, ExportFailed> {
        if self.long.is_empty() { Ok(self.writer.finish()?) } else { Err(ExportFailed::LongTexts(self.long)) }
    }
}
