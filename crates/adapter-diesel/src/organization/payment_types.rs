//! Payment types that an application accepts: those linked to it, or all of its project if none is linked.

use std::collections::BTreeSet;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{AppScope, PaymentTypeId, StoreError};
use kontor_organization::model::{PaymentChoice, PaymentType};
use kontor_organization::{ApplicationError, ApplicationRefusal};

use crate::applications::taken_by;
use crate::database::{Abort, AnyConnection, Topic};
use crate::decode;
use crate::schema::{application_payment_types, applications, payment_types};
use crate::statement::Statement;
use crate::unreadable;

#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = payment_types)]
struct TypeRow {
    id: i64,
    name: String,
    description: Option<String>,
    photo: Option<String>,
    is_online: bool,
}

impl TryFrom<TypeRow> for PaymentType {
    type Error = StoreError;

    fn try_from(row: TypeRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            description: row.description,
            photo: row.photo,
            is_online: row.is_online,
        })
    }
}

pub(super) fn of_application(
    connection: &mut AnyConnection,
    app: AppScope,
) -> Result<Vec<PaymentType>, Abort<StoreError>> {
    let rows: Vec<TypeRow> = Statement::new("SELECT p.id, p.name, p.description, p.photo, p.is_online")
        .then(taken_by(app.project_id, app.application_id))
        .sql(" ORDER BY p.id")
        .load(connection)?;
    Ok(unreadable::rows("payment_types", rows, |row| row.id, PaymentType::try_from)?)
}

pub(super) fn choices(
    connection: &mut AnyConnection,
    application: i64,
) -> Result<Option<Vec<PaymentChoice>>, Abort<StoreError>> {
    let project: Option<i64> =
        applications::table.find(application).select(applications::project_id).first(connection).optional()?;
    let Some(project) = project else { return Ok(None) };
    let rows: Vec<TypeRow> = payment_types::table
        .filter(payment_types::project_id.eq(project))
        .order(payment_types::id)
        .select(TypeRow::as_select())
        .load(connection)?;
    let linked: Vec<i64> = application_payment_types::table
        .filter(application_payment_types::application_id.eq(application))
        .select(application_payment_types::payment_type_id)
        .load(connection)?;
    let choice = |row: TypeRow| {
        let is_taken = linked.is_empty() || linked.contains(&row.id);
        Ok::<_, StoreError>(PaymentChoice { payment_type: row.try_into()?, is_taken })
    };
    Ok(Some(unreadable::rows("payment_types", rows, |row| row.id, choice)?))
}

pub(super) fn choose(
    connection: &mut AnyConnection,
    application: i64,
    chosen: &BTreeSet<PaymentTypeId>,
    at: NaiveDateTime,
) -> Result<(), Abort<ApplicationError>> {
    // Access does not change. The row lock orders concurrent changes.
    connection.declare_unchanged(Topic::Access);
    let project: Option<i64> = diesel::update(applications::table.find(application))
        .set(applications::updated_at.eq(at))
        .returning(applications::project_id)
        .get_result(connection)
        .optional()?;
    let project = project.ok_or(Abort::Refused(ApplicationError::NotFound))?;
    connection.invalidate(Topic::Storefront, project);
    let ids: Vec<i64> = chosen.iter().map(|id| id.get()).collect();
    let known: i64 = payment_types::table
        .filter(payment_types::project_id.eq(project))
        .filter(payment_types::id.eq_any(&ids))
        .count()
        .get_result(connection)?;
    if usize::try_from(known) != Ok(ids.len()) {
        return Err(Abort::refused(ApplicationRefusal::UnknownPaymentType));
    }
    let linked = application_payment_types::table.filter(application_payment_types::application_id.eq(application));
    diesel::delete(linked).execute(connection)?;
    for id in ids {
        diesel::insert_into(application_payment_types::table)
            .values((
                application_payment_types::application_id.eq(application),
                application_payment_types::payment_type_id.eq(id),
            ))
            .execute(connection)?;
    }
    Ok(())
}
