//! Next time at which the data of a storefront changes without a write.

use chrono::{DateTime, NaiveDateTime, Utc};
use kontor_kernel::{ProjectId, StoreError};

use crate::database::{Abort, Database, Extent};
use crate::decode;
use crate::statement::Statement;

/// Returns the next time at which an automatic discount or a slide starts or ends.
fn next(project: ProjectId, at: NaiveDateTime) -> Statement {
    let side = |column: &'static str, table: &'static str, active: &'static str| {
        Statement::new("SELECT min(t.")
            .sql(column)
            .sql(") AS moment FROM ")
            .sql(table)
            .sql(" t WHERE t.project_id = ")
            .value(project.get())
            .sql(active)
            .sql(" AND t.")
            .sql(column)
            .sql(" > ")
            .value(at)
    };
    let (applies, shows) = (" AND t.status = 'active' AND t.code IS NULL", " AND t.is_active = TRUE");
    Statement::new("SELECT min(s.moment) FROM (")
        .then(side("starts_at", "discounts", applies))
        .sql(" UNION ALL ")
        .then(side("ends_at", "discounts", applies))
        .sql(" UNION ALL ")
        .then(side("starts_at", "slides", shows))
        .sql(" UNION ALL ")
        .then(side("ends_at", "slides", shows))
        .sql(") AS s")
}

impl Database {
    /// Returns the next time at which the project's storefronts change without a write; `None` unless a discount or a
    /// slide starts or ends.
    pub async fn next_change(
        &self,
        project: ProjectId,
        at: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.expecting(Extent::Keys)
            .read(move |connection| {
                let next: Option<NaiveDateTime> = next(project, at.naive_utc()).scalar(connection)?;
                Ok::<_, Abort<StoreError>>(next.map(decode::moment))
            })
            .await
    }
}
