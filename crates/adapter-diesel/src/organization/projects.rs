//! Projects and their settings.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::history::Audited as _;
use kontor_kernel::{
    DeliverySubtypeId, DeliveryTypeId, Language, Name, ProjectId, RecordError, Resource, Stamp, StoreError, Word as _,
    Zone,
};
use kontor_organization::DeliveryPriceError;
use kontor_organization::model::{
    DeliveryPrice, HoldHours, NewDeliveryPrice, PieceLimit, PlannedPaymentType, ProjectChange, ProjectPlan,
    ProjectRecords, ProjectSettings,
};
use kontor_organization::ports::{ProjectRepository, ProjectSettingsStore};

use crate::collation::sort_key;
use crate::database::{Abort, AnyConnection, Database, Topic, found};
use crate::locks::lock_project;
use crate::schema::{applications, branches, delivery_subtypes, delivery_types, payment_types, projects, users};
use crate::{decode, histories};

/// Currency of new projects, as required by the acquirer.
const CURRENCY: &str = "RUB";

#[async_trait]
impl ProjectRepository for Database {
    async fn create_project(&self, plan: ProjectPlan, at: DateTime<Utc>) -> Result<ProjectRecords, StoreError> {
        self.write(move |connection| {
            let at = at.naive_utc();
            let project: i64 = diesel::insert_into(projects::table)
                .values((
                    projects::name.eq(plan.name.as_str()),
                    projects::currency.eq(CURRENCY),
                    projects::created_at.eq(at),
                ))
                .returning(projects::id)
                .get_result(connection)?;
            let branch: i64 = diesel::insert_into(branches::table)
                .values((
                    branches::project_id.eq(project),
                    branches::name.eq(plan.name.as_str()),
                    branches::name_key.eq(plan.name.key()),
                    branches::sort_key.eq(sort_key(&plan.name)),
                    branches::created_at.eq(at),
                    branches::updated_at.eq(at),
                ))
                .returning(branches::id)
                .get_result(connection)?;
            let application: i64 = diesel::insert_into(applications::table)
                .values((
                    applications::project_id.eq(project),
                    applications::branch_id.eq(branch),
                    applications::name.eq(plan.name.as_str()),
                    applications::token_fingerprint.eq(&plan.token_fingerprint),
                    applications::is_active.eq(true),
                    applications::wholesale.eq(false),
                    applications::created_at.eq(at),
                    applications::updated_at.eq(at),
                ))
                .returning(applications::id)
                .get_result(connection)?;
            let project_id: ProjectId = decode::id(project)?;
            insert_checkout_options(connection, project_id, &plan)?;
            Ok(ProjectRecords { project_id, branch_id: decode::id(branch)?, application_id: decode::id(application)? })
        })
        .await
    }

    async fn set_time_zone(&self, project: ProjectId, zone: Zone) -> Result<bool, StoreError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Storefront, project.get());
            let own = projects::table.find(project.get());
            let zone = projects::time_zone.eq(zone.name());
            Ok(diesel::update(own).set((zone, projects::version.eq(projects::version + 1))).execute(connection)? == 1)
        })
        .await
    }

    async fn set_language(&self, project: ProjectId, language: Language) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let own = projects::table.find(project.get());
            let word = projects::language.eq(language.word());
            Ok(diesel::update(own).set((word, projects::version.eq(projects::version + 1))).execute(connection)? == 1)
        })
        .await
    }

    async fn require_if_match(&self, project: ProjectId, required: bool) -> Result<bool, StoreError> {
        self.write(move |connection| {
            connection.invalidate(Topic::Access, project.get());
            let own = projects::table.find(project.get());
            let flag = projects::if_match_required.eq(required);
            Ok(diesel::update(own).set((flag, projects::version.eq(projects::version + 1))).execute(connection)? == 1)
        })
        .await
    }

    async fn abandon(&self, project: ProjectId) -> Result<(), StoreError> {
        self.write(move |connection| {
            let project = project.get();
            connection.invalidate(Topic::Access, project);
            connection.invalidate(Topic::Storefront, project);
            let staffed = users::table.filter(users::project_id.eq(project));
            if found!(connection, staffed)? {
                return Ok(());
            }
            diesel::delete(payment_types::table.filter(payment_types::project_id.eq(project))).execute(connection)?;
            let subtypes = delivery_subtypes::table.filter(delivery_subtypes::project_id.eq(project));
            diesel::delete(subtypes).execute(connection)?;
            diesel::delete(delivery_types::table.filter(delivery_types::project_id.eq(project))).execute(connection)?;
            diesel::delete(applications::table.filter(applications::project_id.eq(project))).execute(connection)?;
            diesel::delete(branches::table.filter(branches::project_id.eq(project))).execute(connection)?;
            diesel::delete(projects::table.find(project)).execute(connection)?;
            Ok(())
        })
        .await
    }
}

