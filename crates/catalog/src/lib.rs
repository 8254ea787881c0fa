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
//! **Refusals**: each group of use cases has one error, a [`kontor_kernel::RecordError`] of its business refusals.
//! Brands have [`BrandError`] and [`BrandRefusal`].
//!
//! **Ports**: [`ports::CategoryRepository`], [`ports::AssortmentRepository`], [`ports::ApplicationDirectory`],
//! [`ports::PlanRepository`], [`ports::WarehouseRepository`], [`ports::NomenclatureRepository`],
//! [`ports::InventoryRepository`], [`ports::TagRepository`], [`ports::DiscountRepository`],
//! [`ports::PromotionRepository`], those of [`storefront`], [`spreadsheet`] and [`bulk`], and
//! [`kontor_kernel::RecordRepository`] of brands.
//!
//! **Services and their ports**; most also take a `Clock`, a `Random` or a `SecretCipher` of the kernel:
//!
//! | Service | Ports |
//! |---|---|
//! | [`NomenclatureService`] | `NomenclatureRepository`, `Histories` of the kernel |
//! | [`InventoryService`] | `InventoryRepository` |
//! | [`WarehouseService`] | `WarehouseRepository`, `Histories` of the kernel |
//! | [`CategoryService`] | `CategoryRepository`, `Histories` of the kernel |
//! | [`TagService`] | `TagRepository` |
//! | [`BrandService`] | `RecordRepository` of the kernel |
//! | [`AssortmentService`] | `AssortmentRepository`, `ApplicationDirectory` |
//! | [`PlanService`] | `PlanRepository`, `ApplicationDirectory` |
//! | [`DiscountService`], [`PromotionService`] | `DiscountRepository`, `PromotionRepository` |
//!
//! **Features**, none by default
//! - `mocks` adds a mock of every port except [`spreadsheet::ports::SheetReader`].
//! - `testing` adds `testing::contract`, the promises of the storage ports, as functions that the tests of an adapter
//!   run; and `testing::memory`, the catalog with what applications offer and customers see, its jobs and sheets, in
//!   memory.
//!
//! ```toml
//! [dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel" }
//! kontor-catalog = { path = "../kontor/crates/catalog" }
//!
//! [dev-dependencies]
//! kontor-kernel = { path = "../kontor/crates/kernel", features = ["mocks"] }
//! kontor-catalog = { path = "../kontor/crates/catalog", features = ["mocks", "testing"] }
//! ```
//!
//! **When not to use it**
//! - Variants of an item, such as sizes with a shared card: each is an item of its own.
//! - Lots, serial numbers or expiry dates: a stock level is a number of equal units.
//! - Names and descriptions in several languages: an item has one of each.
//!
//! Changes of an item are computed without any storage:
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
//!
//! Stock in memory never falls below the units that orders reserve:
//! ```
//! # #[cfg(feature = "testing")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//!
//! use chrono::DateTime;
//! use kontor_catalog::model::{
//!     Card, Edit, InventoryDraft, NomenclatureKind, StockChange, StockLevel, WarehouseDraft,
//! };
//! use kontor_catalog::ports::{NomenclatureRepository, WarehouseRepository};
//! use kontor_catalog::testing::memory::InMemoryStock;
//! use kontor_catalog::{InventoryError, InventoryRefusal, InventoryService};
//! use kontor_kernel::testing::staff_with;
//! use kontor_kernel::{FixedClock, Name, Permission, Resource, Stamp};
//!
//! let (store, now) = (InMemoryStock::default(), DateTime::UNIX_EPOCH);
//! let staff = staff_with([Permission::edit(Resource::Inventories)]);
//! let (stamp, branch_id) = (Stamp::of(&staff, now), store.add_branch(staff.project_id));
//! let main = WarehouseDraft { name: Name::parse("Main")?, address: None, branch_id, application_ids: None };
//! let warehouse = WarehouseRepository::insert(&store, stamp, main).await?;
//! let vase = Card::new(Name::parse("Vase")?, NomenclatureKind::Goods);
//! let vase = NomenclatureRepository::insert(&store, stamp, vase).await?;
//!
//! let service = InventoryService { inventories: Arc::new(store.clone()), clock: Arc::new(FixedClock::at(now)) };
//! let five = InventoryDraft {
//!     warehouse_id: warehouse.id,
//!     nomenclature_id: vase.id,
//!     quantity: StockLevel::new(5)?,
//!     price: "265.00".parse()?,
//! };
//! let stock = service.create(&staff, five).await?;
//! store.reserve(stock.id, 3);
//! let two = StockChange { quantity: Edit::Set(StockLevel::new(2)?), ..StockChange::default() };
//! let refused = service.set_stock(&staff, stock.id, two).await;
//! assert!(matches!(refused, Err(InventoryError::Refused(InventoryRefusal::BelowReserved { .. }))));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "testing"))]
//! # fn main() {}
//! ```
//!
//! Brands on other storage. A storage port commits a change as a whole or refuses it:
//! ```
//! # #[cfg(feature = "mocks")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::{Arc, Mutex};
//!
//! use async_trait::async_trait;
//! use chrono::DateTime;
//! use kontor_catalog::model::{Brand, BrandChange, BrandDraft, Edit};
//! use kontor_catalog::{BrandError, BrandRefusal, BrandService};
//! use kontor_kernel::testing::staff_with;
//! use kontor_kernel::{
//!     BrandId, FixedClock, Name, ProjectScoped, Permission, ProjectId, RecordRepository, Resource, Stamp, StoreError,
//! };
//!
//! // 1. Storage behind the port, here a list in memory. The step that writes also checks the name, so concurrent calls
//! //    cannot both take it.
//! #[derive(Default)]
//! struct BrandList(Mutex<Vec<(ProjectId, Brand)>>);
//!
//! fn taken(brands: &[(ProjectId, Brand)], project: ProjectId, name: &Name, but: Option<BrandId>) -> bool {
//!     let alike = |brand: &Brand| brand.name.as_str().to_lowercase() == name.as_str().to_lowercase();
//!     brands.iter().any(|(owner, brand)| *owner == project && Some(brand.id) != but && alike(brand))
//! }
//!
//! #[async_trait]
//! impl RecordRepository<Brand> for BrandList {
//!     async fn list(&self, project: ProjectId) -> Result<Vec<Brand>, StoreError> {
//!         let brands = self.0.lock().unwrap();
//!         Ok(brands.iter().filter(|(owner, _)| *owner == project).map(|(_, brand)| brand.clone()).collect())
//!     }
//!
//!     // The record may belong to any project. `ProjectScoped` gives it only to an employee of that project.
//!     async fn find(&self, id: BrandId) -> Result<Option<ProjectScoped<Brand>>, StoreError> {
//!         let brands = self.0.lock().unwrap();
//!         Ok(brands
//!             .iter()
//!             .find(|(_, brand)| brand.id == id)
//!             .map(|(owner, brand)| ProjectScoped::new(*owner, brand.clone())))
//!     }
//!
//!     async fn insert(&self, stamp: Stamp, draft: BrandDraft) -> Result<Brand, BrandError> {
//!         let mut brands = self.0.lock().unwrap();
//!         if taken(&brands, stamp.project_id, &draft.name, None) {
//!             return Err(BrandRefusal::NameTaken.into());
//!         }
//!         let id = BrandId::new(i64::try_from(brands.len()).unwrap() + 1).unwrap();
//!         let BrandDraft { name, photo } = draft;
//!         let brand = Brand { id, name, photo, created_at: stamp.at, updated_at: stamp.at };
//!         brands.push((stamp.project_id, brand.clone()));
//!         Ok(brand)
//!     }
//!
//!     async fn update(&self, stamp: Stamp, id: BrandId, change: BrandChange) -> Result<Brand, BrandError> {
//!         let mut brands = self.0.lock().unwrap();
//!         if change.name.as_set().is_some_and(|name| taken(&brands, stamp.project_id, name, Some(id))) {
//!             return Err(BrandRefusal::NameTaken.into());
//!         }
//!         let own = brands.iter_mut().find(|(owner, brand)| *owner == stamp.project_id && brand.id == id);
//!         let (_, brand) = own.ok_or(BrandError::NotFound)?;
//!         brand.name = change.name.or(brand.name.clone());
//!         brand.updated_at = stamp.at;
//!         Ok(brand.clone())
//!     }
//! }
//!
//! // 2. The use cases. A call without the permission never reaches the storage.
//! let brands = BrandService::new(Arc::new(BrandList::default()), Arc::new(FixedClock::at(DateTime::UNIX_EPOCH)));
//! let editor = staff_with([Permission::create(Resource::Brands), Permission::edit(Resource::Brands)]);
//! let named = |name: &str| BrandDraft { name: Name::parse(name).unwrap(), photo: None };
//!
//! let brand = brands.create(&editor, named("Elbe")).await?;
//! assert!(matches!(brands.create(&editor, named("ELBE")).await, Err(BrandError::Refused(BrandRefusal::NameTaken))));
//! let change = BrandChange { name: Edit::Set(Name::parse("Elbe & Sons")?), ..BrandChange::default() };
//! assert_eq!(brands.update(&editor, brand.id, change).await?.name.as_str(), "Elbe & Sons");
//! assert!(matches!(brands.list(&editor).await, Err(BrandError::Denied(_))));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "mocks"))]
//! # fn main() {}
//! ```

mod assortment;
mod brands;
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
#[cfg(feature = "testing")]
pub mod testing {
    //! Helpers for the tests of use cases and of adapters.

    pub mod contract;
    pub mod memory;
    pub mod samples;
}
mod warehouses;

pub use assortment::AssortmentService;
pub use brands::{BrandError, BrandRefusal, BrandService};
pub use categories::CategoryService;
pub use discounts::DiscountService;
pub use error::{
    AssortmentError, AssortmentRefusal, CardReference, CategoryError, CategoryRefusal, DiscountError, DiscountRefusal,
    InventoryError, InventoryReference, InventoryRefusal, NomenclatureError, NomenclatureRefusal, PlanError,
    PlanRefusal, PromotionError, PromotionList, PromotionReference, PromotionRefusal, WarehouseError,
    WarehouseReference, WarehouseRefusal,
};
pub use inventories::InventoryService;
pub use nomenclatures::NomenclatureService;
pub use plans::PlanService;
pub use promotions::PromotionService;
pub use tags::{TagError, TagRefusal, TagService};
pub use warehouses::WarehouseService;
