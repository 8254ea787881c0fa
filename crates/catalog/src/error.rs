use kontor_kernel::{RecordError, Refusal};

use crate::model::{CardRefusal, EndsBeforeStart, PlanAssignment, StatusRefusal, StockLevel, TermsRefusal};

/// Error of a use case of categories.
pub type CategoryError = RecordError<CategoryRefusal>;

/// Refusals specific to categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CategoryRefusal {
    /// The parent does not exist in the project.
    #[error("there is no such category")]
    UnknownParent,
    /// Another category of the project has the code.
    #[error("another category has this code")]
    CodeTaken,
    /// The category would be its own ancestor.
    #[error("a category cannot be placed inside itself")]
    Cycle,
}

impl Refusal for CategoryRefusal {}

/// Error of a use case of an assortment. Not found refers to the application, or to a record that it does not show.
pub type AssortmentError = RecordError<AssortmentRefusal>;

/// Refusals specific to assortments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AssortmentRefusal {
    /// The record does not exist in the project.
    #[error("there is no such record")]
    UnknownRecord,
}

impl Refusal for AssortmentRefusal {}

/// Error of a use case of the subscription plans of an application. Not found refers to the application or to the
/// assignment.
pub type PlanError = RecordError<PlanRefusal>;

/// Refusals specific to the plans of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    /// The item is not a subscription plan of the project.
    #[error("there is no such plan")]
    UnknownPlan,
    /// Another plan of the application has the slug.
    #[error("another plan of the application has this slug")]
    SlugTaken,
    /// The application has the maximum number of plans.
    #[error("an application has at most {most} plans", most = PlanAssignment::MAX_PER_APPLICATION)]
    TooMany,
}

impl Refusal for PlanRefusal {}

/// Record that a warehouse refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarehouseReference {
    /// Branch.
    Branch,
    /// Application at this index of the list, counted from 0.
    Application(usize),
}

/// Error of a use case of warehouses.
pub type WarehouseError = RecordError<WarehouseRefusal>;

/// Refusals specific to warehouses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WarehouseRefusal {
    /// The warehouse is not empty.
    #[error("there is stock in the warehouse")]
    Stocked,
    /// The records do not exist in the project. Lists all missing ones.
    #[error("the warehouse refers to records that do not belong to the project: {0:?}")]
    UnknownReferences(Vec<WarehouseReference>),
}

impl Refusal for WarehouseRefusal {}

/// Record that an item refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardReference {
    /// Type.
    Type,
    /// Category.
    Category,
    /// Brand.
    Brand,
    /// Country.
    Country,
    /// Storage unit.
    StorageUnit,
    /// VAT rate.
    Vat,
    /// Tag at this index of the list, counted from 0.
    Tag(usize),
}

/// Error of a use case of catalog items.
pub type NomenclatureError = RecordError<NomenclatureRefusal>;

/// Refusals specific to catalog items.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NomenclatureRefusal {
    /// The fields of the item contradict each other.
    #[error(transparent)]
    Card(#[from] CardRefusal),
    /// The records exist neither in the project nor in a dictionary. Lists all missing ones.
    #[error("the card refers to unknown records: {0:?}")]
    UnknownReferences(Vec<CardReference>),
    /// Another item of the project has the article.
    #[error("another item has this article")]
    ArticleTaken,
    /// The item has stock and must stay goods.
    #[error("the item has stock in warehouses and must stay goods")]
    Stocked,
    /// The item was changed in the meantime; nothing was written.
    #[error("the card was changed by another request; load it again and retry")]
    Stale,
}

impl Refusal for NomenclatureRefusal {}

/// Record that a stock level refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InventoryReference {
    /// Warehouse.
    Warehouse,
    /// Item.
    Nomenclature,
}

/// Error of a use case of stock levels.
pub type InventoryError = RecordError<InventoryRefusal>;

/// Refusals specific to stock levels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InventoryRefusal {
    /// The records do not exist in the project. Lists all missing ones.
    #[error("the stock refers to records that do not belong to the project: {0:?}")]
    UnknownReferences(Vec<InventoryReference>),
    /// Services and subscription plans have no stock.
    #[error("only goods can have stock in warehouses")]
    NotStocked,
    /// The item already has a stock level in the warehouse.
    #[error("the item already has stock in this warehouse")]
    AlreadyStocked,
    /// The new quantity is less than the reserved units.
    #[error("must be at least {}, the number of pieces reserved by orders", .reserved.get())]
    BelowReserved {
        /// Units reserved by orders.
        reserved: StockLevel,
    },
}

impl Refusal for InventoryRefusal {}

/// Error of a use case of discounts.
pub type DiscountError = RecordError<DiscountRefusal>;

/// Refusals specific to discounts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscountRefusal {
    /// The terms contradict each other. Lists all problems.
    #[error("the terms of the discount are not valid: {0:?}")]
    Terms(Vec<TermsRefusal>),
    /// The category does not exist in the project.
    #[error("there is no such category")]
    UnknownCategory,
    /// The product does not exist in the project.
    #[error("there is no such product")]
    UnknownProduct,
    /// Another discount of the project has the code.
    #[error("another discount has this code")]
    CodeTaken,
    /// Orders use the code, so it cannot be changed.
    #[error("orders use the promo code")]
    CodeInUse,
    /// More orders use the code than the new limit allows.
    #[error("must be at least {used}, the number of orders that use the code")]
    BelowUsed {
        /// Number of orders that use the code.
        used: u64,
    },
    /// The status does not allow this.
    #[error(transparent)]
    Status(#[from] StatusRefusal),
    /// Orders refer to the discount.
    #[error("orders use the discount; archive it instead")]
    UsedByOrders,
    /// The discount was changed in the meantime; nothing was written.
    #[error("the discount was changed by another request; load it again and retry")]
    Stale,
}

impl Refusal for DiscountRefusal {}

/// List of a promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromotionList {
    /// Discounts of the promotion.
    Discounts,
    /// Products of the promotion.
    Nomenclatures,
}

/// Record that a promotion refers to, by its index in a list, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromotionReference {
    /// List.
    pub list: PromotionList,
    /// Index in the list.
    pub place: usize,
}

/// Error of a use case of promotions.
pub type PromotionError = RecordError<PromotionRefusal>;

/// Refusals specific to promotions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromotionRefusal {
    /// These lists are too long.
    #[error("the promotion has too many records: {0:?}")]
    TooMany(Vec<PromotionList>),
    /// The records do not exist in the project. Lists all missing ones.
    #[error("the promotion refers to records that do not belong to the project: {0:?}")]
    UnknownReferences(Vec<PromotionReference>),
    /// The promotion would end before it begins.
    #[error("the promotion ends before it begins")]
    Period(EndsBeforeStart),
}

impl Refusal for PromotionRefusal {}
