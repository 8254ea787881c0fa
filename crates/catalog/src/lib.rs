//! Nomenclature, categories, brands, warehouses and stock.
//!
//! **Owns** the cards of goods, services and subscription plans, the categories and brands they are sorted by, what of
//! them an application shows, the warehouses and the stock in them, discounts, promo codes and promotions.
//!
//! **Invariants**
//! - Every record belongs to one project; staff see and change only their own project's, and a record refers only to
//!   records of its project or of the system-wide dictionaries.
//! - A subscription plan has a billing period, and nothing else has one. An application offers the plans that were
//!   assigned to it, each once and under a slug of its own.
//! - Only goods lie in warehouses, an item at most once in each, and never fewer pieces than are reserved.
//! - Stock is a ledger: pieces, reservations and prices change by movements alone, which tell why and who.
//! - Two changes of one card never undo each other: a change is applied to the card it was decided on. The same holds for
//!   discounts; one that is archived stays so.
//!
//! **Ports**: [`ports::CategoryRepository`], [`ports::AssortmentRepository`],
//! [`ports::ApplicationDirectory`], [`ports::PlanRepository`], [`ports::WarehouseRepository`],
//! [`ports::NomenclatureRepository`], [`ports::InventoryRepository`], [`ports::TagRepository`],
//! [`ports::DiscountRepository`], [`ports::PromotionRepository`], those of [`storefront`],
//! [`spreadsheet`] and [`bulk`], and [`kontor_kernel::RecordRepository`] of brands.
//!
//! What a change of a card leaves behind is decided without any storage:
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
