//! What customers were told, as they read it.

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_customers::model::Notification;
use kontor_customers::ports::NotificationReader;
use kontor_kernel::{CustomerScope, Page, PageRequest, StoreError};

use crate::database::{AnyConnection, Database};
use crate::schema::notifications;
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = notifications)]
struct NotificationRow {
    id: i64,
    title: String,
    code: String,
    body: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<NotificationRow> for Notification {
    type Error = StoreError;

    fn try_from(row: NotificationRow) -> Result<Self, StoreError> {
        let NotificationRow { id, title, code, body, created_at } = row;
        Ok(Self { id: stored::id(id)?, title, code, body, created_at: stored::moment(created_at) })
    }
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
            Ok(stored::page(rows.into_iter().map(Notification::try_from), total, page)?)
        })
        .await
    }
}

/// Forgets what a customer was told.
pub(super) fn forget(connection: &mut AnyConnection, customer: i64) -> Result<(), QueryError> {
    diesel::delete(notifications::table.filter(notifications::counterparty_id.eq(customer))).execute(connection)?;
    Ok(())
}
