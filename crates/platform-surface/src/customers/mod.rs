//! Customers of the project.

mod bank_requisites;
mod contacts;
mod input;
mod record;
mod table;

use actix_web::web::{Data, Path};
use actix_web::{delete, get, post, put};
use kontor_customers::StaffCustomerService;
use utoipa_actix_web::service_config::ServiceConfig;

use self::input::{ChangedCustomer, NewCustomer};
pub(super) use self::record::StaffCustomerRecord;
use self::record::{CounterpartyResponse, CustomerHistory, CustomerList, shown};
use self::table::{CustomerParams, TABLE};
use crate::endpoints::handlers;
use crate::table::TableRequest;
use kontor_web::Settings;
use kontor_web::envelope::{Answer, Created, answer, created};
use kontor_web::named::NamedErrorBody;
use kontor_web::records::Message;
use kontor_web::{Body, PathId, SignedInStaff};

handlers! {
    fn table_routes; StaffCustomerService, "Customers";

    /// List customers as a table
    table "/api/tables/counterparties" as list_counterparties_table(CustomerParams) = list() -> TABLE;
}

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_counterparties)
        .service(create_counterparty)
        .service(show_counterparty)
        .service(update_counterparty)
        .service(delete_counterparty)
        .service(list_counterparty_history);
    contacts::routes(config);
    bank_requisites::routes(config);
}

/// List customers
///
/// Newest first, without deleted customers.
#[utoipa::path(tag = "Customers", params(CustomerParams), responses((status = 200, body = CustomerList)))]
#[get("/api/counterparties")]
async fn list_counterparties(
    staff: SignedInStaff,
    service: Data<StaffCustomerService>,
    config: Data<Settings>,
    asked: TableRequest,
) -> Answer<CustomerList> {
    let page = service.list(&staff, TABLE.listing(asked, 100)?).await?;
    answer(shown(page, &config))
}

/// Create a customer
///
/// The customer is a person or a company. Several customers may share a contact that none of them uses for login.
#[utoipa::path(tag = "Customers", request_body = NewCustomer, responses((status = 201, body = CounterpartyResponse)))]
#[post("/api/counterparties")]
async fn create_counterparty(
    staff: SignedInStaff,
    service: Data<StaffCustomerService>,
    config: Data<Settings>,
    body: Body<NewCustomer>,
) -> Created<CounterpartyResponse> {
    created(StaffCustomerRecord::of(service.create(&staff, body.0.into()).await?, &config))
}

/// Get a customer
#[utoipa::path(tag = "Customers", responses((status = 200, body = CounterpartyResponse)))]
#[get("/api/counterparties/{id}")]
async fn show_counterparty(
    staff: SignedInStaff,
    service: Data<StaffCustomerService>,
    config: Data<Settings>,
    id: Path<PathId>,
) -> Answer<CounterpartyResponse> {
    answer(StaffCustomerRecord::of(service.read(&staff, id.parse()?).await?, &config))
}

/// Update a customer
///
/// Fields that are not sent keep their values. If a login phone or e-mail address is changed or removed, the old one
/// cannot be used for login any more. All tokens of the customer are then revoked.
#[utoipa::path(tag = "Customers", request_body = ChangedCustomer, responses((status = 200, body = CounterpartyResponse)))]
#[put("/api/counterparties/{id}")]
async fn update_counterparty(
    staff: SignedInStaff,
    service: Data<StaffCustomerService>,
    config: Data<Settings>,
    id: Path<PathId>,
    body: Body<ChangedCustomer>,
) -> Answer<CounterpartyResponse> {
    answer(StaffCustomerRecord::of(service.update(&staff, id.parse()?, body.0.into()).await?, &config))
}

/// Delete a customer
///
/// Has the same effect as deletion by the customer: personal data is cleared, including in the history. Orders are
/// kept.
#[utoipa::path(
    tag = "Customers",
    responses(
        (status = 200, body = Message),
        (
            status = 409,
            description = "`counterparty_payment_open`: a payment of the customer is in progress.",
            body = NamedErrorBody,
        ),
    ),
)]
#[delete("/api/counterparties/{id}")]
async fn delete_counterparty(
    staff: SignedInStaff,
    service: Data<StaffCustomerService>,
    id: Path<PathId>,
) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    answer(Message::new("The customer was deleted."))
}

/// List the history of a customer
///
/// Newest first.
#[utoipa::path(tag = "Customers", responses((status = 200, body = CustomerHistory)))]
#[get("/api/counterparties/{id}/history")]
async fn list_counterparty_history(
    staff: SignedInStaff,
    service: Data<StaffCustomerService>,
    id: Path<PathId>,
) -> Answer<CustomerHistory> {
    answer(service.history(&staff, id.parse()?).await?)
}
