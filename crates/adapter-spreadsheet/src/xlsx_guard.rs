//! What a workbook unpacks to, found out before any of it is interpreted.

use std::fs::File;
use std::io::{BufReader, Read, copy, sink};

use kontor_catalog::spreadsheet::SheetRefused;
use zip::ZipArchive;

use crate::limits::Limits;

/// Deflate cannot pack better than this; an entry that is small enough packed needs no trial.
const BEST_RATIO: u64 = 1032;
/// Below this size a high ratio harms nobody.
const HARMLESS: u64 = 4 << 20;

/// Refuses what is no zip archive, and archives that unpack to too much. The sizes an archive declares of itself are
/// believed only when they are too large: what matters is what really comes out.
pub(crate) fn check(file: &File, limits: &Limits) -> Result<(), SheetRefused> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|_| SheetRefused::NotASpreadsheet)?;
    if archive.len() > limits.entries {
        return Err(SheetRefused::TooLarge("the number of files in it"));
    }
    if archive.index_for_name("xl/workbook.xml").is_none() {
        return Err(SheetRefused::NotASpreadsheet);
    }
    let mut inflated: u64 = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|_| SheetRefused::NotASpreadsheet)?;
        let (packed, declared) = (entry.compressed_size(), entry.size());
        if entry.encrypted() {
            return Err(SheetRefused::OldOrEncrypted);
        }
        drop(entry);
        let room = limits.inflated_bytes.saturating_sub(inflated);
        if declared > room {
            return Err(SheetRefused::TooLarge("what it unpacks to"));
        }
        let possible = packed.saturating_mul(BEST_RATIO);
        let actual = if possible <= HARMLESS { possible.min(declared) } else { unpack(&mut archive, index, room)? };
        inflated = inflated.saturating_add(actual);
        if inflated > limits.inflated_bytes || (actual > HARMLESS && actual / packed.max(1) > limits.ratio) {
            return Err(SheetRefused::TooLarge("what it unpacks to"));
        }
    }
    Ok(())
}

fn unpack(archive: &mut ZipArchive<BufReader<&File>>, index: usize, room: u64) -> Result<u64, SheetRefused> {
    let entry = archive.by_index(index).map_err(crate::broken)?;
    copy(&mut entry.take(room.saturating_add(1)), &mut sink()).map_err(crate::broken)
}
