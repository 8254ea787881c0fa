//! Items of the catalog: goods, services and subscription plans.

mod input;

use actix_web::{get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_catalog::NomenclatureService;
use kontor_catalog::model::{BillingPeriod, Nomenclature, NomenclatureKind, Packaging, Reference};
use kontor_kernel::listing::Sort;
use kontor_kernel::{BrandId, CategoryId, Listing, NomenclatureTypeId};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::paging::{PageSize, page_of};
use kontor_web::path::below;
use kontor_web::records::StorageUnitRecord;
use kontor_web::wire::{self, InputErrors, NamedRecord, PhotoRecord};
use kontor_web::{Body, HistoryList, Service, SignedInStaff};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use self::input::{ChangedNomenclature, NewNomenclature};
use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, list_params};

handlers! {
    fn table_routes; NomenclatureService, "Catalog";

    /// List items as a table
    table "/api/tables/nomenclatures" as list_nomenclatures_table(NomenclatureParams) = list() -> TABLE;
}

handlers! {
    fn usual_routes; NomenclatureService, "Catalog";

    /// List items
    list "/api/nomenclatures" as list_nomenclatures = list(rows NomenclatureParams TABLE 100) -> NomenclatureList;

    /// Get an item
    read "/api/nomenclatures/{id}" as show_nomenclature -> NomenclatureResponse;

    /// Update an item
    ///
    /// Fields that are not sent keep their values.
    update "/api/nomenclatures/{id}" as update_nomenclature(ChangedNomenclature) -> NomenclatureResponse
        zero ["type_id", "category_id", "brand_id", "country_id", "storage_unit_id", "vat_id"];

    /// List the history of an item
    ///
    /// Newest first.
    history "/api/nomenclatures/{id}/history" as list_nomenclature_history -> HistoryList;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    table_routes(config);
    config.service(search_nomenclature);
    below(config, "/api/nomenclatures", |config| {
        usual_routes(config);
        config.service(create_nomenclature);
    });
}

/// Create an item
///
/// Goods need no price; it is set per warehouse.
#[utoipa::path(
    tag = "Catalog",
    request_body = NewNomenclature,
    responses((status = 201, body = NomenclatureResponse)),
    extensions((
        "x-zero-to-null" = json!(["type_id", "category_id", "brand_id", "country_id", "storage_unit_id", "vat_id"])
    )),
)]
#[post("/api/nomenclatures")]
async fn create_nomenclature(
    staff: SignedInStaff,
    service: Service<NomenclatureService>,
    body: Body<NewNomenclature>,
) -> Created<NomenclatureResponse> {
    let item = service.create(&staff, body.0.card()?).await?;
    created(item)
}

const MAX_RESULTS: i64 = 20;

/// Search text and maximum number of results.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ItemSearch {
    /// Words of the name and the article, or parts of them, in any order and case.
    query: wire::Name,
    /// Maximum number of items, 20 by default.
    #[deserr(default)]
    limit: Option<PageSize>,
}

/// Search items
///
/// Returns the best matches and the total number of matches, at most 10,000.
#[utoipa::path(tag = "Catalog", request_body = ItemSearch, responses((status = 200, body = NomenclatureList)))]
#[post("/api/search_nomenclature")]
async fn search_nomenclature(
    staff: SignedInStaff,
    service: Service<NomenclatureService>,
    body: Body<ItemSearch>,
) -> Answer<NomenclatureList> {
    let page = page_of(None, body.0.limit.as_ref(), MAX_RESULTS)?;
    let best = Listing { text: Some(body.0.query.0), unsorted: true, ..Listing::unfiltered(TABLE.order, page) };
    answer(service.list(&staff, best).await?)
}

#[derive(Serialize, ToSchema)]
struct ParametersRecord {
    /// `true` if the item is sold wholesale.
    wholesale: bool,
    /// Units in one pack.
    pieces_per_pack: u32,
    /// Packs in one unit of sale.
    quantity_pack: u32,
}