fn insert_checkout_options(connection: &mut AnyConnection, project: ProjectId, plan: &ProjectPlan) -> QueryResult<()> {
    let project = project.get();
    for (id, name) in &plan.delivery_types {
        insert_delivery_type(connection, project, *id, name)?;
    }
    for (id, delivery_type, name) in &plan.delivery_subtypes {
        insert_delivery_subtype(connection, project, *id, *delivery_type, name)?;
    }
    for planned in &plan.payment_types {
        insert_payment_type(connection, project, planned)?;
    }
    Ok(())
}

/// Inserts an active delivery type without a price.
pub(crate) fn insert_delivery_type(
    connection: &mut AnyConnection,
    project: i64,
    id: i64,
    name: &str,
) -> QueryResult<usize> {
    diesel::insert_into(delivery_types::table)
        .values((
            delivery_types::project_id.eq(project),
            delivery_types::id.eq(id),
            delivery_types::name.eq(name),
            delivery_types::price.eq(0),
            delivery_types::is_active.eq(true),
        ))
        .execute(connection)
}

/// Inserts an active delivery subtype without a price.
pub(crate) fn insert_delivery_subtype(
    connection: &mut AnyConnection,
    project: i64,
    id: i64,
    delivery_type: i64,
    name: &str,
) -> QueryResult<usize> {
    diesel::insert_into(delivery_subtypes::table)
        .values((
            delivery_subtypes::project_id.eq(project),
            delivery_subtypes::id.eq(id),
            delivery_subtypes::delivery_type_id.eq(delivery_type),
            delivery_subtypes::name.eq(name),
            delivery_subtypes::price.eq(0),
            delivery_subtypes::is_active.eq(true),
        ))
        .execute(connection)
}

/// Inserts a payment type.
pub(crate) fn insert_payment_type(
    connection: &mut AnyConnection,
    project: i64,
    planned: &PlannedPaymentType,
) -> QueryResult<usize> {
    diesel::insert_into(payment_types::table)
        .values((
            payment_types::project_id.eq(project),
            payment_types::name.eq(planned.name),
            payment_types::description.eq(planned.description),
            payment_types::is_online.eq(planned.is_online),
        ))
        .execute(connection)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = projects)]
struct SettingsRow {
    id: i64,
    name: String,
    currency: String,
    created_at: NaiveDateTime,
    time_zone: String,
    language: String,
    if_match_required: bool,
    contact_max_pieces: i64,
    contact_max_value: i64,
    contact_hold_hours: i64,
    charges_delivery: bool,
}

impl TryFrom<SettingsRow> for ProjectSettings {
    type Error = StoreError;

    fn try_from(row: SettingsRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            name: decode::text(&row.name)?,
            currency: row.currency,
            time_zone: Zone::parse(&row.time_zone).map_err(StoreError::corrupt)?,
            language: decode::word("projects", row.id, "language", &row.language)?,
            if_match_required: row.if_match_required,
            charges_delivery: row.charges_delivery,
            contact_max_pieces: PieceLimit::new(row.contact_max_pieces).map_err(StoreError::corrupt)?,
            contact_max_value: decode::money(row.contact_max_value)?,
            contact_hold_hours: HoldHours::new(row.contact_hold_hours).map_err(StoreError::corrupt)?,
            created_at: decode::moment(row.created_at),
        })
    }
}

fn load<R>(connection: &mut AnyConnection, project: ProjectId) -> Result<Option<ProjectSettings>, Abort<R>> {
    let row: Option<SettingsRow> =
        projects::table.find(project.get()).select(SettingsRow::as_select()).first(connection).optional()?;
    Ok(row.map(ProjectSettings::try_from).transpose()?)
}

/// As [`load`], for a project that must exist.
fn required(connection: &mut AnyConnection, project: ProjectId) -> Result<ProjectSettings, Abort<RecordError>> {
    load(connection, project)?.ok_or(Abort::Refused(RecordError::NotFound))
}

