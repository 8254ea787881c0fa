use kontor_kernel::history::AuditedField;
use kontor_kernel::{
    BrandId, CategoryId, CountryId, Line, Money, Name, NomenclatureTypeId, PhotoUrl, PhotoUrlError, Prose, Quantity,
    StorageUnitId, TagId, VatId,
};

use super::{Edit, MissingPrice, NomenclatureKind};

/// Editable fields of a catalog item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Article (SKU), unique in the project.
    pub article: Option<Line<100>>,
    /// Name.
    pub name: Name,
    /// Type: goods or service.
    pub kind: NomenclatureKind,
    /// Type from the dictionary, which refines the kind.
    pub type_id: Option<NomenclatureTypeId>,
    /// Category; goods without a category are not shown.
    pub category_id: Option<CategoryId>,
    /// Brand.
    pub brand_id: Option<BrandId>,
    /// Country of origin.
    pub country_id: Option<CountryId>,
    /// Storage unit.
    pub storage_unit_id: Option<StorageUnitId>,
    /// VAT rate.
    pub vat_id: Option<VatId>,
    /// Price of services and plans; the price of goods is that of the warehouse. `None` if no price was entered, see
    /// [`MissingPrice`].
    pub price: Option<Money>,
    /// HTML.
    pub description: Option<Prose>,
    /// HTML.
    pub characteristics: Option<Prose>,
    /// Link by which customers share the item.
    pub share_link: Option<ShareLink>,
    /// Billing period of a subscription plan; `None` for other items.
    pub subscription: Option<BillingPeriod>,
    /// Packaging.
    pub packaging: Packaging,
    /// Photos.
    pub photos: Gallery,
    /// Tags.
    pub tags: Vec<TagId>,
}

impl Card {
    /// Creates an item with only the name and the kind.
    pub fn new(name: Name, kind: NomenclatureKind) -> Self {
        Self {
            article: None,
            name,
            kind,
            type_id: None,
            category_id: None,
            brand_id: None,
            country_id: None,
            storage_unit_id: None,
            vat_id: None,
            price: None,
            description: None,
            characteristics: None,
            share_link: None,
            subscription: None,
            packaging: Packaging::default(),
            photos: Gallery::default(),
            tags: Vec::new(),
        }
    }

    /// Returns `true` if the item is sold from warehouses: goods that are not a subscription plan.
    pub fn is_stocked(&self) -> bool {
        !MissingPrice::of(self.kind, self.subscription.is_some())
    }

    /// Returns `true` if the item needs its own price and has none, so that it is not sold.
    pub fn lacks_price(&self) -> bool {
        self.price.is_none() && !self.is_stocked()
    }

    /// Refuses a new item that could not be sold for lack of a price.
    pub fn require_price(&self) -> Result<(), MissingPrice> {
        if self.lacks_price() { Err(MissingPrice) } else { Ok(()) }
    }

    /// Returns every field that an employee can change, by its name on the wire, for history entries.
    pub fn audited_fields(&self) -> Vec<AuditedField> {
        let text = |text: Option<&str>| text.map(str::to_owned);
        let photos: Vec<&str> = self.photos.photos().iter().map(PhotoUrl::as_str).collect();
        let tags: Vec<String> = self.tags.iter().map(ToString::to_string).collect();
        let list = |items: String| Some(items).filter(|items| !items.is_empty());
        vec![
            ("article", text(self.article.as_deref())),
            ("name", text(Some(self.name.as_str()))),
            ("kind_id", Some(self.kind.id().to_string())),
            ("type_id", self.type_id.map(|id| id.to_string())),
            ("category_id", self.category_id.map(|id| id.to_string())),
            ("brand_id", self.brand_id.map(|id| id.to_string())),
            ("country_id", self.country_id.map(|id| id.to_string())),
            ("storage_unit_id", self.storage_unit_id.map(|id| id.to_string())),
            ("vat_id", self.vat_id.map(|id| id.to_string())),
            ("price", self.price.map(|price| price.to_string())),
            ("description", text(self.description.as_deref())),
            ("characteristics", text(self.characteristics.as_deref())),
            ("share_link", text(self.share_link.as_ref().map(ShareLink::as_str))),
            ("is_subscription", Some(self.subscription.is_some().to_string())),
            ("billing_period_months", self.subscription.map(|period| BillingPeriod::get(period).to_string())),
            ("parameters.wholesale", Some(self.packaging.wholesale.to_string())),
            ("parameters.pieces_per_pack", Some(self.packaging.pieces_per_pack.get().to_string())),
            ("parameters.quantity_pack", Some(self.packaging.quantity_pack.get().to_string())),
            ("photos", list(photos.join("\n"))),
            ("tags", list(tags.join(", "))),
        ]
    }
}

