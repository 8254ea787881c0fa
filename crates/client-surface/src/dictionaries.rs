//! Dictionaries of an application in one response, and its settings.

use actix_web::get;
use actix_web::web::{Data, Json};
use kontor_catalog::storefront::{ShowcaseService, StorefrontService};
use kontor_organization::{CheckoutOptions, ShopService};
use kontor_web::envelope::{Answer, answer};
use kontor_web::records::DeliveryOptionRecord;
use kontor_web::{CallingApp, Service};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::products::TagRecord;
use super::showcase::{CountryRecord, StorefrontBrandRecord, StorefrontCategoryRecord};
use crate::delivery::PaymentTypeRecord;
use crate::showcase::ShopRecord;

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_settings).service(list_dictionaries);
}

/// Dictionaries of the storefront. Each has the same key and records as in the response of its own endpoint.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Dictionaries {
    /// Root categories only.
    categories: Vec<StorefrontCategoryRecord>,
    categories_count: usize,
    brands: Vec<StorefrontBrandRecord>,
    brands_count: usize,
    countries: Vec<CountryRecord>,
    countries_count: usize,
    tags: Vec<TagRecord>,
    tags_count: usize,
    delivery_types: Vec<DeliveryOptionRecord>,
    delivery_types_count: usize,
    payment_types: Vec<PaymentTypeRecord>,
    payment_types_count: usize,
    shops: Vec<ShopRecord>,
    shops_count: usize,
}

fn records<T, Record: From<T>>(found: Vec<T>) -> Vec<Record> {
    found.into_iter().map(Into::into).collect()
}

/// List all storefront dictionaries
///
/// Returns in one response every storefront dictionary that takes no parameters.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = Dictionaries)))]
#[get("/api/counterparty/dictionaries")]
async fn list_dictionaries(
    app: CallingApp,
    storefront: Data<StorefrontService>,
    showcase: Service<ShowcaseService>,
    checkout: Service<CheckoutOptions>,
    shops: Service<ShopService>,
) -> Answer<Dictionaries> {
    let categories: Vec<StorefrontCategoryRecord> = records(storefront.categories(*app, None, None).await?);
    let brands: Vec<StorefrontBrandRecord> = records(storefront.brands(*app, None).await?);
    let countries: Vec<CountryRecord> = records(showcase.countries().await?);
    let tags: Vec<TagRecord> = records(showcase.tags(*app).await?);
    let delivery_types: Vec<DeliveryOptionRecord> = records(checkout.delivery_types(*app).await?);
    let payment_types: Vec<PaymentTypeRecord> = records(checkout.payment_types(*app).await?);
    let shops: Vec<ShopRecord> = records(shops.list(*app).await?);
    answer(Dictionaries {
        categories_count: categories.len(),
        categories,
        brands_count: brands.len(),
        brands,
        countries_count: countries.len(),
        countries,
        tags_count: tags.len(),
        tags,
        delivery_types_count: delivery_types.len(),
        delivery_types,
        payment_types_count: payment_types.len(),
        payment_types,
        shops_count: shops.len(),
        shops,
    })
}

#[derive(Serialize, ToSchema)]
struct ClientSettings {
    /// `true` if the application sells wholesale.
    wholesale: bool,
}

/// Get the application's settings
///
/// Use it to check an App Token.
#[utoipa::path(tag = "Client: settings", responses((status = 200, body = ClientSettings)))]
#[get("/api/counterparty/settings")]
async fn show_settings(app: CallingApp) -> Json<ClientSettings> {
    Json(ClientSettings { wholesale: app.wholesale })
}
