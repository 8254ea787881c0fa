//! What every domain asks of applications.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use kontor_kernel::{AppScope, PaymentTypeId};

use crate::database::AnyConnection;
use crate::schema::applications;
use crate::statement::{Statement, by_place};

by_place! {
    struct IdRow {
        id: i64 as BigInt,
    }
}

/// The project of an application.
pub(crate) fn project_of(connection: &mut AnyConnection, application: i64) -> QueryResult<Option<i64>> {
    applications::table.find(application).select(applications::project_id).first(connection).optional()
}

/// `FROM` and `WHERE` of the payment types that an application takes: those linked to it, or all of its project when none is.
pub(crate) fn taken_by(app: AppScope) -> Statement {
    Statement::new(" FROM payment_types p WHERE p.project_id = ")
        .value(app.project_id.get())
        .sql(" AND (NOT EXISTS (SELECT 1 FROM application_payment_types a WHERE a.application_id = ")
        .value(app.application_id.get())
        .sql(") OR EXISTS (SELECT 1 FROM application_payment_types a WHERE a.application_id = ")
        .value(app.application_id.get())
        .sql(" AND a.payment_type_id = p.id))")
}

/// Whether the application takes it.
pub(crate) fn is_taken(connection: &mut AnyConnection, app: AppScope, id: PaymentTypeId) -> QueryResult<bool> {
    let taken = Statement::new("SELECT p.id").then(taken_by(app)).sql(" AND p.id = ").value(id.get());
    let found: Option<IdRow> = taken.row(connection).optional()?;
    Ok(found.is_some_and(|taken| taken.id == id.get()))
}
