use chrono::{DateTime, Utc};
use kontor_kernel::{BrandId, CategoryId, CountryId, HtmlCleaner, Line, Money, Name, NomenclatureId, Prose, SafeHtml};

use crate::model::{NomenclatureKind, Packaging, PhotoUrl, Reference, StorageUnit, Tag};

/// Product as an application offers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Identifier of the item.
    pub id: NomenclatureId,
    /// Type: goods or service.
    pub kind: NomenclatureKind,
    /// Name.
    pub name: Name,
    /// Article (SKU).
    pub article: Option<Line<100>>,
    /// Current price of one unit, after automatic discounts on the product and its category.
    pub price: Money,
    /// Price without the discount, if there is one.
    pub old_price: Option<Money>,
    /// Units that can be ordered from the warehouses of the application; 0 for a service, which needs no stock.
    pub quantity: u64,
    /// Photos, in display order.
    pub photos: Vec<PhotoUrl>,
    /// Category.
    pub category: Option<Reference<CategoryId>>,
    /// Brand.
    pub brand: Option<Reference<BrandId>>,
    /// Packaging.
    pub packaging: Packaging,
    /// `true` if the signed-in customer has it among their favourites.
    pub is_favourite: bool,
}

/// Details of a product in an application. Its HTML is stored as staff wrote it (`ProductCard<Prose>`) and cleaned for
/// customers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProductCard<Html = SafeHtml> {
    /// Fields of the product list.
    pub product: Product,
    /// Country of origin.
    pub country: Option<Reference<CountryId>>,
    /// Storage unit.
    pub storage_unit: Option<StorageUnit>,
    /// Link for sharing.
    pub share_link: Option<String>,
    /// HTML.
    pub description: Option<Html>,
    /// HTML.
    pub characteristics: Option<Html>,
    /// Tags, by identifier.
    pub tags: Vec<Tag>,
    /// Number of views.
    pub views_count: u64,
    /// Part of the views that is counted and not stored yet.
    pub unstored_views: u64,
}

impl ProductCard<Prose> {
    /// Returns the details with cleaned HTML.
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

/// Lowest and highest price of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriceRange {
    /// Lowest price.
    pub lowest: Money,
    /// Highest price.
    pub highest: Money,
}

/// Category as an application shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorefrontCategory {
    /// Identifier of the category.
    pub id: CategoryId,
    /// Name.
    pub name: Name,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Parent category; `None` for a root.
    pub parent: Option<Reference<CategoryId>>,
}

/// Brand as an application shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorefrontBrand {
    /// Identifier of the brand.
    pub id: BrandId,
    /// Name.
    pub name: Name,
    /// Logo.
    pub photo: Option<PhotoUrl>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}
