use std::collections::{HashMap, HashSet};

/// Reason why a position in the tree is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TreeRefusal {
    /// The parent does not exist in the tree.
    #[error("there is no such parent")]
    UnknownParent,
    /// The parent is a descendant of the record.
    #[error("is below the record")]
    Cycle,
    /// The tree would be too deep.
    #[error("the tree would have more than {} levels", Tree::MAX_DEPTH)]
    TooDeep,
    /// The tree has the maximum number of records.
    #[error("there are too many records")]
    Full,
}

/// Parents of records, by identifier.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    parents: HashMap<i64, Option<i64>>,
}

impl Tree {
    /// Maximum number of levels.
    pub const MAX_DEPTH: usize = 16;

    /// Creates a tree from records with their parents.
    pub fn new(records: impl IntoIterator<Item = (i64, Option<i64>)>) -> Self {
        Self { parents: records.into_iter().collect() }
    }

    /// Returns an error unless one more record may be added below this parent.
    pub fn admit(&self, parent: Option<i64>, most: usize) -> Result<(), TreeRefusal> {
        if self.parents.len() >= most {
            return Err(TreeRefusal::Full);
        }
        let Some(parent) = parent else { return Ok(()) };
        if self.level(parent).ok_or(TreeRefusal::UnknownParent)? >= Self::MAX_DEPTH {
            return Err(TreeRefusal::TooDeep);
        }
        Ok(())
    }

    /// Returns an error unless a record may be moved below this parent, with its descendants.
    pub fn accept(&self, record: i64, parent: Option<i64>) -> Result<(), TreeRefusal> {
        let Some(parent) = parent else { return Ok(()) };
        let level = self.level(parent).ok_or(TreeRefusal::UnknownParent)?;
        if self.above(parent).any(|above| above == record) {
            return Err(TreeRefusal::Cycle);
        }
        if level + self.height(record) > Self::MAX_DEPTH { Err(TreeRefusal::TooDeep) } else { Ok(()) }
    }

    /// Returns a record, its parent, and so on to the root. Stops also if stored parents form a cycle.
    fn above(&self, record: i64) -> impl Iterator<Item = i64> {
        let mut seen = HashSet::new();
        std::iter::successors(Some(record), |below| self.parents.get(below).copied().flatten())
            .take_while(move |one| seen.insert(*one))
    }

    /// Returns the level of a record, 1 for a root; `None` if it does not exist.
    fn level(&self, record: i64) -> Option<usize> {
        self.parents.contains_key(&record).then(|| self.above(record).count())
    }

    /// Returns the number of levels from a record down to its lowest descendant.
    fn height(&self, record: i64) -> usize {
        let below = self.parents.keys().filter_map(|one| self.above(*one).position(|above| above == record));
        below.max().unwrap_or_default() + 1
    }
}

/// Record with its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node<T> {
    /// Record.
    pub record: T,
    /// Children, in the order of the input.
    pub children: Vec<Self>,
}

impl<T> Node<T> {
    /// Builds the tree below the record `root` from records with identifiers and parents. Records that are not below it
    /// are left out, and so are records deeper than [`Tree::MAX_DEPTH`].
    pub fn nested(records: impl IntoIterator<Item = (i64, Option<i64>, T)>, root: i64) -> Option<Self> {
        let (mut top, mut below) = (None, HashMap::<i64, Vec<(i64, T)>>::new());
        for (id, parent, record) in records {
            if id == root {
                top = Some(record);
            } else if let Some(parent) = parent {
                below.entry(parent).or_default().push((id, record));
            }
        }
        top.map(|record| Self::grown(record, root, &mut below, Tree::MAX_DEPTH))
    }

    /// Returns the tree with each value converted.
    pub fn map<U>(self, to: &impl Fn(T) -> U) -> Node<U> {
        let children = self.children.into_iter().map(|child| child.map(to)).collect();
        Node { record: to(self.record), children }
    }

    fn grown(record: T, id: i64, below: &mut HashMap<i64, Vec<(i64, T)>>, levels: usize) -> Self {
        let own = if levels > 1 { below.remove(&id).unwrap_or_default() } else { Vec::new() };
        let children = own.into_iter().map(|(id, record)| Self::grown(record, id, below, levels - 1)).collect();
        Self { record, children }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tree in which 1 is the parent of 2, 2 of 3 and so on.
    fn chain(length: i64) -> Tree {
        Tree::new((1..=length).map(|id| (id, (id > 1).then_some(id - 1))))
    }

    #[test]
    fn a_tree_has_bounds() {
        let tree = chain(16);
        assert_eq!(tree.admit(None, 17), Ok(()));
        assert_eq!(tree.admit(None, 16), Err(TreeRefusal::Full));
        assert_eq!(tree.admit(Some(15), 100), Ok(()));
        assert_eq!(tree.admit(Some(16), 100), Err(TreeRefusal::TooDeep));
        assert_eq!(tree.admit(Some(17), 100), Err(TreeRefusal::UnknownParent));
    }

    #[test]
    fn nothing_lies_below_itself() {
        let tree = chain(4);
        assert_eq!(tree.accept(2, Some(2)), Err(TreeRefusal::Cycle));
        assert_eq!(tree.accept(2, Some(4)), Err(TreeRefusal::Cycle));
        assert_eq!(tree.accept(2, Some(9)), Err(TreeRefusal::UnknownParent));
        assert_eq!(tree.accept(4, Some(1)), Ok(()));
        assert_eq!(tree.accept(2, None), Ok(()));
    }

    #[test]
    fn what_lies_below_moves_along() {
        let two = Tree::new((1..=10).map(|id| (id, (id > 1).then_some(id - 1))).chain([(20, None), (21, Some(20))]));
        assert_eq!(two.accept(1, Some(21)), Ok(()));
        let deep = Tree::new((1..=15).map(|id| (id, (id > 1).then_some(id - 1))).chain([(20, None), (21, Some(20))]));
        assert_eq!(deep.accept(1, Some(20)), Ok(()));
        assert_eq!(deep.accept(1, Some(21)), Err(TreeRefusal::TooDeep));
    }

    #[test]
    fn stored_circles_end() {
        let circle = Tree::new([(1, Some(2)), (2, Some(1)), (3, None)]);
        assert_eq!(circle.accept(3, Some(1)), Ok(()));
        assert!(Node::nested([(1, Some(2), 'a'), (2, Some(1), 'b')], 1).is_some());
    }

    #[test]
    fn records_are_nested_in_their_order() {
        let records = [(5, Some(1), "e"), (1, None, "a"), (2, Some(1), "b"), (3, Some(2), "c"), (4, None, "d")];
        let tree = Node::nested(records, 1).unwrap();
        let names: Vec<&str> = tree.children.iter().map(|child| child.record).collect();
        assert_eq!((tree.record, names), ("a", vec!["e", "b"]));
        assert_eq!(tree.children[1].children[0].record, "c");
        assert_eq!(Node::nested(records, 9), None);
    }
}
