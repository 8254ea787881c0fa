/// Where a record moves among those beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// One place towards the first.
    Up,
    /// One place towards the last.
    Down,
}
