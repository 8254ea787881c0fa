use chrono::{DateTime, Utc};
use kontor_kernel::{
    BrandId, CategoryId, CountryId, HtmlCleaner, Line, Money, Name, NomenclatureId, Prose, SafeHtml, TagId,
};

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
    /// Whether the customer who looks keeps it among his favourites; nobody else does.
    pub is_favourite: bool,
}

/// Everything an application tells about one product. Its HTML is stored as staff wrote it (`ProductCard<Prose>`) and
/// cleaned before a customer gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductCard<Html = SafeHtml> {
    /// What lists tell, too.
    pub product: Product,
    /// The country of origin.
    pub country: Option<Reference<CountryId>>,
    /// The unit it is counted in.
    pub storage_unit: Option<StorageUnit>,
    /// A link for sharing.
    pub share_link: Option<String>,
    /// HTML.
    pub description: Option<Html>,
    /// HTML.
    pub characteristics: Option<Html>,
    /// The tags by number.
    pub tags: Vec<Tag>,
    /// How often it was looked at.
    pub views_count: u64,
    /// Of these, looks that are counted and not stored yet.
    pub unstored_views: u64,
}

impl ProductCard<Prose> {
    /// The card as customers may see it.
    pub fn cleaned(self, cleaner: &dyn HtmlCleaner) -> ProductCard {
        let clean = |html: Option<Prose>| html.and_then(|html| SafeHtml::of(&html, cleaner));
        ProductCard {
            product: self.product,
            country: self.country,
            storage_unit: self.storage_unit,
            share_link: self.share_link,
            description: clean(self.description),
            characteristics: clean(self.characteristics),
            tags: self.tags,
            views_count: self.views_count,
            unstored_views: self.unstored_views,
        }
    }
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
pub struct StorefrontCategory {
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
pub struct StorefrontBrand {
    /// The number of the brand.
    pub id: BrandId,
    /// Its name.
    pub name: Name,
    /// Its logo.
    pub photo: Option<PhotoUrl>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}
