//! Query of a list: filters, order and page. Fields are referred to by name, as tables declare them.

use chrono::{DateTime, Utc};

use crate::{Line, PageRequest};

/// Value that a field is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterValue {
    /// Identifier, count, or money in minor units.
    Number(i64),
    /// Text, compared as a whole.
    Text(String),
    /// Boolean.
    Flag(bool),
    /// Time.
    Moment(DateTime<Utc>),
}

/// Comparison of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// Equal to one of these.
    AnyOf(Vec<FilterValue>),
    /// Greater than this.
    GreaterThan(FilterValue),
    /// Less than this.
    LessThan(FilterValue),
    /// Greater than or equal to this.
    AtLeast(FilterValue),
}

/// Filter condition on one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Field, by its name on the wire.
    pub field: &'static str,
    /// Comparison of the field.
    pub comparison: Comparison,
}

/// Order of a list. Records with equal values are ordered by identifier, in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort {
    /// Field, by its name on the wire.
    pub field: &'static str,
    /// `true` if the largest value comes first.
    pub descending: bool,
}

impl Sort {
    /// Creates an ascending order.
    pub const fn ascending(field: &'static str) -> Self {
        Self { field, descending: false }
    }

    /// Creates a descending order.
    pub const fn descending(field: &'static str) -> Self {
        Self { field, descending: true }
    }
}

/// Query of a list: filters, order and page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Conditions that must all hold.
    pub conditions: Vec<Condition>,
    /// Search text.
    pub text: Option<Line<255>>,
    /// Order of the list.
    pub sort: Sort,
    /// `true` if the request names no order: results of a text search may then be ordered by relevance.
    pub unsorted: bool,
    /// Requested page.
    pub page: PageRequest,
}

impl Listing {
    /// Creates a query of all records.
    pub fn unfiltered(sort: Sort, page: PageRequest) -> Self {
        Self { conditions: Vec::new(), text: None, sort, unsorted: false, page }
    }

    /// Adds the condition that the field has one of these numbers.
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
        let everything = Listing::unfiltered(sort, page);
        let expected = Listing { conditions: vec![], text: None, sort, unsorted: false, page };
        assert_eq!(everything, expected);
        let comparison = Comparison::AnyOf(vec![FilterValue::Number(3), FilterValue::Number(5)]);
        let conditions = vec![Condition { field: "brand_id", comparison }];
        assert_eq!(everything.among("brand_id", [3, 5]), Listing { conditions, ..expected });
    }
}
