//! The records of a catalogue.

mod brand;
mod card;
mod category;
mod edit;
mod inventory;
mod nomenclature;
mod photo;
mod reference;
mod subscription;
mod warehouse;

pub use brand::{Brand, BrandDraft};
pub use card::{Card, CardChange, Packaging};
pub use category::{Category, CategoryCode, CategoryDraft, InvalidCategoryCode};
pub use edit::Edit;
pub use inventory::{
    Inventory, InventoryDraft, InventoryFilter, InventoryOrder, InventorySort, StockChange, StockedItem,
};
pub use nomenclature::{
    CardLabels, Nomenclature, NomenclatureFilter, NomenclatureKind, NomenclatureOrder, NomenclatureSort, UnknownKind,
};
pub use photo::{Gallery, GalleryError, PhotoUrl, PhotoUrlError};
pub use reference::{Reference, StorageUnit};
pub use subscription::{BillingPeriod, BillingRefusal, InvalidBillingPeriod};
pub use warehouse::{Warehouse, WarehouseChange, WarehouseDraft};
