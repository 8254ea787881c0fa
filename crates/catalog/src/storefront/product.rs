use chrono::{DateTime, Utc};
use kontor_kernel::{BrandId, CategoryId, CountryId, Line, Money, Name, NomenclatureId, Prose, TagId};

use crate::model::{NomenclatureKind, Packaging, PhotoUrl, Reference, StorageUnit};

/// A product as an application offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The number of the item.
    pub id: NomenclatureId,
    /// Goods or service.
    pub kind: NomenclatureKind,
    /// The name.
    pub name: Name,
    /// The article.
    pub article: Option<Line<100>>,
    /// What one piece costs now, automatic discounts on the product and its category taken off.
    pub price: Money,
    /// What it costs without the discount, when there is one.
    pub old_price: Option<Money>,
    /// Pieces that can be ordered from the warehouses of the application; 0 for a service, which needs no stock.
    pub quantity: u64,
    /// The photos in the order they are shown.
    pub photos: Vec<PhotoUrl>,
    /// The category.
    pub category: Option<Reference<CategoryId>>,
    /// The brand.
    pub brand: Option<Reference<BrandId>>,
    /// How it is packed.
    pub packaging: Packaging,
}

/// Everything an application tells about one product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductCard {
    /// What lists tell, too.
    pub product: Product,
    /// The country of origin.
    pub country: Option<Reference<CountryId>>,
    /// The unit it is counted in.
    pub storage_unit: Option<StorageUnit>,
    /// A link for sharing.
    pub share_link: Option<String>,
    /// HTML.
    pub description: Option<Prose>,
    /// HTML.
    pub characteristics: Option<Prose>,
    /// The tags by number.
    pub tags: Vec<Tag>,
    /// How often it was looked at.
    pub views_count: u64,
}

/// A tag of products.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// The number of the tag.
    pub id: TagId,
    /// Its name.
    pub name: Name,
    /// Its picture.
    pub photo: Option<PhotoUrl>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// The cheapest and the dearest price of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRange {
    /// The lowest price.
    pub lowest: Money,
    /// The highest price.
    pub highest: Money,
}

/// A category as an application shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelfCategory {
    /// The number of the category.
    pub id: CategoryId,
    /// Its name.
    pub name: Name,
    /// Its picture.
    pub photo: Option<PhotoUrl>,
    /// The category it lies in; roots have none.
    pub parent: Option<Reference<CategoryId>>,
}

/// A brand as an application shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShelfBrand {
    /// The number of the brand.
    pub id: BrandId,
    /// Its name.
    pub name: Name,
    /// Its logo.
    pub photo: Option<PhotoUrl>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}
