/// Direction in which a record moves among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveDirection {
    /// One place towards the first.
    Up,
    /// One place towards the last.
    Down,
}
