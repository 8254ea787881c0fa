//! Hand-written statements with bound values, for both databases at once.
//!
//! Unlike `diesel::sql_query`, a [`Statement`] may stay in the cache of prepared statements, which matters on the paths
//! of every visitor. Rows are read by column name (`QueryableByName`) or, on these paths, by position (`by_place!`).

use std::borrow::Cow;

use chrono::NaiveDateTime;
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql};
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::result::QueryResult;
use diesel::row::{NamedRow, Row};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Binary, Bool, HasSqlType, Integer, Nullable, Text, Timestamp, Untyped};
use diesel::sqlite::Sqlite;
use diesel::{QueryableByName, RunQueryDsl};
use kontor_kernel::PageRequest;

use crate::database::{AnyConnection, on_each};
use crate::time_codec::Moment;

/// Value of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Int(Option<i64>),
    Text(Option<String>),
    Bool(bool),
    Moment(Option<Moment>),
    Bytes(Vec<u8>),
    /// Result of another part of the statement.
    Found(&'static str),
}

macro_rules! values {
    ($($from:ty => |$value:ident| $to:expr;)+) => {$(
        impl From<$from> for Value {
            fn from($value: $from) -> Self { $to }
        }
    )+};
}

values! {
    i64 => |value| Self::Int(Some(value));
    i32 => |value| Self::Int(Some(value.into()));
    u32 => |value| Self::Int(Some(value.into()));
    Option<i64> => |value| Self::Int(value);
    bool => |value| Self::Bool(value);
    NaiveDateTime => |value| Self::Moment(Some(Moment(value)));
    Option<NaiveDateTime> => |value| Self::Moment(value.map(Moment));
    Vec<u8> => |value| Self::Bytes(value);
    String => |value| Self::Text(Some(value));
    Option<String> => |value| Self::Text(value);
    &str => |value| Self::Text(Some(value.to_owned()));
    Option<&str> => |value| Self::Text(value.map(str::to_owned));
}

#[derive(Debug, Clone)]
enum Piece {
    Sql(Cow<'static, str>),
    Value(Value),
}

/// Maximum number of bound identifiers, enough for the longest page; a longer list is part of the text. PostgreSQL
/// plans an unprepared statement each time, which takes longer than an order with all its lookups.
const MAX_BOUND_IDS: usize = 128;

/// SQL fragments with values between them.
#[derive(Debug, Clone, Default)]
#[must_use]
pub(crate) struct Statement {
    pieces: Vec<Piece>,
    unbounded: bool,
}

impl Statement {
    /// Creates a statement that starts with this text.
    pub fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self::default().sql(sql)
    }

    /// Appends text.
    pub fn sql(mut self, sql: impl Into<Cow<'static, str>>) -> Self {
        self.pieces.push(Piece::Sql(sql.into()));
        self
    }

