//! Options of the checkout: delivery types, and payment types that an application accepts: those linked to it, or all
//! of its project if none is linked.

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::prelude::*;
use kontor_kernel::history::{AuditedField, changed_fields};
use kontor_kernel::{
    AppScope, ApplicationId, DeliverySubtypeId, DeliveryTypeId, PaymentTypeId, PhotoUrl, ProjectId, ProjectScoped,
    Resource, Stamp, StoreError,
};
use kontor_organization::model::{DeliverySubtype, DeliverySubtypeParam, DeliveryType, PaymentChoice, PaymentType};
use kontor_organization::ports::CheckoutOptionRepository;
use kontor_organization::{ApplicationError, ApplicationRefusal};

use crate::applications::taken_by;
use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::records::{self, Inserted, RepositoryRecord, StoredRecord, Written};
use crate::schema::{
    application_payment_types, applications, delivery_subtype_params, delivery_subtypes, delivery_types, keyed,
    payment_types,
};
use crate::statement::Statement;
use crate::{decode, histories, unreadable};

type OptionRow = (i64, String, i64, bool);

fn delivery_type((id, name, price, is_active): OptionRow) -> Result<DeliveryType, StoreError> {
    Ok(DeliveryType { id: decode::id(id)?, name: decode::text(&name)?, price: decode::money(price)?, is_active })
}

fn subtype((id, name, price, is_active): OptionRow) -> Result<DeliverySubtype, StoreError> {
    Ok(DeliverySubtype { id: decode::id(id)?, name: decode::text(&name)?, price: decode::money(price)?, is_active })
}

const SUBTYPE: (
    delivery_subtypes::id,
    delivery_subtypes::name,
    delivery_subtypes::price,
    delivery_subtypes::is_active,
) = (delivery_subtypes::id, delivery_subtypes::name, delivery_subtypes::price, delivery_subtypes::is_active);

