//! Delivery types and subtypes, shared by both surfaces.

use kontor_organization::model::{DeliverySubtype, DeliveryType};
use serde::Serialize;
use utoipa::ToSchema;

/// Delivery type or subtype.
#[derive(Serialize, ToSchema)]
pub struct DeliveryOptionRecord {
    id: i64,
    name: String,
    /// Decimal string.
    price: String,
    /// `1` or `0`.
    is_active: u8,
}

impl From<DeliveryType> for DeliveryOptionRecord {
    fn from(kind: DeliveryType) -> Self {
        Self {
            id: kind.id.get(),
            name: kind.name.into(),
            price: kind.price.to_string(),
            is_active: kind.is_active.into(),
        }
    }
}

impl From<DeliverySubtype> for DeliveryOptionRecord {
    fn from(kind: DeliverySubtype) -> Self {
        Self {
            id: kind.id.get(),
            name: kind.name.into(),
            price: kind.price.to_string(),
            is_active: kind.is_active.into(),
        }
    }
}
