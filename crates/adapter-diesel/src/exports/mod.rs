//! Rows of exports: pages by id, with a fixed number of statements each.

mod customers;
mod orders;
mod stock;

use std::borrow::Cow;

use async_trait::async_trait;
use chrono::{DateTime, FixedOffset, NaiveDateTime, SecondsFormat};
use kontor_catalog::bulk::ports::ExportSource;
use kontor_catalog::bulk::{ExportCursor, ExportKind, ExportRow, ExportScope};
use kontor_catalog::spreadsheet::Content;
use kontor_kernel::{ProjectId, StoreError, Zone};

use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::statement::Statement;

/// Requested page.
struct ExportPage {
    project: i64,
    scope: ExportScope,
    after: ExportCursor,
    limit: u32,
}

impl ExportPage {
    /// Appends the limit to the statement of a page.
    fn limited(&self, rows: Statement) -> Statement {
        rows.sql(" LIMIT ").value(self.limit)
    }
}

#[async_trait]
impl ExportSource for Database {
    fn header(&self, kind: ExportKind) -> &'static [&'static str] {
        match kind {
            ExportKind::Stock => &stock::HEADER,
            ExportKind::Orders => &orders::HEADER,
            ExportKind::Customers => &customers::HEADER,
        }
    }

    async fn total(&self, project: ProjectId, scope: ExportScope) -> Result<u64, StoreError> {
        self.read(move |connection| {
            let project = project.get();
            let total = match scope.kind {
                ExportKind::Stock => stock::total(project),
                ExportKind::Orders => orders::total(project, scope, zone(connection, project)?),
                ExportKind::Customers => customers::total(project),
            };
            Ok::<_, Abort<StoreError>>(decode::count(total.scalar(connection)?)?)
        })
        .await
    }

    async fn rows(
        &self,
        project: ProjectId,
        scope: ExportScope,
        after: ExportCursor,
        limit: u32,
    ) -> Result<Vec<ExportRow>, StoreError> {
        let asked = ExportPage { project: project.get(), scope, after, limit };
        self.read(move |connection| match scope.kind {
            ExportKind::Stock => stock::rows(connection, &asked),
            ExportKind::Orders => orders::rows(connection, &asked),
            ExportKind::Customers => customers::rows(connection, &asked),
        })
        .await
    }
}

/// Returns the time zone of the project.
fn zone(connection: &mut AnyConnection, project: i64) -> Result<Zone, Abort<StoreError>> {
    let own = Statement::new("SELECT time_zone FROM projects WHERE id = ").value(project);
    let name: String = own.scalar(connection)?;
    Ok(Zone::parse(&name).map_err(StoreError::corrupt)?)
}

fn text(text: Option<String>) -> Content<'static> {
    text.filter(|text| !text.is_empty()).map_or(Content::Empty, |text| Content::Text(Cow::Owned(text)))
}

fn number(number: i64) -> Content<'static> {
    Content::Number(number.to_string())
}

fn money(minor: i64) -> Result<Content<'static>, StoreError> {
    Ok(Content::Number(decode::money(minor)?.to_string()))
}

/// Formats a time with the offset of the zone at that time, such as `2026-03-01T12:00:00+03:00`.
fn moment(zone: Zone, at: NaiveDateTime) -> Content<'static> {
    let at = decode::moment(at);
    let ahead = (zone.local(at) - at.naive_utc()).num_seconds();
    let offset = i32::try_from(ahead).ok().and_then(FixedOffset::east_opt);
    let shown: Option<DateTime<FixedOffset>> = offset.map(|offset| at.with_timezone(&offset));
    text(shown.map(|shown| shown.to_rfc3339_opts(SecondsFormat::Secs, false)))
}
