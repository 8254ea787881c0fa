//! What customers see of the catalogue.
//!
//! **Owns** the storefront list with its filters and orders, the product card, the price range, the categories and
//! brands an application shows, and the counting of views.
//!
//! **Invariants**
//! - A product is shown by what the application offers: goods with a category and unreserved stock in one of its
//!   warehouses, services of its project. Everything else does not exist for its customers.
//! - One view counts once in ten minutes per address and product; reading never writes, views are stored in batches.
//!
//! **Ports**: [`ports::Shelves`], [`ports::ViewCounter`]

mod filter;
pub mod ports;
mod product;
mod service;
mod views;

pub use filter::{ProductFilter, ProductOrder};
pub use product::{PriceRange, Product, ProductCard, ShelfBrand, ShelfCategory, Tag};
pub use service::{StorefrontError, StorefrontService};
