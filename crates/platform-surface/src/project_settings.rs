//! Settings of the project.

use actix_web::{get, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::Word as _;
use kontor_organization::ProjectSettingsService;
use kontor_organization::model::{DeliveryPrice, NewDeliveryPrice, ProjectChange, ProjectSettings};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::wire::{self, InputErrors, NamedRecord, change_body};
use kontor_web::{Body, HistoryList, Service, SignedInStaff};

handlers! {
    fn usual_routes; ProjectSettingsService, "Project settings";

    /// Get the settings of the project
    read "/api/project" as show_project_settings = read() -> ProjectResponse;

    /// Update the settings of the project
    ///
    /// Fields that are not sent keep their values. Changes apply at once.
    update "/api/project" as update_project_settings(ChangedProject) = update(input) -> ProjectResponse;

    /// List the delivery prices of the project
    ///
    /// Each type is followed by its subtypes. If the project charges delivery, an order pays the price of its type and of
    /// its subtype.
    list "/api/project/delivery_prices" as list_delivery_prices = delivery_prices() -> DeliveryPriceList;

    /// List the history of the project's settings
    ///
    /// Newest first, including delivery prices and the charging settings of subscriptions. Changes by the command line have
    /// no entries.
    list "/api/project/history" as list_project_history = history(page) -> HistoryList;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    usual_routes(config);
    config.service(set_delivery_prices);
}

/// Settings of the project. Those of subscriptions are at `/api/subscriptions/settings`.
#[derive(Serialize, ToSchema)]
struct ProjectRecord {
    id: i64,
    name: String,
    /// ISO 4217 code of all amounts. It cannot be changed.
    #[schema(examples("RUB"))]
    currency: String,
    /// IANA name of the time zone in which the days of filters and reports begin. Shops may have their own.
    #[schema(examples("Europe/Moscow"))]
    time_zone: String,
    /// Language of messages to customers: `ru` or `en`.
    language: &'static str,
    /// `true` if changes and deletions of records require the header `If-Match`.
    if_match_required: bool,
    /// `true` if new orders include the price of their delivery.
    charges_delivery: bool,
    /// Maximum number of units that the unconfirmed contact form orders of one phone reserve together.
    contact_max_pieces: u32,
    /// Maximum total price of the unconfirmed contact form orders of one phone, decimal string.
    #[schema(examples("100000.00"))]
    contact_max_value: String,
    /// Hours until an unconfirmed contact form order is canceled.
    contact_hold_hours: u16,
    created_at: DateTime<Utc>,
}

impl From<ProjectSettings> for ProjectRecord {
    fn from(settings: ProjectSettings) -> Self {
        Self {
            id: settings.id.get(),
            name: settings.name.into(),
            currency: settings.currency,
            time_zone: settings.time_zone.name().to_owned(),
            language: settings.language.word(),
            if_match_required: settings.if_match_required,
            charges_delivery: settings.charges_delivery,
            contact_max_pieces: settings.contact_max_pieces.get(),
            contact_max_value: settings.contact_max_value.to_string(),
            contact_hold_hours: settings.contact_hold_hours.get(),
            created_at: settings.created_at,
        }
    }
}

one!(ProjectResponse { project: ProjectRecord });

change_body! {
    ChangedProject => ProjectChange {
        name: wire::Name,
        /// IANA name of the time zone in which the days of filters and reports begin.
        time_zone: wire::ZoneName,
        /// Language of messages to customers from now on.
        language: wire::Language,
        /// `true` if changes and deletions of records require the header `If-Match`, from the next request on.
        if_match_required: wire::Flag,
        /// `true` if new orders include the price of their delivery.
        charges_delivery: wire::Flag,
        /// Maximum number of units that the unconfirmed contact form orders of one phone reserve together.
        contact_max_pieces: wire::PieceLimit,
        /// Maximum total price of the unconfirmed contact form orders of one phone.
        contact_max_value: wire::Money,
        /// Hours until an unconfirmed contact form order is canceled. Applies to new orders.
        contact_hold_hours: wire::HoldHours,
    }
}

/// Price of a delivery type or of one of its subtypes.
#[derive(Serialize, ToSchema)]
struct DeliveryPriceRecord {
    delivery_type: NamedRecord,
    /// `null` for the price of the type itself.
    delivery_subtype: Option<NamedRecord>,
    /// Decimal string.
    #[schema(examples("300.00"))]
    price: String,
}

impl From<DeliveryPrice> for DeliveryPriceRecord {
    fn from(price: DeliveryPrice) -> Self {
        let (id, name) = price.delivery_type;
        Self {
            delivery_type: NamedRecord::new(id, name),
            delivery_subtype: price.subtype.map(|(id, name)| NamedRecord::new(id, name)),
            price: price.price.to_string(),
        }
    }
}

list!(DeliveryPriceList { delivery_prices: [DeliveryPriceRecord], delivery_prices_count });

/// Price to set.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct DeliveryPriceInput {
    delivery_type_id: wire::DeliveryTypeId,
    /// Subtype of the delivery type. Without it, the price of the type itself is set.
    #[deserr(default)]
    delivery_subtype_id: Option<wire::DeliverySubtypeId>,
    price: wire::Money,
}

/// Prices to set.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct DeliveryPricesInput {
    delivery_prices: Vec<DeliveryPriceInput>,
}

impl From<DeliveryPriceInput> for NewDeliveryPrice {
    fn from(input: DeliveryPriceInput) -> Self {
        Self {
            type_id: input.delivery_type_id.0,
            subtype_id: input.delivery_subtype_id.map(|id| id.0),
            price: input.price.0,
        }
    }
}

/// Set delivery prices of the project
///
/// Prices that are not sent keep their values. New orders pay the new prices. They share the version and the history of
/// the settings of the project.
#[utoipa::path(
    tag = "Project settings",
    request_body = DeliveryPricesInput,
    responses((status = 200, body = DeliveryPriceList)),
)]
#[put("/api/project/delivery_prices")]
async fn set_delivery_prices(
    staff: SignedInStaff,
    service: Service<ProjectSettingsService>,
    body: Body<DeliveryPricesInput>,
) -> Answer<DeliveryPriceList> {
    let prices = body.0.delivery_prices.into_iter().map(Into::into).collect();
    answer(service.set_delivery_prices(&staff, prices).await?)
}
