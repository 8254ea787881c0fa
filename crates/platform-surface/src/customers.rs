//! Customers of the project, their contacts and bank accounts.

use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, delete, get, post, put};
use chrono::{DateTime, NaiveDate, Utc};
use deserr::Deserr;
use kontor_customers::model::{
    ContactChange, ContactDraft, CustomerChange, CustomerContact, CustomerDraft, Manager, StaffCustomer,
};
use kontor_customers::{CustomerPartService, StaffCustomerService};
use kontor_kernel::listing::Sort;
use kontor_kernel::{BankRequisite, Page, UserId, Word};
use kontor_organization::SuggestionService;
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::file_contents::avatar;
use kontor_web::named::NamedErrorBody;
use kontor_web::records::{CustomerType, HistoryRecord, ManagerRecord, Message, Picture};
use kontor_web::wire::{self, InputErrors, change_body, into_domain};
use kontor_web::{Body, PathId, Service, Settings, SignedInStaff, Throttle};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::bank_requisites::{BankRequisiteList, BankRequisiteResponse, ChangedBankRequisite, NewBankRequisite};
use crate::endpoints::handlers;
use crate::table::{Cell, Column, Filter, Table, TableRequest, list_params};

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
    contact_routes(config);
    requisite_routes(config);
}

/// List customers
///
/// Newest first, without deleted customers.
#[utoipa::path(tag = "Customers", params(CustomerParams), responses((status = 200, body = CustomerList)))]
#[get("/api/counterparties")]
async fn list_counterparties(
    staff: SignedInStaff,
    service: Service<StaffCustomerService>,
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
    service: Service<StaffCustomerService>,
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
    service: Service<StaffCustomerService>,
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
    service: Service<StaffCustomerService>,
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
    service: Service<StaffCustomerService>,
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
    service: Service<StaffCustomerService>,
    id: Path<PathId>,
) -> Answer<CustomerHistory> {
    answer(service.history(&staff, id.parse()?).await?)
}

