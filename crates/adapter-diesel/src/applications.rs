//! Queries about applications, and about integrations, that several domains share.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{ApplicationId, PaymentTypeId, ProjectId, ProjectScoped, StoreError, Word};
use kontor_organization::model::IntegrationKind;

use crate::database::{AnyConnection, Database};
use crate::records;
use crate::schema::applications;
use crate::statement::Statement;

/// Returns the project of an application.
pub(crate) fn project_of(connection: &mut AnyConnection, application: i64) -> QueryResult<Option<i64>> {
    applications::table.find(application).select(applications::project_id).first(connection).optional()
}

/// Returns the owner of an application, as several ports do.
pub(crate) async fn owner(
    database: &Database,
    application: ApplicationId,
) -> Result<Option<ProjectScoped<()>>, StoreError> {
    database
        .read(move |connection| {
            let project = project_of(connection, application.get())?;
            Ok(project.map(|project| records::of_project(project, Ok(()))).transpose()?)
        })
        .await
}

/// Returns `FROM` and `WHERE` of the payment types that an application accepts: those linked to it, or all of its
/// project if none is linked.
pub(crate) fn taken_by(project: ProjectId, application: ApplicationId) -> Statement {
    Statement::new(" FROM payment_types p WHERE p.project_id = ")
        .value(project.get())
        .sql(
            " AND (NOT EXISTS (SELECT 1 FROM application_payment_types a \
             WHERE a.project_id = p.project_id AND a.application_id = ",
        )
        .value(application.get())
        .sql(
            ") OR EXISTS (SELECT 1 FROM application_payment_types a \
             WHERE a.project_id = p.project_id AND a.application_id = ",
        )
        .value(application.get())
        .sql(" AND a.payment_type_id = p.id))")
}

/// Selects `is_online` of a payment type. Selects no row if the application does not accept it; without an application,
/// if the project does not have it.
pub(crate) fn is_paid_online(
    project: ProjectId,
    application: Option<ApplicationId>,
    id: Option<PaymentTypeId>,
) -> Statement {
    let own = match application {
        Some(application) => taken_by(project, application),
        None => Statement::new(" FROM payment_types p WHERE p.project_id = ").value(project.get()),
    };
    Statement::new("SELECT p.is_online").then(own).sql(" AND p.id = ").value(id.map(i64::from))
}

/// Schedules the subscriptions of an application that was activated or deactivated. This includes subscriptions being
/// charged or parked, whose plan may assume the old state. All of them show the new state, so they count as changed.
pub(crate) fn wake_subscriptions(
    connection: &mut AnyConnection,
    application: ApplicationId,
    at: NaiveDateTime,
) -> QueryResult<usize> {
    let owner = Statement::new("SELECT project_id FROM applications WHERE id = ").value(application.get());
    let Some(project) = owner.scalar::<i64>(connection).optional()? else { return Ok(0) };
    let its = Statement::new("SELECT id FROM subscriptions WHERE status <> 'canceled' AND application_id = ")
        .value(application.get())
        .sql(" AND project_id = ")
        .value(project)
        .sql(" ORDER BY id")
        .locked(connection, " FOR NO KEY UPDATE");
    let its: Vec<i64> = its.scalars(connection)?;
    Statement::new("UPDATE subscriptions SET version = version + 1, updated_at = ")
        .value(at)
        .sql(", wake_at = ")
        .value(at)
        .sql(" WHERE project_id = ")
        .value(project)
        .sql(" AND id")
        .among(&its)
        .run(connection)
}

/// Deletes the integration parameters, which include secrets, and then the integration links of owners of this kind in
/// the project. `numbers` selects the owners.
pub(crate) fn delete_integration_links(
    connection: &mut AnyConnection,
    project: ProjectId,
    kind: IntegrationKind,
    numbers: &Statement,
) -> QueryResult<()> {
    let of_owners = |statement: &'static str| {
        Statement::new(statement)
            .value(kind.word())
            .sql(" AND owner_id IN (")
            .then(numbers.clone())
            .sql(") AND project_id = ")
            .value(project.get())
    };
    of_owners("DELETE FROM integration_parameters WHERE link_id IN (SELECT id FROM integration_links WHERE owner = ")
        .sql(") AND project_id = ")
        .value(project.get())
        .run(connection)?;
    of_owners("DELETE FROM integration_links WHERE owner = ").run(connection)?;
    Ok(())
}
