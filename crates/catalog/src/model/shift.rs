/// Where a record moves among those that an application shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shift {
    /// One place towards the first.
    Up,
    /// One place towards the last.
    Down,
}
