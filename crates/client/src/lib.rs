//! Typed client of Kontor's API, for backends and scripts of shops.
//!
//! **Owns** the protocol of a client: credentials, idempotency keys, versions, repetition, pages, errors, exact money.
//!
//! ```no_run
//! use kontor_client::Client;
//! use kontor_client::types::{ListProductsQuery, NewOrder, ProductLine};
//!
//! # async fn order(token: &str, order_key: &str) -> Result<(), kontor_client::Error> {
//! let shop = Client::new("https://shop.example")?.application("APP_TOKEN");
//! let mugs = ListProductsQuery { query: Some("mug".to_owned()), ..ListProductsQuery::default() };
//! for product in shop.list_products_pages(mugs).all().await? {
//!     println!("{} {} {}", product.id, product.name, product.price);
//! }
//!
//! let customer = shop.with_customer(token);
//! let order = NewOrder {
//!     delivery_type_id: 1,
//!     shop_id: Some(1),
//!     products: vec![ProductLine { id: 1, quantity: 2 }],
//!     ..NewOrder::default()
//! };
//! // The same key places the order once, even if this process is started again.
//! match customer.place_order(&order).idempotency_key(order_key).await {
//!     Ok(placed) => println!("{}: {:?}", placed.order.id, placed.order.payment_link),
//!     Err(error) => {
//!         for (field, messages) in error.refusal().map(|refusal| &refusal.fields).into_iter().flatten() {
//!             println!("{field}: {}", messages.join(", "));
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Surfaces
//!
//! - [`Client::application`]: the client surface of an application. [`ClientSurface::with_customer`] adds the token of
//!   a customer. Every operation has a method.
//! - [`Client::staff`]: the platform surface with the token of an employee or an agent. Login, catalog, stock and
//!   orders have methods; other operations are called by path with [`PlatformSurface::call`]. Uploads of files are not
//!   covered.
//!
//! Types and methods are written by `generate.py` from `docs/openapi.json`; `.ci/run` compares them.
//!
//! # Rules
//!
//! - A write has an idempotency key, a random UUID unless the caller gives one. All attempts of a call have the same.
//! - A call without response, and one refused with `429`, `503` or `idempotency_in_progress`, is repeated if it reads
//!   or has a key: by default twice, after the time in `Retry-After` if it is at most 10 seconds. See [`Retries`].
//! - [`Error::key`] is the key of a failed write, to repeat it if its outcome is not known.
//! - [`Error::WaitsForApproval`] means that an employee must approve the call of an agent. The same call under the same
//!   key returns the result later.
//! - [`Error::Refused`] has status, code, message, every invalid field, next action and request id.
//! - [`Money`] is whole minor units. Enums have a variant `Other` for words of a newer service, and unknown fields of
//!   responses are ignored.
//! - [`Patch`] distinguishes fields of a change that stay from those that become empty.
//!
//! **Refuses** addresses that are not HTTP, paths with `.` or `..`, redirects, and responses that do not match the
//! description ([`Error::Unreadable`]). `Debug` forms of tokens and passwords do not contain them.
//!
//! **Features**: none. The calls need a tokio runtime.

#[macro_use]
mod words;

mod call;
mod client;
mod error;
#[allow(
    clippy::all,
    clippy::pedantic,
    missing_docs,
    unused_imports,
    reason = "it is generated: fields are named as in the API, and short modules import what long ones need"
)]
mod generated;
mod pages;
mod transport;
mod values;

pub use reqwest;
pub use reqwest::Method;

pub use crate::call::{Answer, Call};
pub use crate::client::{Client, ClientSurface, PlatformSurface};
pub use crate::error::{Error, NextAction, Refusal};
pub use crate::pages::{Numbered, Page, Pages};
pub use crate::transport::Retries;
pub use crate::values::{Money, MoneyError, Patch, Secret};

pub(crate) use crate::call::segment;

/// Bodies, queries and records of the operations.
pub mod types {
    pub use crate::generated::*;
}