fn delivery_prices<R>(connection: &mut AnyConnection, project: ProjectId) -> Result<Vec<DeliveryPrice>, Abort<R>> {
    let types: Vec<(i64, String, i64)> = delivery_types::table
        .filter(delivery_types::project_id.eq(project.get()))
        .order(delivery_types::id)
        .select((delivery_types::id, delivery_types::name, delivery_types::price))
        .load(connection)?;
    let subtypes: Vec<(i64, i64, String, i64)> = delivery_subtypes::table
        .filter(delivery_subtypes::project_id.eq(project.get()))
        .order(delivery_subtypes::id)
        .select((
            delivery_subtypes::delivery_type_id,
            delivery_subtypes::id,
            delivery_subtypes::name,
            delivery_subtypes::price,
        ))
        .load(connection)?;
    let mut prices = Vec::new();
    for (id, name, price) in types {
        let delivery_type: (DeliveryTypeId, Name) = (decode::id(id)?, decode::text(&name)?);
        let price = decode::money(price)?;
        prices.push(DeliveryPrice { delivery_type: delivery_type.clone(), subtype: None, price });
        for (_, subtype, name, price) in subtypes.iter().filter(|(of, ..)| *of == id) {
            let subtype = Some((decode::id(*subtype)?, decode::text(name)?));
            let price = decode::money(*price)?;
            prices.push(DeliveryPrice { delivery_type: delivery_type.clone(), subtype, price });
        }
    }
    Ok(prices)
}

fn set_price(connection: &mut AnyConnection, project: ProjectId, new: &NewDeliveryPrice) -> QueryResult<usize> {
    let price = new.price.minor();
    match new.subtype_id.map(DeliverySubtypeId::get) {
        None => diesel::update(delivery_types::table.find((project.get(), new.type_id.get())))
            .set(delivery_types::price.eq(price))
            .execute(connection),
        Some(id) => diesel::update(delivery_subtypes::table.find((project.get(), id)))
            .set(delivery_subtypes::price.eq(price))
            .execute(connection),
    }
}

#[async_trait]
impl ProjectSettingsStore for Database {
    async fn project_settings(&self, project: ProjectId) -> Result<Option<ProjectSettings>, StoreError> {
        self.read(move |connection| load(connection, project)).await
    }

    async fn change_project_settings(
        &self,
        stamp: Stamp,
        change: ProjectChange,
    ) -> Result<ProjectSettings, RecordError> {
        self.write(move |connection| {
            let project = stamp.project_id;
            // Storefronts show the days of the time zone, and processes cache if the project requires `If-Match`.
            histories::invalidate_shown(connection, &stamp, ProjectSettings::RESOURCE);
            connection.invalidate(Topic::Access, project.get());
            lock_project(connection, project)?;
            let before = required(connection, project)?;
            diesel::update(projects::table.find(project.get()))
                .set((
                    change.name.as_set().map(|name| projects::name.eq(name.as_str())),
                    change.time_zone.as_set().map(|zone| projects::time_zone.eq(zone.name())),
                    change.language.as_set().map(|language| projects::language.eq(language.word())),
                    change.if_match_required.as_set().map(|required| projects::if_match_required.eq(*required)),
                    change.charges_delivery.as_set().map(|charges| projects::charges_delivery.eq(*charges)),
                    change
                        .contact_max_pieces
                        .as_set()
                        .map(|limit| projects::contact_max_pieces.eq(i64::from(limit.get()))),
                    change.contact_max_value.as_set().map(|value| projects::contact_max_value.eq(value.minor())),
                    change
                        .contact_hold_hours
                        .as_set()
                        .map(|hours| projects::contact_hold_hours.eq(i64::from(hours.get()))),
                    projects::version.eq(projects::version + 1),
                ))
                .execute(connection)?;
            let after = required(connection, project)?;
            histories::changed(connection, &stamp, &before, &after)?;
            Ok(after)
        })
        .await
    }

    async fn delivery_prices(&self, project: ProjectId) -> Result<Vec<DeliveryPrice>, StoreError> {
        self.read(move |connection| delivery_prices(connection, project)).await
    }

    async fn set_delivery_prices(
        &self,
        stamp: Stamp,
        prices: Vec<NewDeliveryPrice>,
    ) -> Result<Vec<DeliveryPrice>, DeliveryPriceError> {
        self.write(move |connection| {
            let project = stamp.project_id;
            // Storefronts show the prices.
            histories::invalidate_shown(connection, &stamp, Resource::Settings);
            lock_project(connection, project)?;
            let stored: Vec<DeliveryPrice> = delivery_prices(connection, project)?;
            let changed = DeliveryPrice::changed_by(&stored, &prices)
                .map_err(|refusal| Abort::Refused(DeliveryPriceError::Refused(refusal)))?;
            for (new, _) in &changed {
                set_price(connection, project, new)?;
            }
            // The prices share the version and the history of the other settings.
            diesel::update(projects::table.find(project.get()))
                .set(projects::version.eq(projects::version + 1))
                .execute(connection)?;
            let entries = changed.into_iter().map(|(_, entry)| entry).collect();
            histories::changed_many(connection, &stamp, Resource::Settings, &[(project.get(), entries)])?;
            delivery_prices(connection, project)
        })
        .await
    }
}