#[async_trait]
impl CheckoutOptionRepository for Database {
    async fn delivery_types(&self, project: ProjectId) -> Result<Vec<DeliveryType>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<OptionRow> = delivery_types::table
                .filter(delivery_types::project_id.eq(project.get()))
                .order(delivery_types::id)
                .select((delivery_types::id, delivery_types::name, delivery_types::price, delivery_types::is_active))
                .load(connection)?;
            rows.into_iter().map(|row| delivery_type(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn delivery_subtypes(
        &self,
        project: ProjectId,
        delivery_type: DeliveryTypeId,
    ) -> Result<Vec<DeliverySubtype>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<OptionRow> = delivery_subtypes::table
                .filter(delivery_subtypes::project_id.eq(project.get()))
                .filter(delivery_subtypes::delivery_type_id.eq(delivery_type.get()))
                .order(delivery_subtypes::id)
                .select(SUBTYPE)
                .load(connection)?;
            rows.into_iter().map(|row| subtype(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn delivery_subtype(
        &self,
        project: ProjectId,
        id: DeliverySubtypeId,
    ) -> Result<Option<DeliverySubtype>, StoreError> {
        self.read(move |connection| {
            let row: Option<OptionRow> = delivery_subtypes::table
                .find((project.get(), id.get()))
                .select(SUBTYPE)
                .first(connection)
                .optional()?;
            Ok(row.map(subtype).transpose()?)
        })
        .await
    }

    async fn delivery_subtype_params(
        &self,
        project: ProjectId,
        subtype: DeliverySubtypeId,
    ) -> Result<Vec<DeliverySubtypeParam>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<(i64, String, Option<String>, bool)> = delivery_subtype_params::table
                .filter(delivery_subtype_params::project_id.eq(project.get()))
                .filter(delivery_subtype_params::delivery_subtype_id.eq(subtype.get()))
                .order(delivery_subtype_params::id)
                .select((
                    delivery_subtype_params::id,
                    delivery_subtype_params::name,
                    delivery_subtype_params::address,
                    delivery_subtype_params::is_active,
                ))
                .load(connection)?;
            rows.into_iter()
                .map(|(id, name, address, is_active)| {
                    Ok(DeliverySubtypeParam { id: decode::id(id)?, name: decode::text(&name)?, address, is_active })
                })
                .collect()
        })
        .await
    }

    async fn payment_types(&self, app: AppScope) -> Result<Vec<PaymentType>, StoreError> {
        self.read(move |connection| of_application(connection, app)).await
    }

    async fn payment_choices(&self, id: ApplicationId) -> Result<Option<Vec<PaymentChoice>>, StoreError> {
        self.read(move |connection| Ok(choices(connection, id.get())?.map(|(_, choices)| choices))).await
    }

    async fn scoped_payment_choices(
        &self,
        id: ApplicationId,
    ) -> Result<Option<ProjectScoped<Vec<PaymentChoice>>>, StoreError> {
        self.read(move |connection| {
            let found = choices(connection, id.get())?;
            Ok::<_, Abort<StoreError>>(found.map(|(project, choices)| ProjectScoped::new(project, choices)))
        })
        .await
    }

    async fn choose_payment_types(
        &self,
        stamp: Stamp,
        id: ApplicationId,
        chosen: BTreeSet<PaymentTypeId>,
    ) -> Result<(), ApplicationError> {
        self.write(move |connection| choose(connection, &stamp, id.get(), &chosen)).await
    }
}

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

fn of_application(connection: &mut AnyConnection, app: AppScope) -> Result<Vec<PaymentType>, Abort<StoreError>> {
    let rows: Vec<TypeRow> = Statement::new("SELECT p.id, p.name, p.description, p.photo, p.is_online")
        .then(taken_by(app.project_id, app.application_id))
        .sql(" ORDER BY p.id")
        .load(connection)?;
    Ok(unreadable::rows("payment_types", rows, |row| row.id, PaymentType::try_from)?)
}

/// Returns the payment types of the application's project, and the project.
pub(super) fn choices(
    connection: &mut AnyConnection,
    application: i64,
) -> Result<Option<(ProjectId, Vec<PaymentChoice>)>, Abort<StoreError>> {
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
    let choices = unreadable::rows("payment_types", rows, |row| row.id, choice)?;
    Ok(Some((decode::id(project)?, choices)))
}

fn choose(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    application: i64,
    chosen: &BTreeSet<PaymentTypeId>,
) -> Result<(), Abort<ApplicationError>> {
    // Access does not change. The row lock orders concurrent changes.
    connection.declare_unchanged(Topic::Access);
    let project = stamp.project_id.get();
    let written = diesel::update(keyed!(applications, application, stamp.project_id))
        .set((applications::version.eq(applications::version + 1), applications::updated_at.eq(stamp.at.naive_utc())))
        .execute(connection)?;
    if written == 0 {
        return Err(Abort::Refused(ApplicationError::NotFound));
    }
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
    let linked = || {
        application_payment_types::table
            .filter(application_payment_types::application_id.eq(application))
            .filter(application_payment_types::project_id.eq(project))
    };
    let before: Vec<i64> = linked()
        .order(application_payment_types::payment_type_id)
        .select(application_payment_types::payment_type_id)
        .load(connection)?;
    diesel::delete(linked()).execute(connection)?;
    for id in &ids {
        diesel::insert_into(application_payment_types::table)
            .values((
                application_payment_types::project_id.eq(project),
                application_payment_types::application_id.eq(application),
                application_payment_types::payment_type_id.eq(*id),
            ))
            .execute(connection)?;
    }
    let changes = changed_fields(vec![accepted(&before)], vec![accepted(&ids)]);
    histories::changed_many(connection, stamp, Resource::Applications, &[(application, changes)])
}

/// Returns the accepted payment types as the history shows them; empty if all are accepted.
fn accepted(ids: &[i64]) -> AuditedField {
    let list = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    ("payment_type_ids", Some(list).filter(|list| !list.is_empty()))
}

impl StoredRecord for PaymentType {
    const TABLE: &'static str = "payment_types";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row: Option<(i64, TypeRow)> = payment_types::table
            .find(id)
            .select((payment_types::project_id, TypeRow::as_select()))
            .first(connection)
            .optional()?;
        Ok(row.map(|(project, row)| records::of_project(project, row.try_into())).transpose()?)
    }
}

impl RepositoryRecord for PaymentType {
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>> {
        let rows: Vec<TypeRow> = payment_types::table
            .filter(payment_types::project_id.eq(project))
            .order(payment_types::id)
            .select(TypeRow::as_select())
            .load(connection)?;
        Ok(unreadable::rows("payment_types", rows, |row| row.id, Self::try_from)?)
    }

    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &Self::Draft) -> Inserted<Self> {
        Ok(diesel::insert_into(payment_types::table)
            .values((
                payment_types::project_id.eq(stamp.project_id.get()),
                payment_types::name.eq(draft.name.as_str()),
                payment_types::description.eq(draft.description.as_deref()),
                payment_types::photo.eq(draft.photo.as_ref().map(PhotoUrl::as_str)),
                payment_types::is_online.eq(draft.is_online),
            ))
            .returning(payment_types::id)
            .get_result(connection)?)
    }

    fn update(connection: &mut AnyConnection, stamp: &Stamp, before: &Self, change: &Self::Change) -> Written<Self> {
        Ok(diesel::update(keyed!(payment_types, before.id.get(), stamp.project_id))
            .set((
                change.name.as_set().map(|name| payment_types::name.eq(name.as_str())),
                change.description.as_set().map(|text| payment_types::description.eq(text.as_deref())),
                change.photo.as_set().map(|photo| payment_types::photo.eq(photo.as_ref().map(PhotoUrl::as_str))),
                change.is_online.as_set().map(|online| payment_types::is_online.eq(*online)),
                payment_types::version.eq(payment_types::version + 1),
            ))
            .execute(connection)?)
    }
}
