//! Payments that require an operator.

use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ChargeId, ProjectId, StoreError};
use kontor_payments::model::ChargeProblem;

use super::charge_rows::{provider_id, purpose};
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;
use crate::schema::charges;

#[derive(Queryable, Selectable)]
#[diesel(table_name = charges)]
struct ConcernRow {
    id: i64,
    project_id: i64,
    purpose: String,
    purpose_id: i64,
    provider_payment_id: Option<String>,
    contradiction: Option<String>,
    concern_at: Option<NaiveDateTime>,
}

fn concerns(
    connection: &mut AnyConnection,
    project: Option<ProjectId>,
    most: u32,
) -> Result<Vec<ChargeProblem>, Abort<StoreError>> {
    let all = charges::table
        .filter(charges::concern_at.is_not_null())
        .order((charges::project_id, charges::id))
        .limit(most.into())
        .select(ConcernRow::as_select());
    let rows: Vec<ConcernRow> = match project {
        Some(project) => all.filter(charges::project_id.eq(project.get())).load(connection)?,
        None => all.load(connection)?,
    };
    let concern = |row: ConcernRow| {
        Ok(ChargeProblem {
            id: decode::id(row.id)?,
            project_id: decode::id(row.project_id)?,
            purpose: purpose(&row.purpose, row.purpose_id)?,
            provider_id: provider_id(row.provider_payment_id.as_deref())?,
            since: decode::moment(row.concern_at.unwrap_or_default()),
            why: row.contradiction.unwrap_or_default(),
        })
    };
    Ok(rows.into_iter().map(concern).collect::<Result<_, StoreError>>()?)
}

impl Database {
    /// Returns the payments that require an operator, of one project or of all, up to the given number.
    pub async fn payments_to_review(
        &self,
        project: Option<ProjectId>,
        most: u32,
    ) -> Result<Vec<ChargeProblem>, StoreError> {
        self.read(move |connection| concerns(connection, project, most)).await
    }

    /// Returns the number of payments that require an operator.
    pub async fn count_payments_to_review(&self) -> Result<u64, StoreError> {
        self.read(|connection| {
            let counted: i64 =
                charges::table.filter(charges::concern_at.is_not_null()).count().get_result(connection)?;
            Ok::<_, Abort<StoreError>>(counted.unsigned_abs())
        })
        .await
    }

    /// Removes a payment from the list after an operator has checked it. Its money and its history do not change.
    /// Returns `false` if it is not on the list.
    pub async fn close_payment_review(&self, id: ChargeId, at: DateTime<Utc>) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let concern = charges::table.filter(charges::id.eq(id.get())).filter(charges::concern_at.is_not_null());
            let settled = diesel::update(concern)
                .set((charges::concern_at.eq(None::<NaiveDateTime>), charges::updated_at.eq(at.naive_utc())))
                .execute(connection)?;
            Ok::<_, Abort<StoreError>>(settled == 1)
        })
        .await
    }
}
