//! Items, categories, brands, warehouses and stock.
//!
//! **Owns** goods, services and subscription plans, their categories and brands, the assortments of applications, the
//! warehouses and their stock levels, discounts, promo codes and promotions.
//!
//! **Invariants**
//! - Every record belongs to one project. Staff read and change only records of their own project. A record refers only
//!   to records of its project or of the system-wide dictionaries.
//! - A subscription plan has a billing period, and no other item has one. An application offers the plans assigned to
//!   it, each once and under its own slug.
//! - Only goods have stock, with at most one stock level per item and warehouse. A stock level is never lower than the
//!   reserved units.
//! - Stock is a ledger: quantities, reservations and prices change only by stock movements, which record reason and
//!   author.
//! - Concurrent changes of one item do not overwrite each other: a change applies only to the version it was decided
//!   on. The same holds for discounts. An archived discount stays archived.
//!
//! **Ports**: [`ports::CategoryRepository`], [`ports::AssortmentRepository`], [`ports::ApplicationDirectory`],
//! [`ports::PlanRepository`], [`ports::WarehouseRepository`], [`ports::NomenclatureRepository`],
//! [`ports::InventoryRepository`], [`ports::TagRepository`], [`ports::DiscountRepository`],
//! [`ports::PromotionRepository`], those of [`storefront`], [`spreadsheet`] and [`bulk`], and
//! [`kontor_kernel::RecordRepository`] of brands.
//!
//! Changes of an item are computed without any storage:
//!
//! ```
//! use kontor_catalog::model::{BillingPeriod, BillingRefusal, Card, CardChange, Edit, NomenclatureKind};
//! use kontor_kernel::Name;
//!
//! let card = Card::new(Name::parse("Club membership")?, NomenclatureKind::Service);
//! let change = CardChange { is_subscription: Edit::Set(true), ..CardChange::default() };
//! assert_eq!(change.clone().apply(card.clone()), Err(BillingRefusal::PeriodRequired.into()));
//!
//! let change = CardChange { billing_period_months: Edit::Set(Some(BillingPeriod::months(12)?)), ..change };
//! assert_eq!(change.apply(card)?.subscription.map(BillingPeriod::get), Some(12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use kontor_kernel::RecordService;

mod assortment;
pub mod bulk;
mod categories;
mod discounts;
mod error;
mod inventories;
pub mod model;
mod nomenclatures;
mod plans;
pub mod ports;
mod promotions;
pub mod spreadsheet;
pub mod storefront;
mod tags;
mod warehouses;

pub use assortment::AssortmentService;
pub use categories::CategoryService;
pub use discounts::DiscountService;
pub use error::{
    AssortmentError, AssortmentRefusal, BrandError, BrandRefusal, CardReference, CategoryError, CategoryRefusal,
    DiscountError, DiscountRefusal, InventoryError, InventoryReference, InventoryRefusal, NomenclatureError,
    NomenclatureRefusal, PlanError, PlanRefusal, PromotionError, PromotionList, PromotionReference, PromotionRefusal,
    TagError, TagRefusal, WarehouseError, WarehouseReference, WarehouseRefusal,
};
pub use inventories::InventoryService;
pub use nomenclatures::NomenclatureService;
pub use plans::PlanService;
pub use promotions::PromotionService;
pub use tags::TagService;
pub use warehouses::WarehouseService;

/// Use cases of brands.
pub type BrandService = RecordService<model::Brand>;

/// The example of the reuse guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reuse-catalog.md")]
struct ReuseGuide;
