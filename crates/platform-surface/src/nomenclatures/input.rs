//! Request bodies for items.

use deserr::Deserr;
use kontor_catalog::model::{BillingPeriod, Card, CardChange, MissingPrice, Packaging};
use kontor_kernel::{Quantity, Violations};
use utoipa::ToSchema;

use kontor_web::wire::{self, In, InputErrors, NonNullPatch, ZeroIsNull, change_body};

/// Packaging of an item.
#[derive(Deserr, ToSchema, Default)]
#[deserr(error = InputErrors)]
pub(super) struct Parameters {
    /// `true` if the item is sold wholesale.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Flag>, nullable = false)]
    wholesale: NonNullPatch<wire::Flag>,
    /// Units in one pack.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Quantity>, nullable = false)]
    pieces_per_pack: NonNullPatch<wire::Quantity>,
    /// Packs in one unit of sale.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Quantity>, nullable = false)]
    quantity_pack: NonNullPatch<wire::Quantity>,
}

/// Item to create.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewNomenclature {
    name: wire::Name,
    /// `1` service, `2` goods.
    kind_id: wire::NomenclatureKind,
    /// Type of the item, a classification by staff in addition to the kind.
    #[deserr(default)]
    #[schema(value_type = Option<wire::NomenclatureTypeId>)]
    type_id: ZeroIsNull<wire::NomenclatureTypeId>,
    #[deserr(default)]
    article: Option<wire::Line100>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::CategoryId>)]
    category_id: ZeroIsNull<wire::CategoryId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::BrandId>)]
    brand_id: ZeroIsNull<wire::BrandId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::CountryId>)]
    country_id: ZeroIsNull<wire::CountryId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::StorageUnitId>)]
    storage_unit_id: ZeroIsNull<wire::StorageUnitId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::VatId>)]
    vat_id: ZeroIsNull<wire::VatId>,
    /// Required for services and subscription plans.
    #[deserr(default)]
    price: Option<wire::Money>,
    /// HTML.
    #[deserr(default)]
    description: Option<wire::Prose>,
    /// HTML.
    #[deserr(default)]
    characteristics: Option<wire::Prose>,
    /// Link by which customers share the item.
    #[deserr(default)]
    share_link: Option<wire::ShareLink>,
    /// `true` if the item is a subscription plan.
    #[deserr(default)]
    is_subscription: Option<wire::Flag>,
    /// Required for subscription plans, not allowed for other items.
    #[deserr(default)]
    billing_period_months: Option<wire::BillingPeriod>,
    #[deserr(default)]
    parameters: Option<Parameters>,
    #[deserr(default)]
    #[schema(value_type = Option<Vec<wire::PhotoUrl>>, max_items = 20)]
    photos: Option<wire::Gallery>,
    #[deserr(default)]
    tags: Option<Vec<wire::TagId>>,
}

fn inner<T>(value: ZeroIsNull<In<T>>) -> Option<T> {
    value.0.map(|value| value.0)
}

impl NewNomenclature {
    /// Returns the card, or violations if its terms contradict each other.
    pub(super) fn card(self) -> Result<Card, Violations> {
        let is_subscription = self.is_subscription.is_some_and(|flag| flag.0);
        let kind = self.kind_id.0;
        let mut violations = Violations::default();
        let months = self.billing_period_months.map(|months| months.0);
        let terms = violations.check("billing_period_months", BillingPeriod::of_card(is_subscription, months));
        if self.price.is_none() && MissingPrice::of(kind, is_subscription) {
            violations.add("price", MissingPrice);
        }
        violations.into_result()?;
        let parameters = self.parameters.unwrap_or_default();
        let pieces = |given: NonNullPatch<wire::Quantity>| given.0.map_or(Quantity::ONE, |pieces| pieces.0);
        Ok(Card {
            article: self.article.map(|article| article.0),
            type_id: inner(self.type_id),
            category_id: inner(self.category_id),
            brand_id: inner(self.brand_id),
            country_id: inner(self.country_id),
            storage_unit_id: inner(self.storage_unit_id),
            vat_id: inner(self.vat_id),
            price: self.price.map(|price| price.0),
            description: self.description.map(|text| text.0),
            characteristics: self.characteristics.map(|text| text.0),
            share_link: self.share_link.map(|link| link.0),
            subscription: terms.flatten(),
            packaging: Packaging {
                wholesale: parameters.wholesale.0.is_some_and(|flag| flag.0),
                pieces_per_pack: pieces(parameters.pieces_per_pack),
                quantity_pack: pieces(parameters.quantity_pack),
            },
            photos: self.photos.map(|photos| photos.0).unwrap_or_default(),
            tags: self.tags.unwrap_or_default().into_iter().map(|tag| tag.0).collect(),
            ..Card::new(self.name.0, kind)
        })
    }
}

change_body! {
    /// Change of an item.
    pub(super) ChangedNomenclature {
        name: wire::Name,
        kind_id: wire::NomenclatureKind,
        type_id: wire::NomenclatureTypeId | null | 0,
        article: wire::Line100 | null,
        category_id: wire::CategoryId | null | 0,
        brand_id: wire::BrandId | null | 0,
        country_id: wire::CountryId | null | 0,
        storage_unit_id: wire::StorageUnitId | null | 0,
        vat_id: wire::VatId | null | 0,
        price: wire::Money,
        /// HTML.
        description: wire::Prose | null,
        /// HTML.
        characteristics: wire::Prose | null,
        /// Link by which customers share the item.
        share_link: wire::ShareLink | null,
        /// If set to `false`, the billing period is cleared.
        is_subscription: wire::Flag,
        billing_period_months: wire::BillingPeriod | null,
        parameters: Parameters,
        {
            /// Replaces all photos of the item.
            #[deserr(default)]
            #[schema(value_type = Option<Vec<wire::PhotoUrl>>, nullable = false, max_items = 20)]
            photos: NonNullPatch<wire::Gallery>
        },
        /// Replaces all tags of the item.
        tags: Vec<wire::TagId>,
    }
}

impl From<ChangedNomenclature> for CardChange {
    fn from(changed: ChangedNomenclature) -> Self {
        let parameters = changed.parameters.0.unwrap_or_default();
        Self {
            article: changed.article.into(),
            name: changed.name.into(),
            kind: changed.kind_id.into(),
            type_id: changed.type_id.into(),
            category_id: changed.category_id.into(),
            brand_id: changed.brand_id.into(),
            country_id: changed.country_id.into(),
            storage_unit_id: changed.storage_unit_id.into(),
            vat_id: changed.vat_id.into(),
            price: changed.price.into(),
            description: changed.description.into(),
            characteristics: changed.characteristics.into(),
            share_link: changed.share_link.into(),
            is_subscription: changed.is_subscription.into(),
            billing_period_months: changed.billing_period_months.into(),
            wholesale: parameters.wholesale.into(),
            pieces_per_pack: parameters.pieces_per_pack.into(),
            quantity_pack: parameters.quantity_pack.into(),
            photos: changed.photos.0.map(|photos| photos.0).into(),
            tags: changed.tags.into(),
        }
    }
}
