//! Suggested addresses and companies, shared by both surfaces.

use actix_web::http::StatusCode;
use deserr::Deserr;
use kontor_organization::SuggestionError;
use kontor_organization::model::AddressSuggestion;
use serde::Serialize;
use utoipa::ToSchema;

use super::wire::{self, InputErrors};
use super::{ApiError, NamedError, NextAction};
use crate::envelope::list;

impl From<SuggestionError> for ApiError {
    fn from(error: SuggestionError) -> Self {
        let named = |code, next, message| NamedError::new(StatusCode::SERVICE_UNAVAILABLE, code, next, message);
        Self::Named(match error {
            SuggestionError::NotConfigured => {
                named("suggestions_not_configured", NextAction::ContactSupport, "Suggestions are not configured.")
            }
            SuggestionError::Unavailable(reason) => {
                tracing::warn!(%reason, "suggestions are unavailable");
                named("suggestions_unavailable", NextAction::Wait, "Suggestions are unavailable. Try again later.")
                    .retry_after(5)
            }
        })
    }
}

/// Search input of a suggestion.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub struct SuggestionInput {
    /// 1 to 300 characters in one line.
    pub query: wire::Line300,
}

/// Suggested address.
#[derive(Serialize, ToSchema)]
pub struct AddressRecord {
    value: String,
    unrestricted_value: String,
    postal_code: Option<String>,
    country: Option<String>,
    region: Option<String>,
    city: Option<String>,
    settlement: Option<String>,
    street: Option<String>,
    house: Option<String>,
    flat: Option<String>,
    fias_id: Option<String>,
    /// Degrees, as a decimal string.
    latitude: Option<String>,
    /// Degrees, as a decimal string.
    longitude: Option<String>,
}

impl From<AddressSuggestion> for AddressRecord {
    fn from(address: AddressSuggestion) -> Self {
        Self {
            value: address.value,
            unrestricted_value: address.unrestricted_value,
            postal_code: address.postal_code,
            country: address.country,
            region: address.region,
            city: address.city,
            settlement: address.settlement,
            street: address.street,
            house: address.house,
            flat: address.flat,
            fias_id: address.fias_id,
            latitude: address.latitude,
            longitude: address.longitude,
        }
    }
}

list!(
    /// Suggested addresses, the most likely first.
    pub AddressList { addresses: [AddressRecord], addresses_count }
);
