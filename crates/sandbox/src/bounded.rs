//! Bounded collections that drop their oldest entry when a new one does not fit.

use std::collections::{HashMap, VecDeque};

/// Adds an item to the newest ones, of which at most `capacity` are kept.
pub fn keep_newest<T>(kept: &mut VecDeque<T>, capacity: usize, item: T) {
    if kept.len() == capacity {
        kept.pop_front();
    }
    kept.push_back(item);
}

/// Entries by identifier and by age. Adding, finding and dropping an entry take constant time.
pub struct Bounded<T> {
    capacity: usize,
    /// The running number of the oldest entry.
    first: usize,
    entries: VecDeque<(String, T)>,
    numbers: HashMap<String, usize>,
}

impl<T> Bounded<T> {
    /// Creates an empty collection for at most `capacity` entries (at least one).
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), first: 0, entries: VecDeque::new(), numbers: HashMap::new() }
    }

    /// Adds an entry. An entry with the same identifier is replaced in place.
    pub fn put(&mut self, id: &str, item: T) {
        if let Some(known) = self.get_mut(id) {
            *known = item;
            return;
        }
        if self.entries.len() == self.capacity
            && let Some((oldest, _)) = self.entries.pop_front()
        {
            self.numbers.remove(&oldest);
            self.first += 1;
        }
        self.numbers.insert(id.to_owned(), self.first + self.entries.len());
        self.entries.push_back((id.to_owned(), item));
    }

    /// Returns the entry with this identifier.
    pub fn get(&self, id: &str) -> Option<&T> {
        self.entries.get(self.position(id)?).map(|(_, item)| item)
    }

    /// Returns the entry with this identifier, mutable.
    pub fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        let position = self.position(id)?;
        self.entries.get_mut(position).map(|(_, item)| item)
    }

    /// Returns all entries, newest first.
    pub fn newest(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().rev().map(|(_, item)| item)
    }

    /// Returns all entries, mutable.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|(_, item)| item)
    }

    /// Returns the entries older than the one with this identifier, newest first. `None` when it is not in the
    /// collection.
    pub fn older_than(&self, id: &str) -> Option<impl Iterator<Item = &T>> {
        Some(self.entries.iter().take(self.position(id)?).rev().map(|(_, item)| item))
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.numbers.get(id)?.checked_sub(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_makes_room_for_the_newest() {
        let mut shelf = Bounded::new(2);
        for (id, item) in [("a", 1), ("b", 2), ("c", 3)] {
            shelf.put(id, item);
        }
        assert_eq!(shelf.get("a"), None);
        assert_eq!((shelf.get("b"), shelf.get("c")), (Some(&2), Some(&3)));
        assert_eq!(shelf.newest().copied().collect::<Vec<_>>(), [3, 2]);
        assert_eq!(shelf.older_than("c").unwrap().copied().collect::<Vec<_>>(), [2]);
        assert!(shelf.older_than("a").is_none());
    }

    #[test]
    fn the_same_identifier_is_replaced() {
        let mut shelf = Bounded::new(2);
        shelf.put("a", 1);
        shelf.put("a", 2);
        assert_eq!(shelf.newest().copied().collect::<Vec<_>>(), [2]);
    }
}
