//! How lists of orders are filtered.

use deserr::Deserr;
use kontor_kernel::{PageRequest, Violations};
use kontor_orders::model::OrderFilter;
use utoipa::IntoParams;

use crate::http::order_record::OrderStatusId;
use crate::http::paging::{PageNumber, PageSize, page_of};
use crate::http::wire::{self, InputErrors};

/// The two lists differ in what they call the application alone.
macro_rules! order_queries {
    ($($(#[doc = $doc:literal])+ $name:ident { $application:ident })+) => {$(
        $(#[doc = $doc])+
        #[derive(Deserr, IntoParams)]
        #[deserr(error = InputErrors, deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub(super) struct $name {
            #[deserr(default)]
            #[param(value_type = Option<i64>, minimum = 1)]
            page: Option<PageNumber>,
            /// At most 100.
            #[deserr(default)]
            #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
            per_page: Option<PageSize>,
            #[deserr(default)]
            #[param(value_type = Option<i64>, minimum = 1)]
            status_id: Option<OrderStatusId>,
            /// The customer.
            #[deserr(default)]
            #[param(value_type = Option<i64>, minimum = 1)]
            counterparty_id: Option<wire::CounterpartyId>,
            /// The application through which the order was made.
            #[deserr(default)]
            #[param(value_type = Option<i64>, minimum = 1)]
            $application: Option<wire::ApplicationId>,
            #[deserr(default)]
            #[param(value_type = Option<String>, format = Date)]
            date_from: Option<wire::Date>,
            #[deserr(default)]
            #[param(value_type = Option<String>, format = Date)]
            date_to: Option<wire::Date>,
            /// The number of the order, the customer's phone, or the promo code.
            #[deserr(default)]
            #[param(value_type = Option<String>, max_length = 64)]
            query: Option<wire::Line64>,
        }

        impl $name {
            /// The filter and the page.
            pub fn checked(self, default_size: i64) -> Result<(OrderFilter, PageRequest), Violations> {
                let page = page_of(self.page.as_ref(), self.per_page.as_ref(), default_size)?;
                let filter = OrderFilter {
                    status: self.status_id.map(|status| status.0),
                    counterparty_id: self.counterparty_id.map(|id| id.0),
                    application_id: self.$application.map(|id| id.0),
                    date_from: self.date_from.map(|date| date.0),
                    date_to: self.date_to.map(|date| date.0),
                    query: self.query.map(|text| text.0.into()),
                };
                Ok((filter, page))
            }
        }
    )+};
}

order_queries! {
    /// `GET /api/orders`
    OrderQuery { application_id }
    /// `GET /api/tables/orders`
    OrderTableQuery { client_id }
}