/// Packaging of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packaging {
    /// `true` if the item is sold wholesale.
    pub wholesale: bool,
    /// Units per pack.
    pub pieces_per_pack: Quantity,
    /// Packs per unit of sale.
    pub quantity_pack: Quantity,
}

/// A single unit.
impl Default for Packaging {
    fn default() -> Self {
        Self { wholesale: false, pieces_per_pack: Quantity::ONE, quantity_pack: Quantity::ONE }
    }
}

/// Change of an item, field by field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CardChange {
    /// See [`Card::article`].
    pub article: Edit<Option<Line<100>>>,
    /// See [`Card::name`].
    pub name: Edit<Name>,
    /// See [`Card::kind`].
    pub kind: Edit<NomenclatureKind>,
    /// See [`Card::type_id`].
    pub type_id: Edit<Option<NomenclatureTypeId>>,
    /// See [`Card::category_id`].
    pub category_id: Edit<Option<CategoryId>>,
    /// See [`Card::brand_id`].
    pub brand_id: Edit<Option<BrandId>>,
    /// See [`Card::country_id`].
    pub country_id: Edit<Option<CountryId>>,
    /// See [`Card::storage_unit_id`].
    pub storage_unit_id: Edit<Option<StorageUnitId>>,
    /// See [`Card::vat_id`].
    pub vat_id: Edit<Option<VatId>>,
    /// See [`Card::price`]. A price can be changed but not removed.
    pub price: Edit<Money>,
    /// See [`Card::description`].
    pub description: Edit<Option<Prose>>,
    /// See [`Card::characteristics`].
    pub characteristics: Edit<Option<Prose>>,
    /// See [`Card::share_link`].
    pub share_link: Edit<Option<ShareLink>>,
    /// `true` if the item is a subscription plan. An item that stops being a plan loses its billing period.
    pub is_subscription: Edit<bool>,
    /// See [`Card::subscription`].
    pub billing_period_months: Edit<Option<BillingPeriod>>,
    /// See [`Packaging::wholesale`].
    pub wholesale: Edit<bool>,
    /// See [`Packaging::pieces_per_pack`].
    pub pieces_per_pack: Edit<Quantity>,
    /// See [`Packaging::quantity_pack`].
    pub quantity_pack: Edit<Quantity>,
    /// See [`Card::photos`]; the new photos replace all old ones.
    pub photos: Edit<Gallery>,
    /// See [`Card::tags`]; the new tags replace all old ones.
    pub tags: Edit<Vec<TagId>>,
}