/// Customer as shown to staff.
#[derive(Serialize, ToSchema)]
pub(crate) struct StaffCustomerRecord {
    id: i64,
    r#type: CustomerType,
    /// Employee responsible for the customer.
    manager: Option<ManagerRecord>,
    avatar: Option<Picture>,
    /// Name of a company.
    name: Option<String>,
    inn: Option<String>,
    /// Only for companies.
    kpp: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    middle_name: Option<String>,
    birthday: Option<NaiveDate>,
    address: Option<String>,
    phone_1: Option<String>,
    phone_2: Option<String>,
    email: Option<String>,
    /// Number of orders.
    orders_count: u64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl StaffCustomerRecord {
    pub(crate) fn of(customer: StaffCustomer, config: &Settings) -> Self {
        let record = customer.record;
        Self {
            id: record.id.get(),
            r#type: record.kind.into(),
            manager: record.manager.map(Into::into),
            avatar: avatar(record.avatar.as_ref(), config),
            name: customer.name.map(Into::into),
            inn: customer.inn.map(|inn| inn.to_string()),
            kpp: customer.kpp.map(|kpp| kpp.to_string()),
            first_name: record.first_name.map(Into::into),
            last_name: record.last_name.map(Into::into),
            middle_name: record.middle_name.map(Into::into),
            birthday: record.birthday,
            address: record.address,
            phone_1: record.phone_1.map(|phone| phone.to_string()),
            phone_2: record.phone_2.map(|phone| phone.to_string()),
            email: record.email.map(|email| email.to_string()),
            orders_count: customer.orders,
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
}

one!(CounterpartyResponse { counterparty: StaffCustomerRecord });
list!(CustomerList { counterparties: [StaffCustomerRecord], counterparties_count of all });
list!(/// Complete history of a customer, newest first.
    CustomerHistory { histories: [HistoryRecord], histories_count });

/// Converts a page of customers to records.
fn shown(page: Page<StaffCustomer>, config: &Settings) -> Page<StaffCustomerRecord> {
    let items = page.items.into_iter().map(|customer| StaffCustomerRecord::of(customer, config)).collect();
    Page { items, total: page.total, request: page.request }
}

/// Table of `GET /api/tables/counterparties` and `GET /api/counterparties`.
const TABLE: Table<StaffCustomer> = Table {
    id: 17,
    resource: "counterparties",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |customer| Cell::plain(customer.record.id.get())),
        Column::with_icon("name", "Name", |customer| {
            Cell::linked(customer.title(), format!("/api/counterparties/{}", customer.record.id))
        }),
        Column::new("type", "Type", |customer| Cell::plain(customer.record.kind.name.as_str())),
        Column::new("phone", "Phone", |customer| Cell::plain(customer.record.phone_1.as_deref())),
        Column::new("email", "E-mail", |customer| Cell::plain(customer.record.email.as_deref())),
        Column::new("inn", "INN", |customer| Cell::plain(customer.inn.as_deref())),
        Column::new("manager", "Manager", |customer| Cell::plain(customer.record.manager.as_ref().map(Manager::name))),
        Column::new("orders_count", "Orders", |customer| Cell::plain(customer.orders)),
        Column::new("created_at", "Created", |customer| Cell::moment(customer.record.created_at)),
    ],
    sorts: &["id", "name", "created_at"],
    filters: &[
        Filter::flag("is_company", "Companies, or persons."),
        Filter::id::<UserId>("manager_id", "Assigned to these managers."),
    ],
    search: Some("Words of the name, phones, e-mail addresses, contacts or INN, or the id of the customer."),
    period: Some("created_at"),
    order: Sort::descending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/counterparties` and `GET /api/counterparties`.
    CustomerParams of TABLE
}

/// Customer to create. A company requires `name`, a person requires `first_name`.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewCustomer {
    /// `true` for a company, `false` for a person.
    is_company: wire::Flag,
    /// Name of a company.
    #[deserr(default)]
    name: Option<wire::Name>,
    /// Taxpayer number (INN): 10 digits for a company, 12 for a person or an entrepreneur.
    #[deserr(default)]
    inn: Option<wire::Inn>,
    /// Only for a company with an INN of 10 digits.
    #[deserr(default)]
    kpp: Option<wire::Kpp>,
    #[deserr(default)]
    first_name: Option<wire::Name>,
    #[deserr(default)]
    last_name: Option<wire::Name>,
    #[deserr(default)]
    middle_name: Option<wire::Name>,
    /// Not in the future and not before 1900.
    #[deserr(default)]
    birthday: Option<wire::Date>,
    #[deserr(default)]
    address: Option<wire::Line500>,
    /// Phone for login. Must not be the login phone of another customer.
    #[deserr(default)]
    phone_1: Option<wire::Phone>,
    /// Additional phone. Not used for login.
    #[deserr(default)]
    phone_2: Option<wire::Phone>,
    /// E-mail address for login. Must not be the login address of another customer.
    #[deserr(default)]
    email: Option<wire::Email>,
    /// Employee of the project.
    #[deserr(default)]
    manager_id: Option<wire::UserId>,
}

into_domain!(NewCustomer => CustomerDraft {
    is_company, name, inn, kpp, first_name, last_name, middle_name, birthday, address,
    phone_1, phone_2, email, manager_id,
});

change_body! {
    /// Change of a customer. If a company becomes a person, the fields of companies are cleared.
    ChangedCustomer {
        {
            /// `true` if the customer is a company after the change.
            is_company: wire::Flag
        },
        name: wire::Name | null,
        inn: wire::Inn | null,
        kpp: wire::Kpp | null,
        first_name: wire::Name | null,
        last_name: wire::Name | null,
        middle_name: wire::Name | null,
        birthday: wire::Date | null,
        address: wire::Line500 | null,
        /// Must not be the login phone of another customer.
        phone_1: wire::Phone | null,
        /// Additional phone. Not used for login.
        phone_2: wire::Phone | null,
        /// Must not be the login address of another customer.
        email: wire::Email | null,
        /// Employee of the project.
        manager_id: wire::UserId | null,
    }
}

into_domain!(ChangedCustomer => CustomerChange {
    is_company, name, inn, kpp, first_name, last_name, middle_name, birthday, address,
    phone_1, phone_2, email, manager_id,
});

handlers! {
    fn contact_routes; CustomerPartService<CustomerContact>, "Customers";

    /// List the contacts of a customer
    ///
    /// Oldest first.
    list "/api/counterparties/{id}/contacts" as list_counterparty_contacts = list(id) -> ContactList;

    /// Add a contact to a customer
    ///
    /// The contact cannot be used for login.
    create "/api/counterparties/{id}/contacts" as create_counterparty_contact(NewContact) = create(id, input)
        -> ContactResponse;

    /// Get a contact of a customer
    read "/api/counterparties/{id}/contacts/{contactId}" as show_counterparty_contact = read(ids) -> ContactResponse;

    /// Update a contact of a customer
    ///
    /// Fields that are not sent keep their values.
    update "/api/counterparties/{id}/contacts/{contactId}" as update_counterparty_contact(ChangedContact)
        = update(ids, input) -> ContactResponse;
}

#[derive(Serialize, ToSchema)]
struct ContactRecord {
    id: i64,
    /// `phone`, `email`, `whatsapp`, `telegram`, `max`, `website` or `other`.
    kind: &'static str,
    value: String,
    name: Option<String>,
    comment: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<CustomerContact> for ContactRecord {
    fn from(contact: CustomerContact) -> Self {
        let content = contact.content;
        Self {
            id: contact.id.get(),
            kind: content.kind.word(),
            value: content.value.into(),
            name: content.name.map(Into::into),
            comment: content.comment.map(Into::into),
            created_at: contact.created_at,
            updated_at: contact.updated_at,
        }
    }
}

one!(ContactResponse { contact: ContactRecord });
list!(ContactList { contacts: [ContactRecord], contacts_count });

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewContact {
    kind: wire::ContactKind,
    /// Phone, e-mail address or other value, depending on `kind`.
    value: wire::Name,
    /// Name of the person reached by this contact.
    #[deserr(default)]
    name: Option<wire::Name>,
    #[deserr(default)]
    comment: Option<wire::Line500>,
}

into_domain!(NewContact => ContactDraft { kind, value, name, comment });

change_body! {
    ChangedContact => ContactChange {
        kind: wire::ContactKind,
        /// Phone, e-mail address or other value, depending on `kind`.
        value: wire::Name,
        name: wire::Name | null,
        comment: wire::Line500 | null,
    }
}

handlers! {
    fn record_routes; CustomerPartService<BankRequisite>, "Customers";

    /// List the bank accounts of a customer
    ///
    /// Oldest first.
    list "/api/counterparties/{id}/bank_requisites" as list_counterparty_bank_requisites = list(id)
        -> BankRequisiteList;

    /// Get a bank account of a customer
    read "/api/counterparties/{id}/bank_requisites/{requisiteId}" as show_counterparty_bank_requisite = read(ids)
        -> BankRequisiteResponse;

    /// Update a bank account of a customer
    ///
    /// Fields that are not sent keep their values.
    update "/api/counterparties/{id}/bank_requisites/{requisiteId}" as update_counterparty_bank_requisite(ChangedBankRequisite)
        = update(ids, input) -> BankRequisiteResponse;
}

fn requisite_routes(config: &mut ServiceConfig<'_>) {
    record_routes(config);
    config.service(create_counterparty_bank_requisite);
}

/// Add a bank account to a customer
#[utoipa::path(
    tag = "Customers",
    request_body = NewBankRequisite,
    responses(
        (status = 201, body = BankRequisiteResponse),
        (status = 429, description = "Too many bank look-ups. Retry after `Retry-After` seconds."),
    ),
)]
#[post("/api/counterparties/{id}/bank_requisites")]
async fn create_counterparty_bank_requisite(
    staff: SignedInStaff,
    service: Service<CustomerPartService<BankRequisite>>,
    id: Path<PathId>,
    body: Body<NewBankRequisite>,
    request: HttpRequest,
    throttle: Data<Throttle>,
    suggestions: Data<SuggestionService>,
) -> Created<BankRequisiteResponse> {
    let customer = id.parse()?;
    let draft = body.0.completed(&request, &staff, &throttle, &suggestions).await?;
    created(service.create(&staff, customer, draft).await?)
}
