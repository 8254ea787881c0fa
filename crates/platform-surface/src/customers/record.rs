//! Record of a customer as shown to staff.

use chrono::{DateTime, NaiveDate, Utc};
use kontor_customers::model::StaffCustomer;
use kontor_kernel::Page;
use serde::Serialize;
use utoipa::ToSchema;

use kontor_web::Settings;
use kontor_web::customer_record::{CustomerType, ManagerRecord};
use kontor_web::envelope::{list, one};
use kontor_web::file_contents::avatar;
use kontor_web::history::HistoryRecord;
use kontor_web::records::Picture;

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

one!(pub(super) CounterpartyResponse { counterparty: StaffCustomerRecord });
list!(pub(super) CustomerList { counterparties: [StaffCustomerRecord], counterparties_count of all });
list!(/// Complete history of a customer, newest first.
    pub(super) CustomerHistory { histories: [HistoryRecord], histories_count });

/// Converts a page of customers to records.
pub(super) fn shown(page: Page<StaffCustomer>, config: &Settings) -> Page<StaffCustomerRecord> {
    let items = page.items.into_iter().map(|customer| StaffCustomerRecord::of(customer, config)).collect();
    Page { items, total: page.total, request: page.request }
}