    /// Appends a bound value.
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.pieces.push(Piece::Value(value.into()));
        self
    }

    /// Appends `(v1, v2, ...)`.
    pub fn tuple(mut self, values: impl IntoIterator<Item = Value>) -> Self {
        self.pieces.push(Piece::Sql("(".into()));
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                self.pieces.push(Piece::Sql(", ".into()));
            }
            self.pieces.push(Piece::Value(value));
        }
        self.sql(")")
    }

    /// Appends `(v1, v2, ...), (v1, v2, ...)`, one tuple per row.
    pub fn tuples<R: IntoIterator<Item = Value>>(mut self, rows: impl IntoIterator<Item = R>) -> Self {
        for (index, row) in rows.into_iter().enumerate() {
            if index > 0 {
                self.pieces.push(Piece::Sql(", ".into()));
            }
            self = self.tuple(row);
        }
        self
    }

    /// Appends `IN (...)` over identifiers. Short lists are bound, with the last one repeated up to the next power of
    /// two: such statements have few forms and stay prepared. A long list is part of the text, and its statement is not
    /// cached.
    pub fn among(mut self, ids: &[i64]) -> Self {
        match ids {
            // An empty list matches nothing, and `IN ()` is not valid SQL in every database.
            [] => self.sql(" IN (NULL)"),
            [id] => self.sql(" = ").value(*id),
            [.., last] if ids.len() <= MAX_BOUND_IDS => {
                let places = ids.len().next_power_of_two();
                let filled = ids.iter().chain(std::iter::repeat(last)).take(places);
                self.sql(" IN ").tuple(filled.map(|id| Value::from(*id)))
            }
            _ => {
                self.unbounded = true;
                let list: Vec<String> = ids.iter().map(ToString::to_string).collect();
                self.sql(format!(" IN ({})", list.join(", ")))
            }
        }
    }

    /// Appends the limits of a page.
    pub fn page(self, page: PageRequest) -> Self {
        self.sql(" LIMIT ").value(page.limit()).sql(" OFFSET ").value(page.offset())
    }

    /// Appends another statement.
    pub fn then(mut self, other: Self) -> Self {
        self.unbounded |= other.unbounded;
        self.pieces.extend(other.pieces);
        self
    }

    /// Returns all rows. Runs on the concrete connection, which costs less than a connection to either database.
    pub fn rows<R>(self, connection: &mut AnyConnection) -> QueryResult<Vec<R>>
    where
        R: QueryableByName<Pg> + QueryableByName<Sqlite> + 'static,
    {
        on_each!(connection, concrete => self.load(concrete))
    }

    /// Returns the first row, as [`Statement::rows`].
    pub fn row<R>(self, connection: &mut AnyConnection) -> QueryResult<R>
    where
        R: QueryableByName<Pg> + QueryableByName<Sqlite> + 'static,
    {
        on_each!(connection, concrete => self.get_result(concrete))
    }

    /// Returns the only value of each row, as [`Statement::rows`].
    pub fn scalars<T>(self, connection: &mut AnyConnection) -> QueryResult<Vec<T>>
    where
        T: Placed<Pg> + Placed<Sqlite> + 'static,
    {
        let rows: Vec<Scalar<T>> = self.rows(connection)?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    /// Returns the only value of the first row, as [`Statement::rows`].
    pub fn scalar<T>(self, connection: &mut AnyConnection) -> QueryResult<T>
    where
        T: Placed<Pg> + Placed<Sqlite> + 'static,
    {
        self.row::<Scalar<T>>(connection).map(|row| row.0)
    }

    /// Returns `true` if there is a row. The value in it must be a number.
    pub fn finds(self, connection: &mut AnyConnection) -> QueryResult<bool> {
        Ok(!self.scalars::<i64>(connection)?.is_empty())
    }

    /// Returns the number of changed rows, as [`Statement::rows`].
    pub fn run(self, connection: &mut AnyConnection) -> QueryResult<usize> {
        on_each!(connection, concrete => self.execute(concrete))
    }

    /// Returns the plan of the database, a line per node.
    #[cfg(test)]
    pub fn plan(self, connection: &mut AnyConnection) -> QueryResult<String> {
        by_place! {
            struct StepRow {
                _id: i64,
                _parent: i64,
                _unused: i64,
                detail: String,
            }
        }
        let lines: Vec<String> = if connection.is_postgres() {
            Self::new("EXPLAIN (COSTS OFF) ").then(self).once().scalars(connection)?
        } else {
            let steps: Vec<StepRow> = Self::new("EXPLAIN QUERY PLAN ").then(self).rows(connection)?;
            steps.into_iter().map(|step| step.detail).collect()
        };
        Ok(lines.into_iter().map(|line| line + "\n").collect())
    }

    /// Appends a clause that locks rows until the transaction ends, on PostgreSQL; SQLite has one writer and needs
    /// none.
    pub fn locked(self, connection: &AnyConnection, clause: &'static str) -> Self {
        if connection.is_postgres() { self.sql(clause) } else { self }
    }

    /// Locks the selected rows until the transaction ends, as [`Statement::locked`], without returning them.
    pub fn hold(self, connection: &mut AnyConnection, clause: &'static str) -> QueryResult<()> {
        if connection.is_postgres() { self.sql(clause).run(connection).map(|_| ()) } else { Ok(()) }
    }

    /// Caches the statement only if it concerns few lines of an order. Most orders have a line or two, so few forms
    /// stay prepared.
    pub fn of_lines(self, lines: usize) -> Self {
        const MAX_LINES: usize = 8;
        if lines > MAX_LINES { self.once() } else { self }
    }

    /// Excludes the statement from the cache, because its text has an unlimited number of forms.
    pub fn once(mut self) -> Self {
        self.unbounded = true;
        self
    }
}

impl<DB> QueryFragment<DB> for Statement
where
    DB: Backend + HasSqlType<BigInt> + HasSqlType<Binary> + HasSqlType<Text> + HasSqlType<Bool> + HasSqlType<Timestamp>,
    Option<i64>: ToSql<Nullable<BigInt>, DB>,
    Option<String>: ToSql<Nullable<Text>, DB>,
    bool: ToSql<Bool, DB>,
    Option<Moment>: ToSql<Nullable<Timestamp>, DB>,
    Vec<u8>: ToSql<Binary, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        if self.unbounded {
            out.unsafe_to_cache_prepared();
        }
        for piece in &self.pieces {
            match piece {
                Piece::Sql(sql) => out.push_sql(sql),
                Piece::Value(Value::Int(value)) => out.push_bind_param::<Nullable<BigInt>, _>(value)?,
                Piece::Value(Value::Text(value)) => out.push_bind_param::<Nullable<Text>, _>(value)?,
                Piece::Value(Value::Bool(value)) => out.push_bind_param::<Bool, _>(value)?,
                Piece::Value(Value::Moment(value)) => out.push_bind_param::<Nullable<Timestamp>, _>(value)?,
                Piece::Value(Value::Bytes(value)) => out.push_bind_param::<Binary, _>(value)?,
                Piece::Value(Value::Found(sql)) => out.push_sql(sql),
            }
        }
        Ok(())
    }
}

