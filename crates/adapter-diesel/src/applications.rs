//! What every domain asks of applications.

use diesel::prelude::*;
use diesel::sql_types::Bool;
use kontor_kernel::{ApplicationId, PaymentTypeId, ProjectId};

use crate::database::AnyConnection;
use crate::schema::applications;
use crate::statement::{Statement, by_place};

/// The project of an application.
pub(crate) fn project_of(connection: &mut AnyConnection, application: i64) -> QueryResult<Option<i64>> {
    applications::table.find(application).select(applications::project_id).first(connection).optional()
}

/// `FROM` and `WHERE` of the payment types that an application takes: those linked to it, or all of its project when none is.
pub(crate) fn taken_by(project: ProjectId, application: ApplicationId) -> Statement {
    Statement::new(" FROM payment_types p WHERE p.project_id = ")
        .value(project.get())
        .sql(" AND (NOT EXISTS (SELECT 1 FROM application_payment_types a WHERE a.application_id = ")
        .value(application.get())
        .sql(") OR EXISTS (SELECT 1 FROM application_payment_types a WHERE a.application_id = ")
        .value(application.get())
        .sql(" AND a.payment_type_id = p.id))")
}

by_place! {
    struct TakenRow {
        is_online: bool as Bool,
    }
}

/// Returns whether a payment type is paid online. `None` if the application, or without one the project, does not take it.
pub(crate) fn is_paid_online(
    connection: &mut AnyConnection,
    project: ProjectId,
    application: Option<ApplicationId>,
    id: PaymentTypeId,
) -> QueryResult<Option<bool>> {
    let own = match application {
        Some(application) => taken_by(project, application),
        None => Statement::new(" FROM payment_types p WHERE p.project_id = ").value(project.get()),
    };
    let taken = Statement::new("SELECT p.is_online").then(own).sql(" AND p.id = ").value(id.get());
    let found: Option<TakenRow> = taken.row(connection).optional()?;
    Ok(found.map(|taken| taken.is_online))
}
