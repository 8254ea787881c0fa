use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::history::Audited as _;
use kontor_kernel::{
    DeliverySubtypeId, DeliveryTypeId, Name, ProjectId, RecordError, Resource, Stamp, StoreError, Word as _, Zone,
};
use kontor_organization::DeliveryPriceError;
use kontor_organization::model::{
    DeliveryPrice, HoldHours, NewDeliveryPrice, PieceLimit, ProjectChange, ProjectSettings,
};
use kontor_organization::ports::ProjectSettingsStore;

use crate::database::{Abort, AnyConnection, Database, Topic};
use crate::decode;
use crate::histories;
use crate::locks::lock_project;
use crate::schema::{delivery_subtypes, delivery_types, projects};

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
