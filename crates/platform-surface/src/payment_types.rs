//! Payment types of a project, and those that an application accepts.

use actix_web::web::Path;
use actix_web::{get, post, put};
use deserr::Deserr;
use kontor_organization::model::{PaymentChoice, PaymentType, PaymentTypeChange, PaymentTypeDraft};
use kontor_organization::{PaymentChoiceService, PaymentTypeHistory, PaymentTypeService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::endpoints::handlers;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::records::{Picture, picture};
use kontor_web::wire::{self, InputErrors, change_body};
use kontor_web::{Body, HistoryList, PathId, Service, SignedInStaff};

handlers! {
    PaymentTypeService, "Dictionaries";

    /// List payment types
    ///
    /// Returns the payment types of the project.
    list "/api/payment_types" as list_payment_types -> StaffPaymentTypeList;

    /// Create a payment type
    ///
    /// Applications that accept all payment types of the project accept it at once.
    create "/api/payment_types" as create_payment_type(NewPaymentType) -> StaffPaymentTypeResponse;

    /// Get a payment type
    read "/api/payment_types/{id}" as show_payment_type -> StaffPaymentTypeResponse;

    /// Update a payment type
    ///
    /// Fields that are not sent keep their values. Existing orders show the new name and keep their payment method.
    update "/api/payment_types/{id}" as update_payment_type(ChangedPaymentType) -> StaffPaymentTypeResponse;
}

handlers! {
    fn history_routes; PaymentTypeHistory, "Dictionaries";

    /// List the history of a payment type
    ///
    /// Newest first.
    history "/api/payment_types/{id}/history" as list_payment_type_history = page(id, page) -> HistoryList;
}

/// Registers the routes below an application.
pub(super) fn application_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_application_payment_types).service(choose_application_payment_types);
}

one!(StaffPaymentTypeResponse { payment_type: StaffPaymentTypeRecord });
list!(StaffPaymentTypeList { payment_types: [StaffPaymentTypeRecord], payment_types_count });
list!(ApplicationPaymentTypeList { payment_types: [ApplicationPaymentTypeRecord], payment_types_count });

#[derive(Serialize, ToSchema)]
struct StaffPaymentTypeRecord {
    id: i64,
    photo: Option<Picture>,
    name: String,
    description: Option<String>,
    /// `true` if the order is paid online. Orders with this type require a payment method.
    is_online: bool,
}

impl From<PaymentType> for StaffPaymentTypeRecord {
    fn from(kind: PaymentType) -> Self {
        Self {
            id: kind.id.get(),
            photo: picture(kind.photo),
            name: kind.name.into(),
            description: kind.description,
            is_online: kind.is_online,
        }
    }
}

/// Payment type of the project, with its state in an application.
#[derive(Serialize, ToSchema)]
struct ApplicationPaymentTypeRecord {
    #[serde(flatten)]
    record: StaffPaymentTypeRecord,
    /// `true` if orders of the application may have it.
    is_accepted: bool,
}

impl From<PaymentChoice> for ApplicationPaymentTypeRecord {
    fn from(choice: PaymentChoice) -> Self {
        Self { record: choice.payment_type.into(), is_accepted: choice.is_taken }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewPaymentType {
    name: wire::Name,
    /// Text for customers.
    #[deserr(default)]
    description: Option<wire::Line500>,
    #[deserr(default)]
    photo: Option<wire::PhotoUrl>,
    /// `true` if the order is paid online, on the page of the acquirer. `false` by default.
    #[deserr(default)]
    is_online: Option<wire::Flag>,
}

impl From<NewPaymentType> for PaymentTypeDraft {
    fn from(new: NewPaymentType) -> Self {
        Self {
            name: new.name.0,
            description: new.description.map(|text| text.0),
            photo: new.photo.map(|photo| photo.0),
            is_online: new.is_online.is_some_and(|online| online.0),
        }
    }
}

change_body! {
    ChangedPaymentType => PaymentTypeChange {
        name: wire::Name,
        /// Text for customers.
        description: wire::Line500 | null,
        photo: wire::PhotoUrl | null,
        /// `true` if the order is paid online, on the page of the acquirer.
        is_online: wire::Flag,
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct AcceptedPaymentTypes {
    /// Ids of payment types of the project. An empty list accepts all of them, including future ones.
    payment_type_ids: Vec<wire::PaymentTypeId>,
}

/// List the payment types of an application
///
/// Returns every payment type of the project, with its state in the application.
#[utoipa::path(tag = "Applications", responses((status = 200, body = ApplicationPaymentTypeList)))]
#[get("/api/applications/{id}/payment_types")]
async fn list_application_payment_types(
    staff: SignedInStaff,
    service: Service<PaymentChoiceService>,
    id: Path<PathId>,
) -> Answer<ApplicationPaymentTypeList> {
    answer(service.list(&staff, id.parse()?).await?)
}

/// Set the payment types that an application accepts
///
/// Replaces the whole set. New orders of the application must have one of them. An empty list accepts all payment types
/// of the project, including future ones.
#[utoipa::path(
    tag = "Applications",
    request_body = AcceptedPaymentTypes,
    responses((status = 200, body = ApplicationPaymentTypeList)),
)]
#[put("/api/applications/{id}/payment_types")]
async fn choose_application_payment_types(
    staff: SignedInStaff,
    service: Service<PaymentChoiceService>,
    id: Path<PathId>,
    body: Body<AcceptedPaymentTypes>,
) -> Answer<ApplicationPaymentTypeList> {
    let chosen = body.0.payment_type_ids.into_iter().map(|id| id.0).collect();
    answer(service.choose(&staff, id.parse()?, chosen).await?)
}
