use std::fs::File;

use kontor_kernel::{Line, NomenclatureId};

use super::columns::Column;
use super::ports::{SheetFailed, SheetWriter};
use super::{CardColumn, CardLine};

/// Error: the text is too long for a cell of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {column} of item {item}{} has {length} characters but a cell holds {most}; use csv", with(.article.as_ref()))]
pub struct TextTooLong {
    /// Identifier of the item.
    pub item: NomenclatureId,
    /// Article (SKU).
    pub article: Option<Line<100>>,
    /// Name of the column.
    pub column: &'static str,
    /// Length of the text, as the format counts it.
    pub length: usize,
    /// Maximum length of a cell.
    pub most: usize,
}

fn with(article: Option<&Line<100>>) -> String {
    article.map(|article| format!(" ({article})")).unwrap_or_default()
}

/// Reason why an export is refused.
#[derive(Debug, thiserror::Error)]
pub enum ExportFailed {
    /// These texts are too long for a cell; at most [`CardExport::MAX_LISTED`] are listed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    LongTexts(Vec<TextTooLong>),
    /// The file cannot be written.
    #[error(transparent)]
    Sheet(#[from] SheetFailed),
}

/// Export in progress: a file of all items, or the list of texts that are too long for it.
pub struct CardExport {
    writer: Box<dyn SheetWriter>,
    long: Vec<TextTooLong>,
}

impl CardExport {
    /// Maximum number of texts that are listed as too long.
    pub const MAX_LISTED: usize = 20;

    /// Writes the headers.
    pub fn begin(mut writer: Box<dyn SheetWriter>) -> Result<Self, SheetFailed> {
        writer.row(&CardLine::header())?;
        Ok(Self { writer, long: Vec::new() })
    }

    /// Writes the next items. A text that is too long is recorded and refused at the end, so that all of them are
    /// listed at once.
    pub fn add(&mut self, lines: &[CardLine]) -> Result<(), SheetFailed> {
        for line in lines {
            match self.writer.row(&line.cells()) {
                Err(SheetFailed::LongTexts { cells, most }) => {
                    let long = cells.into_iter().map(|(cell, length)| TextTooLong {
                        item: line.id,
                        article: line.article().cloned(),
                        column: CardColumn::ALL.get(cell).map_or("", |(_, name, _)| name),
                        length,
                        most,
                    });
                    self.long.extend(long.take(Self::MAX_LISTED.saturating_sub(self.long.len())));
                }
                written => written?,
            }
        }
        Ok(())
    }

    /// Completes the file and returns it, positioned at its start.
    pub fn finish(self) -> Result<File, ExportFailed> {
        if self.long.is_empty() { Ok(self.writer.finish()?) } else { Err(ExportFailed::LongTexts(self.long)) }
    }
}