/// Reason why the fields of an item contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CardRefusal {
    /// The billing period does not fit the item.
    #[error(transparent)]
    Billing(#[from] BillingRefusal),
    /// The item needs its own price and has none.
    #[error(transparent)]
    Price(#[from] MissingPrice),
}

impl CardChange {
    /// Returns the item after the change, or the reason why its fields contradict each other. An item that had no price
    /// before may stay without one: it is not sold, and its other fields can be changed.
    pub fn apply(self, card: Card) -> Result<Card, CardRefusal> {
        let lacked_price = card.lacks_price();
        let is_subscription = self.is_subscription.or(card.subscription.is_some());
        let kept = card.subscription.filter(|_| is_subscription);
        let card = Card {
            article: self.article.or(card.article),
            name: self.name.or(card.name),
            kind: self.kind.or(card.kind),
            type_id: self.type_id.or(card.type_id),
            category_id: self.category_id.or(card.category_id),
            brand_id: self.brand_id.or(card.brand_id),
            country_id: self.country_id.or(card.country_id),
            storage_unit_id: self.storage_unit_id.or(card.storage_unit_id),
            vat_id: self.vat_id.or(card.vat_id),
            price: self.price.as_set().copied().or(card.price),
            description: self.description.or(card.description),
            characteristics: self.characteristics.or(card.characteristics),
            share_link: self.share_link.or(card.share_link),
            subscription: BillingPeriod::of_card(is_subscription, self.billing_period_months.or(kept))?,
            packaging: Packaging {
                wholesale: self.wholesale.or(card.packaging.wholesale),
                pieces_per_pack: self.pieces_per_pack.or(card.packaging.pieces_per_pack),
                quantity_pack: self.quantity_pack.or(card.packaging.quantity_pack),
            },
            photos: self.photos.or(card.photos),
            tags: self.tags.or(card.tags),
        };
        if !lacked_price {
            card.require_price()?;
        }
        Ok(card)
    }
}

/// Error: an item has too many photos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must have at most {} photos", Gallery::MAX)]
pub struct GalleryError;

/// Photos of an item in display order, at most 20.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gallery(Vec<PhotoUrl>);

impl Gallery {
    /// Maximum photos of an item.
    pub const MAX: usize = 20;

    /// Checks the count.
    pub fn new(photos: Vec<PhotoUrl>) -> Result<Self, GalleryError> {
        if photos.len() > Self::MAX { Err(GalleryError) } else { Ok(Self(photos)) }
    }

    /// Returns the photos in display order.
    pub fn photos(&self) -> &[PhotoUrl] {
        &self.0
    }
}

/// Link by which customers share an item: an absolute `http` or `https` address, as for a photo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareLink(PhotoUrl);

impl ShareLink {
    /// Maximum length, in characters.
    pub const MAX: usize = PhotoUrl::MAX;

    /// Trims and checks the text.
    pub fn parse(text: &str) -> Result<Self, PhotoUrlError> {
        PhotoUrl::parse(text).map(Self)
    }

    /// Returns the address.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<ShareLink> for String {
    fn from(link: ShareLink) -> Self {
        link.0.into()
    }
}

/// Error: the number is not a billing period in months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 1 to {}", BillingPeriod::MAX_MONTHS)]
pub struct InvalidBillingPeriod;

/// Billing period of a subscription plan: 1 to 36 months.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BillingPeriod(u8);

impl BillingPeriod {
    /// Longest period, in months.
    pub const MAX_MONTHS: u8 = 36;

    /// Accepts 1 to 36 months.
    pub fn months(count: i64) -> Result<Self, InvalidBillingPeriod> {
        match u8::try_from(count) {
            Ok(count @ 1..=Self::MAX_MONTHS) => Ok(Self(count)),
            _ => Err(InvalidBillingPeriod),
        }
    }

    /// Returns the months.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Checks the billing period of an item: a plan has one, and no other item has one.
    pub fn of_card(is_subscription: bool, months: Option<Self>) -> Result<Option<Self>, BillingRefusal> {
        match (is_subscription, months) {
            (true, None) => Err(BillingRefusal::PeriodRequired),
            (false, Some(_)) => Err(BillingRefusal::PeriodForbidden),
            (_, months) => Ok(months),
        }
    }
}

/// Reason why a billing period does not fit the item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BillingRefusal {
    /// A subscription plan needs a billing period.
    #[error("is required for a subscription plan")]
    PeriodRequired,
    /// Only a subscription plan has a billing period.
    #[error("is allowed for a subscription plan only")]
    PeriodForbidden,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Card {
        let name = Name::parse("Club").unwrap();
        let (price, subscription) = (Some(Money::ZERO), Some(BillingPeriod::months(3).unwrap()));
        Card { price, subscription, ..Card::new(name, NomenclatureKind::Service) }
    }

    #[test]
    fn a_change_leaves_the_other_fields_alone() {
        let change = CardChange {
            price: Edit::Set(Money::MAX),
            quantity_pack: Edit::Set(Quantity::new(6).unwrap()),
            ..CardChange::default()
        };
        let changed = change.apply(plan()).unwrap();
        let packaging = Packaging { quantity_pack: Quantity::new(6).unwrap(), ..Packaging::default() };
        assert_eq!(changed, Card { price: Some(Money::MAX), packaging, ..plan() });
    }

    #[test]
    fn null_clears_and_absent_keeps() {
        let card = Card { article: Some(Line::parse("A-1").unwrap()), ..plan() };
        assert_eq!(CardChange::default().apply(card.clone()).unwrap(), card);
        let change = CardChange { article: Edit::Set(None), ..CardChange::default() };
        assert_eq!(change.apply(card).unwrap().article, None);
    }

    #[test]
    fn a_plan_keeps_a_period_and_nothing_else_has_one() {
        let stops = CardChange { is_subscription: Edit::Set(false), ..CardChange::default() };
        assert_eq!(stops.clone().apply(plan()).unwrap().subscription, None);
        let cleared = CardChange { billing_period_months: Edit::Set(None), ..CardChange::default() };
        assert_eq!(cleared.apply(plan()), Err(BillingRefusal::PeriodRequired.into()));
        let months = Edit::Set(Some(BillingPeriod::months(1).unwrap()));
        let both = CardChange { billing_period_months: months, ..stops };
        assert_eq!(both.apply(plan()), Err(BillingRefusal::PeriodForbidden.into()));
    }

    #[test]
    fn nothing_becomes_a_service_or_a_plan_without_a_written_price() {
        let goods = Card::new(Name::parse("Mug").unwrap(), NomenclatureKind::Goods);
        assert_eq!((goods.price, goods.lacks_price()), (None, false));
        let to_service = CardChange { kind: Edit::Set(NomenclatureKind::Service), ..CardChange::default() };
        let months = Edit::Set(Some(BillingPeriod::months(1).unwrap()));
        let to_plan =
            CardChange { is_subscription: Edit::Set(true), billing_period_months: months, ..CardChange::default() };
        for change in [to_service, to_plan] {
            assert_eq!(change.clone().apply(goods.clone()), Err(MissingPrice.into()));
            let free = CardChange { price: Edit::Set(Money::ZERO), ..change };
            assert_eq!(free.apply(goods.clone()).unwrap().price, Some(Money::ZERO));
        }
    }

    #[test]
    fn a_service_without_a_price_can_be_updated() {
        let service = Card::new(Name::parse("Engraving").unwrap(), NomenclatureKind::Service);
        assert_eq!(service.require_price(), Err(MissingPrice));
        let renamed = CardChange { name: Edit::Set(Name::parse("Etching").unwrap()), ..CardChange::default() };
        assert!(renamed.apply(service.clone()).unwrap().lacks_price());
        let priced = CardChange { price: Edit::Set(Money::MAX), ..CardChange::default() };
        assert!(!priced.apply(service).unwrap().lacks_price());
    }

    #[test]
    fn a_card_has_at_most_twenty_photos() {
        let photo = PhotoUrl::parse("https://cdn.example/a.jpg").unwrap();
        assert!(Gallery::new(vec![photo.clone(); 20]).is_ok());
        assert_eq!(Gallery::new(vec![photo; 21]), Err(GalleryError));
    }

    #[test]
    fn a_period_is_one_month_to_three_years() {
        for (count, fits) in [(i64::MIN, false), (0, false), (1, true), (36, true), (37, false), (257, false)] {
            assert_eq!(BillingPeriod::months(count).is_ok(), fits, "{count}");
        }
    }
}
