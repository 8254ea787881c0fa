// Written by generate.py from docs/openapi.json.

use super::*;
use crate::{Call, ClientSurface, Method, Pages};

impl ClientSurface {
    /// List the customer's notifications.
    ///
    /// Notifications are about the customer's orders in the calling application, newest first.
    ///
    /// `GET /api/counterparty/notifications`
    pub fn list_notifications(&self, query: &PageQuery) -> Call<NotificationList> {
        self.call(Method::GET, "/api/counterparty/notifications").query(query)
    }

    /// Reads [`list_notifications`](Self::list_notifications) page by page, from the first page.
    pub fn list_notifications_pages(&self, query: PageQuery) -> Pages<PageQuery, NotificationList> {
        let surface = self.clone();
        Pages::new(query, move |query| surface.list_notifications(query))
    }
}
