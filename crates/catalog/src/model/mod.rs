//! Records of the catalog.

mod audited_card;
mod card;
mod category;
mod discount;
mod fuzzy;
mod inventory;
mod movement;
mod nomenclature;
mod photo;
mod plan;
mod promotion;
mod reference;
mod relevance;
mod sale;
mod search;
mod share_link;
mod stock_level;
mod subscription;
mod warehouse;
mod word_variants;

pub use crate::brands::{Brand, BrandChange, BrandDraft};
pub use crate::tags::{Tag, TagDraft};
pub use card::{Card, CardChange, CardRefusal, Packaging};
pub use category::{Category, CategoryChange, CategoryCode, CategoryDraft, InvalidCategoryCode};
pub use discount::{
    Discount, DiscountChange, DiscountDraft, DiscountKind, DiscountState, DiscountStats, DiscountTerms, DiscountUsage,
    PromoTerms, StatusRefusal, TargetChange, TargetKind, TermsRefusal,
};
pub use fuzzy::NearQuery;
pub use inventory::{Inventory, InventoryDraft, StockChange, StockedItem};
pub use kontor_kernel::{EndsBeforeStart, MoveDirection, Period, Phase};
pub use movement::{StockEntry, StockReason, StockSource};
pub use nomenclature::{CardLabels, Nomenclature, NomenclatureKind, UnknownKind};
pub use photo::{Gallery, GalleryError, PhotoUrl, PhotoUrlError};
pub use plan::{
    AssignOutcome, CatalogPlan, InvalidPlanPosition, InvalidPlanSlug, PlanAssignment, PlanChange, PlanDraft,
    PlanPosition, PlanSlug,
};
pub use promotion::{Promotion, PromotionChange, PromotionDraft, PromotionStats};
pub use reference::{Reference, StorageUnit};
pub use relevance::Relevance;
pub use sale::{MissingPrice, price_of_new_stock};
pub use search::{SearchQuery, SearchTerm, SearchText, SearchWord};
pub use share_link::ShareLink;
pub use stock_level::{StockLevel, StockLevelError};
pub use subscription::{BillingPeriod, BillingRefusal, InvalidBillingPeriod};
pub use warehouse::{Warehouse, WarehouseChange, WarehouseDraft};

pub use kontor_kernel::Edit;
