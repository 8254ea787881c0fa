//! Table of customers, and the filters of customer lists.

use kontor_customers::model::{Manager, StaffCustomer};
use kontor_kernel::UserId;
use kontor_kernel::listing::Sort;

use crate::table::{Cell, Column, Filter, Table, list_params};

/// Table of `GET /api/tables/counterparties` and `GET /api/counterparties`.
pub(super) const TABLE: Table<StaffCustomer> = Table {
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