/// Value that is read by its position in a row.
pub(crate) trait Placed<DB: Backend>: Sized {
    /// Reads the value at a position.
    fn at<'a>(row: &impl Row<'a, DB>, place: usize) -> deserialize::Result<Self>;
}

/// Row of `by_place!`, or a part of a longer row.
pub(crate) trait PlacedRow<DB: Backend>: Sized {
    /// Reads the columns from `first` on.
    fn read_at<'a>(row: &impl Row<'a, DB>, first: usize) -> deserialize::Result<Self>;
}

macro_rules! placed {
    ($($value:ty as $sql:ty,)+) => {$(
        impl<DB: Backend> Placed<DB> for $value
        where
            Self: FromSql<$sql, DB>,
        {
            fn at<'a>(row: &impl Row<'a, DB>, place: usize) -> deserialize::Result<Self> {
                row.get_value::<$sql, Self, usize>(place)
            }
        }

        impl<DB: Backend> Placed<DB> for Option<$value>
        where
            $value: FromSql<$sql, DB>,
        {
            fn at<'a>(row: &impl Row<'a, DB>, place: usize) -> deserialize::Result<Self> {
                row.get_value::<Nullable<$sql>, Self, usize>(place)
            }
        }
    )+};
}

placed! {
    i64 as BigInt,
    i32 as Integer,
    bool as Bool,
    String as Text,
    Vec<u8> as Binary,
}

impl<DB: Backend> Placed<DB> for NaiveDateTime
where
    Moment: FromSql<Timestamp, DB>,
{
    fn at<'a>(row: &impl Row<'a, DB>, place: usize) -> deserialize::Result<Self> {
        row.get_value::<Timestamp, Moment, usize>(place).map(|moment| moment.0)
    }
}

impl<DB: Backend> Placed<DB> for Option<NaiveDateTime>
where
    Moment: FromSql<Timestamp, DB>,
{
    fn at<'a>(row: &impl Row<'a, DB>, place: usize) -> deserialize::Result<Self> {
        let moment = row.get_value::<Nullable<Timestamp>, Option<Moment>, usize>(place)?;
        Ok(moment.map(|moment| moment.0))
    }
}

/// Declares the row of a [`Statement`], with its columns in the order of the statement. Reading by name would compare
/// column names for every value of every row.
macro_rules! by_place {
    ($(#[$meta:meta])* $vis:vis struct $row:ident { $($open:vis $field:ident: $type:ty,)+ }) => {
        $(#[$meta])*
        $vis struct $row {
            $($open $field: $type,)+
        }

        impl<DB: diesel::backend::Backend> $crate::statement::PlacedRow<DB> for $row
        where
            $($type: $crate::statement::Placed<DB>,)+
        {
            fn read_at<'a>(row: &impl diesel::row::Row<'a, DB>, first: usize) -> diesel::deserialize::Result<Self> {
                let mut places = first..;
                let mut place = || places.next().ok_or(diesel::result::UnexpectedEndOfRow);
                Ok(Self { $($field: <$type as $crate::statement::Placed<DB>>::at(row, place()?)?,)+ })
            }
        }

        impl<DB: diesel::backend::Backend> diesel::QueryableByName<DB> for $row
        where
            $($type: $crate::statement::Placed<DB>,)+
        {
            fn build<'a>(row: &impl diesel::row::NamedRow<'a, DB>) -> diesel::deserialize::Result<Self> {
                <Self as $crate::statement::PlacedRow<DB>>::read_at(row, 0)
            }
        }
    };
}
pub(crate) use by_place;

/// Row of one value.
struct Scalar<T>(T);

impl<T: Placed<DB>, DB: Backend> QueryableByName<DB> for Scalar<T> {
    fn build<'a>(row: &impl NamedRow<'a, DB>) -> deserialize::Result<Self> {
        T::at(row, 0).map(Self)
    }
}

impl QueryId for Statement {
    type QueryId = ();

    /// Cached by its text.
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Statement {
    type SqlType = Untyped;
}

impl<Conn> RunQueryDsl<Conn> for Statement {}
