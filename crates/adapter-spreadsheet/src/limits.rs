/// The bounds within which a file is read.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Size of the file, in bytes.
    pub file_bytes: u64,
    /// Size of everything in it unpacked, in bytes.
    pub inflated_bytes: u64,
    /// How many times larger unpacked than packed.
    pub ratio: u64,
    /// Files inside a workbook.
    pub entries: usize,
    /// Rows, empty ones included.
    pub rows: u32,
    /// Columns up to the last filled one.
    pub columns: usize,
    /// Size of one record of a csv file, and of one cell of a workbook as it stands there, in bytes.
    pub record_bytes: u64,
    /// Size of the text of one cell, in bytes.
    pub cell_bytes: usize,
}

impl Limits {
    /// For files that are read in the background: 1 GiB, unpacked 8 GiB and 200 times at most, the same rows and columns.
    pub fn large() -> Self {
        Self { file_bytes: 1 << 30, inflated_bytes: 8 << 30, ..Self::default() }
    }
}

/// 64 MiB, unpacked 512 MiB and 200 times at most, 10,000 entries, 1,100,000 rows, 200 columns; 1 MiB of a
/// record, 256 KiB of a cell.
impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            inflated_bytes: 512 << 20,
            ratio: 200,
            entries: 10_000,
            rows: 1_100_000,
            columns: 200,
            record_bytes: 1 << 20,
            cell_bytes: 256 << 10,
        }
    }
}
