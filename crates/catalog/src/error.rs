use kontor_kernel::{RecordError, Refusal, StockLevel};

use crate::model::{CardRefusal, PlanAssignment, StatusRefused, TermsRefusal};

/// Why a use case of categories is refused.
pub type CategoryError = RecordError<CategoryRefusal>;

/// What only categories refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CategoryRefusal {
    /// The named parent is no category of the project.
    #[error("there is no such category")]
    UnknownParent,
    /// Another category of the project has the code.
    #[error("another category has this code")]
    CodeTaken,
    /// The category would lie in itself, directly or further up.
    #[error("a category cannot lie in itself")]
    Cycle,
}

impl Refusal for CategoryRefusal {}

/// Why a use case of brands is refused.
pub type BrandError = RecordError<BrandRefusal>;

/// What only brands refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BrandRefusal {
    /// Another brand of the project has the name, in this or another case.
    #[error("another brand has this name")]
    NameTaken,
}

impl Refusal for BrandRefusal {}

/// Why a use case of tags is refused; what is not found is the project.
pub type TagError = RecordError<TagRefusal>;

/// What only tags refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TagRefusal {
    /// Another tag of the project has the name, in this or another case.
    #[error("another tag has this name")]
    NameTaken,
}

impl Refusal for TagRefusal {}

/// Why a use case of what an application shows is refused; what is not found is the application, or that it shows the
/// record.
pub type AssortmentError = RecordError<AssortmentRefusal>;

/// What only the records that an application shows refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AssortmentRefusal {
    /// The record to show is not one of the project.
    #[error("there is no such record")]
    UnknownRecord,
}

impl Refusal for AssortmentRefusal {}

/// Why a use case of the subscription plans of an application is refused; what is not found is the application, or the
/// assignment.
pub type PlanError = RecordError<PlanRefusal>;

/// What only the plans of an application refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    /// The item to assign is no subscription plan of the project.
    #[error("there is no such plan")]
    UnknownPlan,
    /// Another plan of the application has the slug.
    #[error("another plan of the application has this slug")]
    SlugTaken,
    /// The application has as many plans as it may have.
    #[error("an application has at most {most} plans", most = PlanAssignment::MOST_PER_APPLICATION)]
    TooMany,
}

impl Refusal for PlanRefusal {}

/// What a warehouse refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarehouseReference {
    /// The branch.
    Branch,
    /// The application at this place of the list, counted from 0.
    Application(usize),
}

/// Why a use case of warehouses is refused.
pub type WarehouseError = RecordError<WarehouseRefusal>;

/// What only warehouses refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WarehouseRefusal {
    /// There are pieces in it.
    #[error("there is stock in the warehouse")]
    Stocked,
    /// Records that are not of the project; every one that was found missing.
    #[error("the warehouse refers to records that are not of the project: {0:?}")]
    UnknownReferences(Vec<WarehouseReference>),
}

impl Refusal for WarehouseRefusal {}

/// What a card refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardReference {
    /// The type.
    Type,
    /// The category.
    Category,
    /// The brand.
    Brand,
    /// The country.
    Country,
    /// The storage unit.
    StorageUnit,
    /// The VAT rate.
    Vat,
    /// The tag at this place of the list, counted from 0.
    Tag(usize),
}

/// Why a use case of catalogue items is refused.
pub type NomenclatureError = RecordError<NomenclatureRefusal>;

/// What only catalogue items refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NomenclatureRefusal {
    /// The card would contradict itself.
    #[error(transparent)]
    Card(#[from] CardRefusal),
    /// Records that are neither of the project nor of a dictionary; every one that was found missing.
    #[error("the card refers to unknown records: {0:?}")]
    UnknownReferences(Vec<CardReference>),
    /// Another item of the project has the article.
    #[error("another item has this article")]
    ArticleTaken,
    /// The item lies in warehouses and so must stay goods.
    #[error("the item has stock in warehouses and must stay goods")]
    Stocked,
    /// Somebody else changed the card meanwhile; the change was not made.
    #[error("the card was changed meanwhile")]
    Stale,
}

impl Refusal for NomenclatureRefusal {}

/// What stock refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InventoryReference {
    /// The warehouse.
    Warehouse,
    /// The item.
    Nomenclature,
}

/// Why a use case of stock is refused.
pub type InventoryError = RecordError<InventoryRefusal>;

/// What only stock refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InventoryRefusal {
    /// Records that are not of the project; every one that was found missing.
    #[error("the stock refers to records that are not of the project: {0:?}")]
    UnknownReferences(Vec<InventoryReference>),
    /// Services and subscription plans are not kept in warehouses.
    #[error("only goods are kept in warehouses")]
    NotStocked,
    /// The item already has a stock record in the warehouse.
    #[error("the item already has stock in this warehouse")]
    AlreadyStocked,
    /// Orders have reserved more pieces than would be left.
    #[error("must be at least {}, the pieces reserved by orders", .reserved.get())]
    BelowReserved {
        /// The pieces reserved by orders.
        reserved: StockLevel,
    },
}

impl Refusal for InventoryRefusal {}

/// Why a use case of discounts is refused.
pub type DiscountError = RecordError<DiscountRefusal>;

/// What only discounts refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscountRefusal {
    /// The terms contradict each other; everything that is wrong.
    #[error("the terms of the discount are impossible: {0:?}")]
    Terms(Vec<TermsRefusal>),
    /// The category is none of the project.
    #[error("there is no such category")]
    UnknownCategory,
    /// The product is none of the project.
    #[error("there is no such product")]
    UnknownProduct,
    /// Another discount of the project has the code.
    #[error("another discount has this code")]
    CodeTaken,
    /// Orders use the code: it stays what it was when they were made.
    #[error("orders use the promo code")]
    CodeInUse,
    /// More orders use the code than the limit would allow.
    #[error("must be at least {used}, the orders that use the code")]
    BelowUsed {
        /// The orders that use the code.
        used: u64,
    },
    /// Its status does not allow that.
    #[error(transparent)]
    Status(#[from] StatusRefused),
    /// Orders name it.
    #[error("orders were made with the discount; archive it instead")]
    Ordered,
    /// Somebody else changed it meanwhile; the change was not made.
    #[error("the discount was changed meanwhile")]
    Stale,
}

impl Refusal for DiscountRefusal {}

/// A list of a promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromotionList {
    /// The discounts it tells about.
    Discounts,
    /// The products it shows.
    Nomenclatures,
}

/// What a promotion refers to: the place in its list, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromotionReference {
    /// Which list.
    pub list: PromotionList,
    /// Where in it.
    pub place: usize,
}

/// Why a use case of promotions is refused.
pub type PromotionError = RecordError<PromotionRefusal>;

/// What only promotions refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromotionRefusal {
    /// These lists are too long.
    #[error("the promotion has too many records: {0:?}")]
    TooMany(Vec<PromotionList>),
    /// Records that are not of the project; every one that was found missing.
    #[error("the promotion refers to records that are not of the project: {0:?}")]
    UnknownReferences(Vec<PromotionReference>),
}

impl Refusal for PromotionRefusal {}
