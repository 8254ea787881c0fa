//! Notifications of customers, as shown to them.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::model::Notification;
use kontor_customers::ports::NotificationReader;
use kontor_kernel::{CustomerScope, Page, PageRequest, StoreError};

use crate::database::{AnyConnection, Database};
use crate::decode;
use crate::schema::{applications, notifications};
use crate::unreadable;

#[derive(Queryable, Selectable)]
#[diesel(table_name = notifications)]
struct NotificationRow {
    id: i64,
    title: String,
    code: String,
    body: Option<String>,
    created_at: NaiveDateTime,
}

impl NotificationRow {
    fn read(self, action_url: Option<&str>) -> Result<Notification, StoreError> {
        let Self { id, title, code, body, created_at } = self;
        let (id, created_at) = (decode::id(id)?, decode::moment(created_at));
        Ok(Notification { id, title, code, body, action_url: action_url.map(str::to_owned), created_at })
    }
}

/// Returns the URL of an application, if it has one for browsers.
fn address(connection: &mut AnyConnection, application: i64) -> QueryResult<Option<String>> {
    let url: Option<Option<String>> =
        applications::table.find(application).select(applications::url).first(connection).optional()?;
    Ok(url.flatten().filter(|url| url.starts_with("https://") || url.starts_with("http://")))
}

#[async_trait]
impl NotificationReader for Database {
    async fn page(&self, customer: CustomerScope, page: PageRequest) -> Result<Page<Notification>, StoreError> {
        self.read(move |connection| {
            let own = notifications::table
                .filter(notifications::counterparty_id.eq(customer.counterparty_id.get()))
                .filter(notifications::application_id.eq(customer.app.application_id.get()))
                .filter(notifications::project_id.eq(customer.app.project_id.get()));
            let total: i64 = own.count().get_result(connection)?;
            let rows: Vec<NotificationRow> = own
                .order(notifications::id.desc())
                .limit(page.limit())
                .offset(page.offset())
                .select(NotificationRow::as_select())
                .load(connection)?;
            let url = if rows.is_empty() { None } else { address(connection, customer.app.application_id.get())? };
            let read = |row: NotificationRow| row.read(url.as_deref());
            Ok(decode::page(unreadable::rows("notifications", rows, |row| row.id, read)?, total, page)?)
        })
        .await
    }
}

/// Deletes the notifications of a customer.
pub(super) fn delete_all(connection: &mut AnyConnection, customer: i64) -> Result<(), QueryError> {
    diesel::delete(notifications::table.filter(notifications::counterparty_id.eq(customer))).execute(connection)?;
    Ok(())
}
