//! Query and pages of a list. Fields are referred to by name, as tables declare them.

use chrono::{DateTime, Utc};

use crate::{Line, StoreError};

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

    /// Returns the requested page of records that are already in order, for a storage in memory.
    ///
    /// # Errors
    /// If the query has filters, which such a storage lacks.
    pub fn page_of<T>(&self, all: Vec<T>) -> Result<Page<T>, StoreError> {
        if !self.conditions.is_empty() || self.text.is_some() {
            return Err(StoreError::Failed("the storage in memory has no filtered lists".to_owned()));
        }
        Ok(Page::of(all, self.page))
    }

    /// Adds the condition that the field has one of these numbers.
    #[must_use]
    pub fn among(mut self, field: &'static str, numbers: impl IntoIterator<Item = i64>) -> Self {
        let values = numbers.into_iter().map(FilterValue::Number).collect();
        self.conditions.push(Condition { field, comparison: Comparison::AnyOf(values) });
        self
    }
}

/// Error: the page request is outside the bounds of its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The page number is less than 1.
    #[error("must be a whole number of at least 1")]
    PageBelowOne,
    /// The page number is too large.
    #[error("must be at most 1000000000")]
    PageTooLarge,
    /// The page size is less than 1.
    #[error("must be a whole number of at least 1")]
    PerPageBelowOne,
    /// The page size exceeds this maximum.
    #[error("must be at most {0}")]
    PerPageAbove(u32),
}

/// Page number, counted from 1, and page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    page: u32,
    per_page: u32,
}

impl PageRequest {
    /// Checks `page` (from 1) and `per_page` (1 to `most`).
    pub fn new(page: i64, per_page: i64, most: u32) -> Result<Self, PageError> {
        Ok(Self { page: Self::page_number(page)?, per_page: Self::page_size(per_page, most)? })
    }

    /// Checks only a page number.
    pub fn page_number(page: i64) -> Result<u32, PageError> {
        if page < 1 {
            return Err(PageError::PageBelowOne);
        }
        u32::try_from(page).ok().filter(|p| *p <= 1_000_000_000).ok_or(PageError::PageTooLarge)
    }

    /// Checks only a page size.
    pub fn page_size(per_page: i64, most: u32) -> Result<u32, PageError> {
        if per_page < 1 {
            return Err(PageError::PerPageBelowOne);
        }
        u32::try_from(per_page).ok().filter(|p| *p <= most).ok_or(PageError::PerPageAbove(most))
    }

    /// Returns the page number, counted from 1.
    pub fn page(self) -> u32 {
        self.page
    }

    /// Returns the page size.
    pub fn per_page(self) -> u32 {
        self.per_page
    }

    /// Returns the number of records before this page.
    pub fn offset(self) -> i64 {
        (i64::from(self.page) - 1) * i64::from(self.per_page)
    }

    /// Returns the number of records to read.
    pub fn limit(self) -> i64 {
        i64::from(self.per_page)
    }
}

/// One page of a list and the size of the whole list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// Records of this page.
    pub items: Vec<T>,
    /// Number of records of the whole list.
    pub total: u64,
    /// Page request.
    pub request: PageRequest,
}

impl<T> Page<T> {
    /// Returns the requested page of a whole list.
    pub fn of(all: Vec<T>, request: PageRequest) -> Self {
        let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
        let before = usize::try_from(request.offset()).unwrap_or(usize::MAX);
        let most = usize::try_from(request.per_page()).unwrap_or(usize::MAX);
        Self { items: all.into_iter().skip(before).take(most).collect(), total, request }
    }

    /// Returns the number of the last page; an empty list has one page.
    pub fn last_page(&self) -> u64 {
        self.total.div_ceil(u64::from(self.request.per_page)).max(1)
    }

    /// Returns the position of the first record of this page, counted from 1; `None` if the page is empty.
    pub fn from(&self) -> Option<u64> {
        (!self.items.is_empty()).then(|| u64::try_from(self.request.offset()).unwrap_or_default() + 1)
    }

    /// Returns the position of the last record of this page; `None` if the page is empty.
    pub fn to(&self) -> Option<u64> {
        let count = u64::try_from(self.items.len()).ok()?;
        self.from().map(|from| from + count - 1)
    }

    /// Returns the page with each record converted.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(convert).collect(), total: self.total, request: self.request }
    }

    /// Returns the page with its records replaced.
    pub fn with_items<U>(&self, items: Vec<U>) -> Page<U> {
        Page { items, total: self.total, request: self.request }
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

    #[test]
    fn numbers_are_consistent() {
        let request = PageRequest::new(2, 15, 100).unwrap();
        let page = Page { items: vec![(); 3], total: 18, request };
        assert_eq!((page.last_page(), page.from(), page.to()), (2, Some(16), Some(18)));
        let empty = Page { items: Vec::<()>::new(), total: 0, request };
        assert_eq!((empty.last_page(), empty.from(), empty.to()), (1, None, None));
    }

    #[test]
    fn bounds_are_named() {
        assert_eq!(PageRequest::new(0, 1, 100), Err(PageError::PageBelowOne));
        assert_eq!(PageRequest::new(1, 101, 100), Err(PageError::PerPageAbove(100)));
        assert_eq!(PageRequest::new(i64::MAX, 1, 100), Err(PageError::PageTooLarge));
    }

    #[test]
    fn the_first_and_the_last_page_and_size_are_taken() {
        let most = PageRequest::new(1_000_000_000, 100, 100).unwrap();
        assert_eq!(
            (most.page(), most.per_page(), most.limit(), most.offset()),
            (1_000_000_000, 100, 100, 99_999_999_900)
        );
        let least = PageRequest::new(1, 1, 100).unwrap();
        assert_eq!((least.page(), least.per_page(), least.limit(), least.offset()), (1, 1, 1, 0));
        assert_eq!(PageRequest::page_number(1_000_000_001), Err(PageError::PageTooLarge));
        assert_eq!(PageRequest::page_size(0, 100), Err(PageError::PerPageBelowOne));
        assert_eq!(PageRequest::page_size(-1, 100), Err(PageError::PerPageBelowOne));
    }

    #[test]
    fn a_page_of_other_records_keeps_its_place() {
        let request = PageRequest::new(2, 2, 100).unwrap();
        let page = Page { items: vec![3, 4], total: 5, request };
        let expected = Page { items: vec!["3".to_owned(), "4".to_owned()], total: 5, request };
        assert_eq!(page.with_items(expected.items.clone()), expected);
        assert_eq!(page.map(|number: i32| number.to_string()), expected);
    }
}
