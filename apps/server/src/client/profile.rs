//! The customer's own record.

use actix_web::get;
use actix_web::web::{Data, Json};
use chrono::{DateTime, NaiveDate, Utc};
use kontor_customers::model::{Customer, CustomerKind, Manager};
use kontor_customers::{CustomerError, ProfileService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::http::records::Picture;
use crate::http::{ApiError, BearerCustomer};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_profile);
}

impl From<CustomerError> for ApiError {
    fn from(error: CustomerError) -> Self {
        match error {
            CustomerError::NotFound => Self::not_found(),
            CustomerError::Store(error) => error.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct CustomerType {
    id: i64,
    name: String,
    created_at: DateTime<Utc>,
}

impl From<CustomerKind> for CustomerType {
    fn from(kind: CustomerKind) -> Self {
        Self { id: kind.id, name: kind.name.into(), created_at: kind.created_at }
    }
}

#[derive(Serialize, ToSchema)]
struct ManagerRecord {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    name: String,
}

impl From<Manager> for ManagerRecord {
    fn from(manager: Manager) -> Self {
        Self {
            id: manager.id.get(),
            name: manager.name(),
            first_name: manager.first_name.into(),
            last_name: manager.last_name.into(),
            middle_name: manager.middle_name.map(Into::into),
        }
    }
}

/// The record of a customer as he sees it himself.
#[derive(Serialize, ToSchema)]
pub(super) struct CustomerRecord {
    id: i64,
    r#type: CustomerType,
    manager: Option<ManagerRecord>,
    avatar: Option<Picture>,
    first_name: Option<String>,
    last_name: Option<String>,
    middle_name: Option<String>,
    birthday: Option<NaiveDate>,
    address: Option<String>,
    phone_1: Option<String>,
    phone_2: Option<String>,
    email: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    favourite_products: Vec<FavouriteProduct>,
}

/// A product the customer marked.
#[derive(Serialize, ToSchema)]
struct FavouriteProduct {
    id: i64,
}

impl From<Customer> for CustomerRecord {
    fn from(customer: Customer) -> Self {
        Self {
            id: customer.id.get(),
            r#type: customer.kind.into(),
            manager: customer.manager.map(Into::into),
            avatar: None,
            first_name: customer.first_name.map(Into::into),
            last_name: customer.last_name.map(Into::into),
            middle_name: customer.middle_name.map(Into::into),
            birthday: customer.birthday,
            address: customer.address,
            phone_1: customer.phone_1.map(|phone| phone.to_string()),
            phone_2: customer.phone_2.map(|phone| phone.to_string()),
            email: customer.email.map(|email| email.to_string()),
            created_at: customer.created_at,
            updated_at: customer.updated_at,
            favourite_products: Vec::new(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct OneCustomer {
    counterparty: CustomerRecord,
}

/// The customer's own record. The header `Token` may be left out; when it is sent, it must be the application the
/// customer signed in to.
#[utoipa::path(
    tag = "Client: profile",
    responses((status = 200, body = OneCustomer)),
)]
#[get("/api/counterparty")]
async fn show_profile(customer: BearerCustomer, profiles: Data<ProfileService>) -> Result<Json<OneCustomer>, ApiError> {
    let counterparty = profiles.profile(*customer).await?.into();
    Ok(Json(OneCustomer { counterparty }))
}