impl From<Packaging> for ParametersRecord {
    fn from(packaging: Packaging) -> Self {
        Self {
            wholesale: packaging.wholesale,
            pieces_per_pack: packaging.pieces_per_pack.get(),
            quantity_pack: packaging.quantity_pack.get(),
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct NomenclatureRecord {
    id: i64,
    article: Option<String>,
    name: String,
    /// `1` service, `2` goods.
    kind_id: i64,
    kind: NamedRecord,
    type_id: Option<i64>,
    r#type: Option<NamedRecord>,
    category_id: Option<i64>,
    category: Option<NamedRecord>,
    brand_id: Option<i64>,
    brand: Option<NamedRecord>,
    country_id: Option<i64>,
    country: Option<NamedRecord>,
    storage_unit_id: Option<i64>,
    storage_unit: Option<StorageUnitRecord>,
    vat_id: Option<i64>,
    vat: Option<NamedRecord>,
    /// Price of the item. `null` if none is set.
    #[schema(examples("265.00"))]
    price: Option<String>,
    /// HTML.
    description: Option<String>,
    /// HTML.
    characteristics: Option<String>,
    /// Link by which customers share the item.
    share_link: Option<String>,
    /// `true` if the item is a subscription plan.
    is_subscription: bool,
    /// Length of a billing period, in months. `null` unless the item is a subscription plan.
    billing_period_months: Option<u8>,
    parameters: ParametersRecord,
    photos: Vec<PhotoRecord>,
    tags: Vec<NamedRecord>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Nomenclature> for NomenclatureRecord {
    fn from(item: Nomenclature) -> Self {
        let Nomenclature { card, labels, .. } = item;
        Self {
            id: item.id.get(),
            article: card.article.map(Into::into),
            name: card.name.into(),
            kind_id: card.kind.id(),
            kind: NamedRecord::new(card.kind.id(), labels.kind),
            type_id: card.type_id.map(Into::into),
            r#type: labels.nomenclature_type.map(Into::into),
            category_id: card.category_id.map(Into::into),
            category: labels.category.map(Into::into),
            brand_id: card.brand_id.map(Into::into),
            brand: labels.brand.map(Into::into),
            country_id: card.country_id.map(Into::into),
            country: labels.country.map(Into::into),
            storage_unit_id: card.storage_unit_id.map(Into::into),
            storage_unit: labels.storage_unit.map(Into::into),
            vat_id: card.vat_id.map(Into::into),
            vat: labels.vat.map(Into::into),
            price: card.price.map(|price| price.to_string()),
            description: card.description.map(Into::into),
            characteristics: card.characteristics.map(Into::into),
            share_link: card.share_link.map(Into::into),
            is_subscription: card.subscription.is_some(),
            billing_period_months: card.subscription.map(BillingPeriod::get),
            parameters: card.packaging.into(),
            photos: card.photos.photos().iter().map(Into::into).collect(),
            tags: labels.tags.into_iter().map(Into::into).collect(),
            created_at: item.created_at,
            updated_at: item.updated_at,
        }
    }
}

one!(/// Item.
    NomenclatureResponse { nomenclature: NomenclatureRecord });
list!(/// One page of items, with the total number of items.
    NomenclatureList { nomenclatures: [NomenclatureRecord], nomenclatures_count of all });

fn named<Id>(reference: Option<&Reference<Id>>) -> Cell {
    Cell::plain(reference.map(|reference| reference.name.as_str()))
}

/// Table of `GET /api/tables/nomenclatures`.
const TABLE: Table<Nomenclature> = Table {
    id: 1,
    resource: "nomenclatures",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |item| Cell::plain(item.id.get())),
        Column::new("article", "Article", |item| Cell::plain(item.card.article.as_deref())),
        Column::with_icon("name", "Name", |item| Cell::Linked {
            value: item.card.name.as_str().into(),
            icon: item.card.photos.photos().first().map(ToString::to_string),
            link: Some(format!("/api/nomenclatures/{}", item.id)),
        }),
        Column::new("kind", "Kind", |item| Cell::plain(item.labels.kind.as_str())),
        Column::new("category", "Category", |item| named(item.labels.category.as_ref())),
        Column::new("brand", "Brand", |item| named(item.labels.brand.as_ref())),
        Column::new("price", "Price", |item| Cell::plain(item.card.price.map(|price| price.to_string()))),
        Column::new("created_at", "Created", |item| Cell::moment(item.created_at)),
        Column::new("updated_at", "Changed", |item| Cell::moment(item.updated_at)),
    ],
    sorts: &["id", "name", "price", "created_at", "updated_at"],
    filters: &[
        Filter::id::<CategoryId>("category_id", "In exactly these categories."),
        Filter::id::<BrandId>("brand_id", "Of these brands."),
        Filter::id::<NomenclatureKind>("kind_id", "Of these kinds."),
        Filter::id::<NomenclatureTypeId>("type_id", "Of these types."),
        Filter::money("price", "With this card price."),
    ],
    search: Some(
        "Words or parts of words of the name and the article, in any order and case. Without `order_by`, the best \
         match comes first.",
    ),
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/nomenclatures` and `GET /api/nomenclatures`.
    NomenclatureParams of TABLE
}
