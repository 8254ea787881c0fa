//! Profile of the logged-in customer.

use actix_web::web::Data;
use actix_web::{delete, get, put};
use chrono::{DateTime, NaiveDate, Utc};
use kontor_catalog::storefront::FavouriteService;
use kontor_customers::ProfileService;
use kontor_customers::model::{Customer, PersonalData, ProfileChange};
use kontor_kernel::CustomerScope;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::products::ProductRecord;
use kontor_web::Settings;
use kontor_web::envelope::{Answer, answer, one};
use kontor_web::file_contents::avatar;
use kontor_web::records::{CustomerType, ManagerRecord, Message, Picture};
use kontor_web::wire::{self, change_body};
use kontor_web::{ApiError, BearerCustomer, Body, Service};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(show_profile).service(update_profile).service(delete_account);
}

/// Profile of the customer.
#[derive(Serialize, ToSchema)]
pub(super) struct CustomerRecord {
    id: i64,
    r#type: CustomerType,
    /// Employee responsible for the customer.
    manager: Option<ManagerRecord>,
    avatar: Option<Picture>,
    first_name: Option<String>,
    last_name: Option<String>,
    middle_name: Option<String>,
    birthday: Option<NaiveDate>,
    address: Option<String>,
    /// Phone for login, 11 digits.
    phone_1: Option<String>,
    /// Additional phone, 11 digits. Not used for login.
    phone_2: Option<String>,
    email: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    /// Favourite products that the application sells now, last added first. At most 100.
    favourite_products: Vec<ProductRecord>,
}

/// Services and configuration that a customer record is built from.
pub(super) type RecordSources = (Service<ProfileService>, Service<FavouriteService>, Data<Settings>);

impl CustomerRecord {
    /// Reads the profile of a customer who calls or has just logged in.
    pub(super) async fn read(scope: CustomerScope, sources: &RecordSources) -> Result<Self, ApiError> {
        Self::of(scope, sources.0.profile(scope).await?, sources).await
    }

    async fn of(scope: CustomerScope, customer: Customer, sources: &RecordSources) -> Result<Self, ApiError> {
        let (_, favourites, config) = sources;
        let favourite_products = favourites.products(scope).await?.into_iter().map(Into::into).collect();
        Ok(Self {
            id: customer.id.get(),
            r#type: customer.kind.into(),
            manager: customer.manager.map(Into::into),
            avatar: avatar(customer.avatar.as_ref(), config),
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
            favourite_products,
        })
    }
}

one!(pub(super) CustomerResponse { counterparty: CustomerRecord });

/// Get the customer's profile
///
/// The header `Token` is optional. If sent, it must be the token of the application that the customer logged in to.
#[utoipa::path(tag = "Client: profile", responses((status = 200, body = CustomerResponse)))]
#[get("/api/counterparty")]
async fn show_profile(customer: BearerCustomer, sources: RecordSources) -> Answer<CustomerResponse> {
    answer(CustomerRecord::read(*customer, &sources).await?)
}

change_body! {
    ProfilePatch {
        first_name: wire::Name | null,
        last_name: wire::Name | null,
        middle_name: wire::Name | null,
        /// Not in the future and not before 1900.
        birthday: wire::Date | null,
        address: wire::Line500 | null,
        /// Must not be the login address of another customer. It cannot be used for login until it is verified.
        email: wire::Email | null,
        /// Additional phone. Not used for login.
        phone_2: wire::Phone | null,
        /// Only the current phone is accepted. To change it, use `phone/request_change` and `phone/verify_change`.
        phone_1: wire::Phone | null,
    }
}

impl From<ProfilePatch> for ProfileChange {
    fn from(patch: ProfilePatch) -> Self {
        let data = PersonalData {
            first_name: patch.first_name.into(),
            last_name: patch.last_name.into(),
            middle_name: patch.middle_name.into(),
            birthday: patch.birthday.into(),
            address: patch.address.into(),
            email: patch.email.into(),
            phone_2: patch.phone_2.into(),
        };
        Self { data, phone_1: patch.phone_1.into() }
    }
}

/// Update the customer's profile
///
/// Absent fields keep their values; `null` clears a field.
#[utoipa::path(tag = "Client: profile", request_body = ProfilePatch, responses((status = 200, body = CustomerResponse)))]
#[put("/api/counterparty")]
async fn update_profile(
    customer: BearerCustomer,
    sources: RecordSources,
    body: Body<ProfilePatch>,
) -> Answer<CustomerResponse> {
    let changed = sources.0.change(*customer, body.0.into()).await?;
    answer(CustomerRecord::of(*customer, changed, &sources).await?)
}

/// Delete the customer's account
///
/// Clears personal data and revokes all tokens. Orders are kept. A later login with the same contact creates a new
/// customer.
#[utoipa::path(
    tag = "Client: profile",
    responses(
        (status = 200, body = Message),
        (status = 409, description = "A payment is in progress.", body = Message),
    ),
)]
#[delete("/api/counterparty")]
async fn delete_account(customer: BearerCustomer, profiles: Service<ProfileService>) -> Answer<Message> {
    profiles.delete_account(*customer).await?;
    answer(Message::new("The account is deleted."))
}
