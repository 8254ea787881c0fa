//! Conversion of stored values to domain values. An invalid stored value is a corrupt record, never a panic.

use std::fmt::Display;

use chrono::{DateTime, NaiveDateTime, Utc};
use kontor_kernel::history::Author;
use kontor_kernel::{
    BankAccount, Bik, Email, Inn, InvalidId, Kpp, Line, Link, Money, Named, Page, PageRequest, Phone, PhotoUrl, Prose,
    Reference, StoreError, Word,
};

/// Returns the error for a stored word that this service does not know, with record and column. The word is never taken
/// for another one.
pub(crate) fn unknown(table: &str, id: impl Display, column: &str, word: impl Display) -> StoreError {
    StoreError::corrupt(format!("{table} {id}: the column {column} has the unknown value `{word}`"))
}

/// Parses a stored word.
pub(crate) fn word<T: Word>(table: &str, id: impl Display, column: &str, word: &str) -> Result<T, StoreError> {
    T::from_word(word).ok_or_else(|| unknown(table, id, column, word))
}

/// Domain value that is stored as one text.
pub(crate) trait FromText: Sized {
    fn from_text(text: &str) -> Result<Self, StoreError>;

    /// Converts an owned text, without a copy where possible.
    fn from_string(text: String) -> Result<Self, StoreError> {
        Self::from_text(&text)
    }
}

macro_rules! from_text {
    ($($type:ty => $parse:expr;)+) => {$(
        impl FromText for $type {
            fn from_text(text: &str) -> Result<Self, StoreError> {
                $parse(text).map_err(StoreError::corrupt)
            }
        }
    )+};
}

from_text! {
    Email => Email::parse;
    Phone => Phone::parse;
    Prose => Prose::parse;
    Inn => Inn::parse;
    Kpp => Kpp::parse;
    Bik => Bik::parse;
    BankAccount => BankAccount::parse;
    PhotoUrl => PhotoUrl::parse;
    uuid::Uuid => uuid::Uuid::parse_str;
}

impl<const MAX: usize> FromText for Line<MAX> {
    fn from_text(text: &str) -> Result<Self, StoreError> {
        Self::parse(text).map_err(StoreError::corrupt)
    }

    fn from_string(text: String) -> Result<Self, StoreError> {
        Self::from_string(text).map_err(StoreError::corrupt)
    }
}

pub(crate) fn text<T: FromText>(value: &str) -> Result<T, StoreError> {
    T::from_text(value)
}

pub(crate) fn optional_text<T: FromText>(value: Option<&str>) -> Result<Option<T>, StoreError> {
    value.map(T::from_text).transpose()
}

/// Returns the text if its type can read it.
pub(crate) fn readable<T: FromText>(value: Option<String>) -> Option<String> {
    value.filter(|text| T::from_text(text).is_ok())
}

/// As [`text`], for an owned value.
pub(crate) fn owned<T: FromText>(value: String) -> Result<T, StoreError> {
    T::from_string(value)
}

/// Parses a stored link. An unsafe link from before links were checked is dropped.
pub(crate) fn link(value: Option<&str>) -> Option<Link> {
    Link::parse(value?).ok()
}

pub(crate) fn id<T: TryFrom<i64, Error = InvalidId>>(value: i64) -> Result<T, StoreError> {
    T::try_from(value).map_err(StoreError::corrupt)
}

/// Decodes a reference to another record.
pub(crate) fn reference<Id: TryFrom<i64, Error = InvalidId>>(
    number: i64,
    name: &str,
) -> Result<Reference<Id>, StoreError> {
    Ok(Reference { id: id(number)?, name: text(name)? })
}

pub(crate) fn optional_id<T: TryFrom<i64, Error = InvalidId>>(value: Option<i64>) -> Result<Option<T>, StoreError> {
    value.map(id).transpose()
}

/// Reads an optional reference, from the id and the name of the joined record.
pub(crate) fn named<T: TryFrom<i64, Error = InvalidId>>(
    number: Option<i64>,
    name: Option<String>,
) -> Result<Option<Named<T>>, StoreError> {
    number.map(|number| Ok(Named { id: id(number)?, name: name.unwrap_or_default() })).transpose()
}

/// Returns the columns `actor` and `actor_id` of an author.
pub(crate) fn actor(author: Author) -> (&'static str, Option<i64>) {
    match author {
        Author::Customer(id) => ("customer", Some(id.get())),
        Author::User(id) => ("user", Some(id.get())),
        Author::System => ("system", None),
    }
}

/// Reads the author from the columns `actor` and `actor_id`.
pub(crate) fn author(table: &str, id: i64, actor: &str, number: Option<i64>) -> Result<Author, StoreError> {
    match (actor, number) {
        ("user", Some(user)) => self::id(user).map(Author::User),
        ("customer", Some(customer)) => self::id(customer).map(Author::Customer),
        ("system", None) => Ok(Author::System),
        (other, _) => Err(unknown(table, id, "actor", other)),
    }
}

/// Reads the author from separate columns of employee and customer, of which at most one is set.
pub(crate) fn author_of(user: Option<i64>, customer: Option<i64>) -> Result<Author, StoreError> {
    match (user, customer) {
        (Some(user), _) => id(user).map(Author::User),
        (None, Some(customer)) => id(customer).map(Author::Customer),
        (None, None) => Ok(Author::System),
    }
}

/// Returns the name of an author, from the names of the employee and of the customer.
pub(crate) fn author_name(author: Author, user: Option<String>, customer: Option<String>) -> Option<String> {
    let name = match author {
        Author::User(_) => user,
        Author::Customer(_) => customer,
        Author::System => None,
    };
    name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

pub(crate) fn money(minor: i64) -> Result<Money, StoreError> {
    Money::from_minor(minor).map_err(StoreError::corrupt)
}

pub(crate) fn optional_money(minor: Option<i64>) -> Result<Option<Money>, StoreError> {
    minor.map(money).transpose()
}

pub(crate) fn count(number: i64) -> Result<u64, StoreError> {
    u64::try_from(number).map_err(StoreError::corrupt)
}

pub(crate) fn optional_count(number: Option<i64>) -> Result<Option<u64>, StoreError> {
    number.map(count).transpose()
}

/// Returns a page with these records out of a total.
pub(crate) fn page<T>(items: Vec<T>, total: i64, request: PageRequest) -> Result<Page<T>, StoreError> {
    Ok(Page { items, total: count(total)?, request })
}

/// Reads a timestamp, which is stored in UTC without an offset.
pub(crate) fn moment(stored: NaiveDateTime) -> DateTime<Utc> {
    stored.and_utc()
}
