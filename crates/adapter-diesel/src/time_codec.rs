//! Timestamps, read and written faster than by format patterns.
//!
//! SQLite stores them as text. For each of them chrono parses the pattern again, which is a sixth of the work for a
//! tree of rows. The text is identical.

use std::fmt::Write as _;

use chrono::{Datelike as _, NaiveDate, NaiveDateTime, Timelike as _};
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::{Pg, PgValue};
use diesel::serialize::{self, Output, ToSql};
use diesel::sql_types::Timestamp;
use diesel::sqlite::{Sqlite, SqliteValue};

use crate::database::Backend;

/// UTC timestamp of a database column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Timestamp)]
pub(crate) struct Moment(pub NaiveDateTime);

impl FromSql<Timestamp, Pg> for Moment {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        FromSql::<Timestamp, Pg>::from_sql(value).map(Self)
    }
}

impl FromSql<Timestamp, Sqlite> for Moment {
    fn from_sql(mut value: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
        match parsed(value.read_text().as_bytes()) {
            Some(moment) => Ok(Self(moment)),
            // Other programs may write another format.
            None => FromSql::<Timestamp, Sqlite>::from_sql(value).map(Self),
        }
    }
}

impl FromSql<Timestamp, Backend> for Moment {
    fn from_sql(value: <Backend as diesel::backend::Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        FromSql::<Timestamp, Backend>::from_sql(value).map(Self)
    }
}

impl ToSql<Timestamp, Backend> for Moment {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Backend>) -> serialize::Result {
        ToSql::<Timestamp, Backend>::to_sql(&self.0, out)
    }
}

impl ToSql<Timestamp, Pg> for Moment {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Timestamp, Pg>::to_sql(&self.0, out)
    }
}

impl ToSql<Timestamp, Sqlite> for Moment {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(text(self.0)?);
        Ok(serialize::IsNull::No)
    }
}

/// Formats `2027-01-31 09:05:00`, with a fraction of 3, 6 or 9 digits if needed.
fn text(moment: NaiveDateTime) -> Result<String, std::fmt::Error> {
    let mut text = String::with_capacity(29);
    let (date, time) = (moment.date(), moment.time());
    if !(0..=9999).contains(&date.year()) {
        // Such years have a sign.
        write!(text, "{}", moment.format("%F %T%.f"))?;
        return Ok(text);
    }
    let mut push = |number: u32, digits: u32, mark: Option<char>| {
        text.extend(mark);
        text.extend((0..digits).rev().filter_map(|place| char::from_digit(number / 10_u32.pow(place) % 10, 10)));
    };
    push(date.year().unsigned_abs(), 4, None);
    push(date.month(), 2, Some('-'));
    push(date.day(), 2, Some('-'));
    push(time.hour(), 2, Some(' '));
    push(time.minute(), 2, Some(':'));
    // chrono stores a leap second as nanoseconds beyond one second.
    let (seconds, nanos) = (time.second() + time.nanosecond() / SECOND, time.nanosecond() % SECOND);
    push(seconds, 2, Some(':'));
    match nanos {
        0 => {}
        nanos if nanos % 1_000_000 == 0 => push(nanos / 1_000_000, 3, Some('.')),
        nanos if nanos % 1_000 == 0 => push(nanos / 1_000, 6, Some('.')),
        nanos => push(nanos, 9, Some('.')),
    }
    Ok(text)
}

const SECOND: u32 = 1_000_000_000;

/// Parses such a text; `None` if it has another format.
fn parsed(text: &[u8]) -> Option<NaiveDateTime> {
    let (whole, rest) = text.split_at_checked(19)?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b' ', h1, h2, b':', n1, n2, b':', s1, s2] = whole else {
        return None;
    };
    let number =
        |digits: &[&u8]| digits.iter().try_fold(0_u32, |sum, digit| Some(sum * 10 + char::from(**digit).to_digit(10)?));
    let date = NaiveDate::from_ymd_opt(
        i32::try_from(number(&[y1, y2, y3, y4])?).ok()?,
        number(&[m1, m2])?,
        number(&[d1, d2])?,
    )?;
    let nanos = match rest {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            let missing = u32::try_from(9 - digits.len()).ok()?;
            number(&digits.iter().collect::<Vec<_>>())? * 10_u32.pow(missing)
        }
        _ => return None,
    };
    date.and_hms_nano_opt(number(&[h1, h2])?, number(&[n1, n2])?, number(&[s1, s2])?, nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::DateTime;
    use diesel::prelude::*;
    use proptest::prelude::*;

    fn moments() -> impl Strategy<Value = NaiveDateTime> {
        let nanos = prop_oneof![
            Just(0),
            (0..1_000_u32).prop_map(|n| n * 1_000_000),
            (0..1_000_000_u32).prop_map(|n| n * 1_000),
            0..1_000_000_000_u32
        ];
        // From the year -100 to 10100.
        (-65_000_000_000_i64..256_000_000_000, nanos)
            .prop_map(|(seconds, nanos)| DateTime::from_timestamp(seconds, nanos).unwrap().naive_utc())
    }

    fn pattern(moment: NaiveDateTime) -> String {
        moment.format("%F %T%.f").to_string()
    }

    proptest! {
        #[test]
        fn a_moment_is_written_as_by_its_pattern_and_read_back(moment in moments()) {
            let written = text(moment).unwrap();
            prop_assert_eq!(&written, &pattern(moment));
            if let Some(read) = parsed(written.as_bytes()) {
                prop_assert_eq!(read, moment);
            } else {
                prop_assert!(moment.year() < 0 || moment.year() > 9999);
            }
        }

        #[test]
        fn parsing_agrees_with_the_pattern(text in "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,10})?") {
            if let Some(moment) = parsed(text.as_bytes()) {
                prop_assert_eq!(Ok(moment), NaiveDateTime::parse_from_str(&text, "%F %T%.f"));
            }
        }
    }

    #[test]
    fn a_leap_second_is_written_as_by_its_pattern() {
        let moment =
            NaiveDate::from_ymd_opt(2016, 12, 31).unwrap().and_hms_nano_opt(23, 59, 59, 1_500_000_000).unwrap();
        assert_eq!(text(moment).unwrap(), pattern(moment));
    }

    #[test]
    fn times_in_other_formats_are_read() {
        let mut sqlite = SqliteConnection::establish(":memory:").unwrap();
        for (stored, expected) in [
            ("'2027-01-31T09:05:00.25'", "2027-01-31 09:05:00.250"),
            ("'2027-01-31 09:05'", "2027-01-31 09:05:00"),
            ("'2027-01-31 09:05:00'", "2027-01-31 09:05:00"),
            ("2461436.5", "2027-01-31 00:00:00"),
        ] {
            let ask = diesel::select(diesel::dsl::sql::<Timestamp>(stored));
            let moment: Moment = ask.get_result(&mut sqlite).unwrap();
            assert_eq!(pattern(moment.0), expected);
        }
        let wrong = diesel::select(diesel::dsl::sql::<Timestamp>("'yesterday'"));
        assert!(wrong.get_result::<Moment>(&mut sqlite).is_err());
    }
}
