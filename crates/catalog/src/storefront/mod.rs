//! Customers' view of the catalog.
//!
//! **Owns** the product list with its filters and orders, the product details, the price range, the categories and
//! brands of an application, its slides and subscription plans, the favourites and the search history of customers, and
//! the view counts.
//!
//! **Invariants**
//! - An application shows goods with a category and unreserved stock in one of its warehouses, and services of its
//!   project. Subscription plans are listed separately, where they are assigned. For customers no other items exist.
//! - One view counts once in ten minutes per address and product. Reading never writes; views and searches are stored
//!   in batches.
//! - Favourites and searches are visible only to their customer.
//! - HTML of staff is cleaned before it is shown to customers.
//!
//! **Ports**: [`ports::StorefrontReader`], [`ports::ViewCounter`], [`ports::Favourites`], [`ports::SearchLog`],
//! [`ports::Showcase`], [`ports::StorefrontPlans`], and [`kontor_kernel::HtmlCleaner`]

mod filter;
mod plans;
pub mod ports;
mod product;
mod searches;
mod service;
mod showcase;

pub use crate::model::Tag;
pub use filter::{Facet, FacetValue, Facets, ProductFilter, ProductOrder};
pub use plans::{Plan, PlanCard, PlanGroup, StorefrontPlanService};
pub use product::{PriceRange, Product, ProductCard, StorefrontBrand, StorefrontCategory};
pub use searches::{FavouriteError, FavouriteService, MAX_SEARCHES, Search, SearchHistory, SearchRequest};
pub use service::{StorefrontError, StorefrontService};
pub use showcase::{Country, ShowcaseService, Slide};
