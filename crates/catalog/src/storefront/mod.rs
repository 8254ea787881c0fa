//! What customers see of the catalogue.
//!
//! **Owns** the storefront list with its filters and orders, the product card, the price range, the categories and
//! brands an application shows, its slides and subscription plans, the favourites and the searches of customers, and the counting of views.
//!
//! **Invariants**
//! - A product is shown by what the application offers: goods with a category and unreserved stock in one of its
//!   warehouses, services of its project. Plans are shown apart, where they were assigned. Everything else does not exist for its customers.
//! - One view counts once in ten minutes per address and product; reading never writes, views and searches are stored in
//!   batches.
//! - What a customer keeps or searched for is seen by him alone.
//! - HTML that staff wrote reaches customers cleaned.
//!
//! **Ports**: [`ports::StorefrontReader`], [`ports::ViewCounter`], [`ports::Favourites`], [`ports::SearchLog`],
//! [`ports::Showcase`], [`ports::StorefrontPlans`], and [`kontor_kernel::HtmlCleaner`]

mod facets;
mod favourites;
mod filter;
mod plans;
pub mod ports;
mod product;
mod searches;
mod service;
mod showcase;

pub use facets::{Facet, FacetValue, Facets};
pub use favourites::{FavouriteError, FavouriteService};
pub use filter::{ProductFilter, ProductOrder};
pub use plans::{Plan, PlanCard, PlanGroup, StorefrontPlanService};
pub use product::{PriceRange, Product, ProductCard, StorefrontBrand, StorefrontCategory, Tag};
pub use searches::{KEPT_SEARCHES, Search, SearchHistory, SearchRequest};
pub use service::{StorefrontError, StorefrontService};
pub use showcase::{Country, ShowcaseService, Slide};
