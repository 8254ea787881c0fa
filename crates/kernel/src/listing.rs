//! What is asked of a list that can be filtered, sorted and paged: fields by name, as tables declare them.

use chrono::{DateTime, Utc};

use crate::{Line, PageRequest};

/// A value that records are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterValue {
    /// An identifier, a count, or money in minor units.
    Number(i64),
    /// A text, compared as a whole.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A moment.
    Moment(DateTime<Utc>),
}

/// What a field must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// One of these.
    AnyOf(Vec<FilterValue>),
    /// Larger than this.
    Above(FilterValue),
    /// Smaller than this.
    Below(FilterValue),
    /// This or later.
    From(FilterValue),
}

/// A field of the records and what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The field by its name on the wire.
    pub field: &'static str,
    /// What it must be.
    pub comparison: Comparison,
}

/// The order of a list; records that are equal in it follow by number, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// The field by its name on the wire.
    pub field: &'static str,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Sort {
    /// The smallest first.
    pub const fn ascending(field: &'static str) -> Self {
        Self { field, descending: false }
    }

    /// The largest first.
    pub const fn descending(field: &'static str) -> Self {
        Self { field, descending: true }
    }
}

/// Which records are asked for, in which order, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// All of these hold.
    pub conditions: Vec<Condition>,
    /// What people typed into the search field.
    pub text: Option<Line<255>>,
    /// In which order.
    pub sort: Sort,
    /// Nobody asked for an order: what is found by a text may come the best first.
    pub unsorted: bool,
    /// Which page.
    pub page: PageRequest,
}

impl Listing {
    /// A page of everything.
    pub fn everything(sort: Sort, page: PageRequest) -> Self {
        Self { conditions: Vec::new(), text: None, sort, unsorted: false, page }
    }

    /// The same, narrowed to records whose field has one of these numbers.
    #[must_use]
    pub fn among(mut self, field: &'static str, numbers: impl IntoIterator<Item = i64>) -> Self {
        let values = numbers.into_iter().map(FilterValue::Number).collect();
        self.conditions.push(Condition { field, comparison: Comparison::AnyOf(values) });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_everything_is_narrowed_by_numbers_alone() {
        let (sort, page) = (Sort::descending("id"), PageRequest::new(1, 10, 10).unwrap());
        assert_eq!((sort.field, sort.descending, Sort::ascending("id").descending), ("id", true, false));
        let everything = Listing::everything(sort, page);
        let expected = Listing { conditions: vec![], text: None, sort, unsorted: false, page };
        assert_eq!(everything, expected);
        let comparison = Comparison::AnyOf(vec![FilterValue::Number(3), FilterValue::Number(5)]);
        let conditions = vec![Condition { field: "brand_id", comparison }];
        assert_eq!(everything.among("brand_id", [3, 5]), Listing { conditions, ..expected });
    }
}
