//! Files of a workbook by their role. The writing program chooses their names; relationships define the roles.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek};

use kontor_catalog::spreadsheet::SheetError;
use quick_xml::Reader;
use quick_xml::events::Event;
use zip::{ZipArchive, ZipWriter};

/// Default name of the list of sheets, unless the relationships define another one.
const DEFAULT_WORKBOOK: &str = "xl/workbook.xml";
/// Maximum bytes read of a list of relationships.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// A file that a relationship refers to.
struct Related {
    kind: String,
    target: String,
}

type Archive<'a> = ZipArchive<BufReader<&'a File>>;

/// Returns the name of the file with the list of sheets.
pub(crate) fn workbook(archive: &mut Archive<'_>) -> Result<String, SheetError> {
    let root = related(archive, "_rels/.rels")?;
    let main = root.into_iter().find(|part| part.kind.ends_with("/officeDocument"));
    let main = main.map_or(DEFAULT_WORKBOOK.to_owned(), |part| part.target.trim_start_matches('/').to_owned());
    Some(main).filter(|name| archive.index_for_name(name).is_some()).ok_or(SheetError::NotASpreadsheet)
}

/// Returns the workbook with the default names for its texts and styles, if it has others. The reader only finds the
/// default names, and would read a date as a number.
pub(crate) fn with_usual_names(file: &File, archive: &mut Archive<'_>) -> Result<Option<File>, SheetError> {
    let workbook = workbook(archive)?;
    let (folder, name) =
        workbook.rsplit_once('/').map_or((String::new(), &*workbook), |(folder, name)| (format!("{folder}/"), name));
    let mut names = Vec::new();
    for part in related(archive, &format!("{folder}_rels/{name}.rels"))? {
        let usual = match part.kind.rsplit('/').next() {
            Some("sharedStrings") => "sharedStrings.xml",
            Some("styles") => "styles.xml",
            _ => continue,
        };
        let target =
            part.target.strip_prefix('/').map_or_else(|| format!("{folder}{}", part.target), ToOwned::to_owned);
        let usual = format!("{folder}{usual}");
        if target != usual && archive.index_for_name(&target).is_some() {
            names.push((target, usual));
        }
    }
    if names.is_empty() { Ok(None) } else { renamed(file, &names).map(Some) }
}

fn related(archive: &mut Archive<'_>, list: &str) -> Result<Vec<Related>, SheetError> {
    let Some(index) = archive.index_for_name(list) else { return Ok(Vec::new()) };
    let list = archive.by_index(index).map_err(crate::broken)?.take(MAX_LIST_BYTES);
    let mut reader = Reader::from_reader(BufReader::new(list));
    let (mut parts, mut buffer) = (Vec::new(), Vec::new());
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer).map_err(crate::broken)? {
            Event::Eof => return Ok(parts),
            Event::Start(tag) | Event::Empty(tag) if tag.local_name().as_ref() == "Relationship" => {
                let (mut kind, mut target) = (String::new(), String::new());
                for attribute in tag.attributes().with_checks(false).filter_map(Result::ok) {
                    match attribute.key.as_ref() {
                        "Type" => kind = attribute.value.into_owned(),
                        "Target" => target = attribute.value.into_owned(),
                        _ => {}
                    }
                }
                parts.push(Related { kind, target });
            }
            _ => {}
        }
    }
}

fn renamed(file: &File, names: &[(String, String)]) -> Result<File, SheetError> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(crate::broken)?;
    let mut whole = ZipWriter::new(BufWriter::new(tempfile::tempfile().map_err(crate::broken)?));
    for index in 0..archive.len() {
        let name = name(&archive, index);
        // A file that has a default name without the role is not copied.
        if names.iter().any(|(_, usual)| *usual == name) {
            continue;
        }
        let usual = names.iter().find(|(target, _)| *target == name).map_or(name.clone(), |(_, usual)| usual.clone());
        let entry = archive.by_index_raw(index).map_err(crate::broken)?;
        whole.raw_copy_file_rename(entry, usual).map_err(crate::broken)?;
    }
    finished(whole)
}

/// Returns the name of an entry. A name that is not text is irrelevant here.
pub(crate) fn name<R: Read + Seek>(archive: &ZipArchive<R>, index: usize) -> String {
    archive.name_for_index(index).and_then(Result::ok).map(Cow::into_owned).unwrap_or_default()
}

/// Completes an archive and returns its file, ready to be read.
pub(crate) fn finished(archive: ZipWriter<BufWriter<File>>) -> Result<File, SheetError> {
    let buffered = archive.finish().map_err(crate::broken)?;
    let mut file = buffered.into_inner().map_err(|error| crate::broken(error.error()))?;
    file.rewind().map_err(crate::broken)?;
    Ok(file)
}
