//! Records of the catalog.

mod card;
mod category;
mod discount;
mod fuzzy;
mod inventory;
mod nomenclature;
mod plan;
mod promotion;
mod relevance;
mod search;
mod warehouse;

pub use crate::brands::{Brand, BrandChange, BrandDraft};
pub use crate::tags::{Tag, TagDraft};
pub use card::{
    BillingPeriod, BillingRefusal, Card, CardChange, CardRefusal, Gallery, GalleryError, InvalidBillingPeriod,
    Packaging, ShareLink,
};
pub use category::{Category, CategoryChange, CategoryCode, CategoryDraft, InvalidCategoryCode};
pub use discount::{
    Discount, DiscountChange, DiscountDraft, DiscountKind, DiscountState, DiscountStats, DiscountTerms, DiscountUsage,
    PromoTerms, StatusRefusal, TargetChange, TargetKind, TermsRefusal,
};
pub use fuzzy::NearQuery;
pub use inventory::{
    Inventory, InventoryDraft, StockChange, StockEntry, StockLevel, StockLevelError, StockReason, StockSource,
    StockedItem,
};
pub use kontor_kernel::{
    EndsBeforeStart, MoveDirection, Period, Phase, PhotoUrl, PhotoUrlError, Reference, StorageUnit,
};
pub use nomenclature::{CardLabels, MissingPrice, Nomenclature, NomenclatureKind, UnknownKind, price_of_new_stock};
pub use plan::{
    AssignOutcome, CatalogPlan, InvalidPlanPosition, InvalidPlanSlug, PlanAssignment, PlanChange, PlanDraft,
    PlanPosition, PlanSlug,
};
pub use promotion::{Promotion, PromotionChange, PromotionDraft, PromotionStats};
pub use relevance::Relevance;
pub use search::{SearchQuery, SearchTerm, SearchText, SearchWord};
pub use warehouse::{Warehouse, WarehouseChange, WarehouseDraft};

pub use kontor_kernel::Edit;
