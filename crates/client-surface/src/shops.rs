//! Shops: pickup points of orders.

use actix_web::get;
use actix_web::web::Path;
use chrono::{DateTime, Utc};
use kontor_organization::ShopService;
use kontor_organization::model::Shop;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::records::{Picture, picture};
use kontor_web::{CallingApp, PathId, Service};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_shops).service(show_shop);
}

#[derive(Serialize, ToSchema)]
pub(super) struct ShopRecord {
    id: i64,
    name: String,
    address: String,
    phone: Option<String>,
    photo: Option<Picture>,
    /// Degrees north, decimal string.
    latitude: Option<String>,
    /// Degrees east, decimal string.
    longitude: Option<String>,
    created_at: DateTime<Utc>,
}

impl From<Shop> for ShopRecord {
    fn from(shop: Shop) -> Self {
        Self {
            id: shop.id.get(),
            name: shop.name.into(),
            address: shop.address,
            phone: shop.phone,
            photo: picture(shop.photo),
            latitude: shop.latitude,
            longitude: shop.longitude,
            created_at: shop.created_at,
        }
    }
}

list!(ShopList { shops: [ShopRecord], shops_count });
one!(ShopResponse { shop: ShopRecord });

/// List open shops
///
/// Returns the open shops of the project.
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = ShopList)))]
#[get("/api/counterparty/shops")]
async fn list_shops(app: CallingApp, service: Service<ShopService>) -> Answer<ShopList> {
    answer(service.list(*app).await?)
}

/// Get an open shop
#[utoipa::path(tag = "Client: dictionaries", responses((status = 200, body = ShopResponse)))]
#[get("/api/counterparty/shops/{id}")]
async fn show_shop(app: CallingApp, service: Service<ShopService>, id: Path<PathId>) -> Answer<ShopResponse> {
    answer(service.read(*app, id.parse()?).await?)
}
