//! Request bodies for discounts.

use deserr::Deserr;
use kontor_catalog::model::{DiscountChange, DiscountDraft, Edit, TargetChange};
use kontor_kernel::DiscountStatus;
use utoipa::ToSchema;

use kontor_web::wire::{self, In, InputErrors, NonNullPatch, Patch};

/// Discount to create. Without `category_id` and `nomenclature_id`, it applies to the whole cart. Without `code`, it
/// applies automatically.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewDiscount {
    name: wire::Name,
    #[deserr(rename = "type")]
    #[schema(rename = "type")]
    kind: wire::DiscountType,
    /// Percentage from 0.01 to 100.00, or an amount.
    value: wire::Money,
    #[deserr(default)]
    description: Option<wire::Prose>,
    /// Target of the discount. By default derived from the other fields.
    #[deserr(default)]
    target: Option<wire::DiscountTargetKind>,
    /// Id of the category. Its descendants are included.
    #[deserr(default)]
    category_id: Option<wire::CategoryId>,
    /// Id of the product.
    #[deserr(default)]
    nomenclature_id: Option<wire::NomenclatureId>,
    /// Promo code.
    #[deserr(default)]
    code: Option<wire::PromoCode>,
    /// Minimum original price of the cart. `0` by default.
    #[deserr(default)]
    minimum_sum: Option<wire::Money>,
    /// Start of the discount. Without it, the discount applies at once.
    #[deserr(default)]
    starts_at: Option<wire::Moment>,
    /// End of the discount, exclusive.
    #[deserr(default)]
    ends_at: Option<wire::Moment>,
    /// Maximum number of orders with the promo code.
    #[deserr(default)]
    usage_limit: Option<wire::Quantity>,
    /// Maximum number of orders per customer with the promo code.
    #[deserr(default)]
    customer_limit: Option<wire::Quantity>,
    /// `active` by default.
    #[deserr(default)]
    status: Option<wire::NewDiscountStatus>,
}

fn edit<T>(value: Option<In<T>>) -> Edit<Option<T>> {
    Edit::Set(value.map(|value| value.0))
}

impl From<NewDiscount> for DiscountDraft {
    fn from(new: NewDiscount) -> Self {
        Self {
            name: new.name.0,
            kind: new.kind.0,
            number: new.value.0,
            status: new.status.map_or(DiscountStatus::Active, |status| status.0.0),
            rest: DiscountChange {
                description: edit(new.description),
                target: TargetChange {
                    kind: new.target.map(|kind| kind.0).into(),
                    category_id: edit(new.category_id),
                    nomenclature_id: edit(new.nomenclature_id),
                },
                minimum_sum: new.minimum_sum.map(|sum| sum.0).into(),
                starts_at: edit(new.starts_at),
                ends_at: edit(new.ends_at),
                code: edit(new.code),
                usage_limit: edit(new.usage_limit),
                customer_limit: edit(new.customer_limit),
                ..DiscountChange::default()
            },
        }
    }
}

/// Change of a discount.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ChangedDiscount {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    /// Requires `value`.
    #[deserr(default, rename = "type")]
    #[schema(rename = "type", value_type = Option<wire::DiscountType>, nullable = false)]
    kind: NonNullPatch<wire::DiscountType>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    value: NonNullPatch<wire::Money>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Prose>)]
    description: Patch<wire::Prose>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::DiscountTargetKind>, nullable = false)]
    target: NonNullPatch<wire::DiscountTargetKind>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::CategoryId>)]
    category_id: Patch<wire::CategoryId>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::NomenclatureId>)]
    nomenclature_id: Patch<wire::NomenclatureId>,
    /// Cannot be changed once orders use it. `null` is allowed only if there is no code: a promo code cannot become an
    /// automatic discount.
    #[deserr(default)]
    #[schema(value_type = Option<wire::PromoCode>)]
    code: Patch<wire::PromoCode>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Money>, nullable = false)]
    minimum_sum: NonNullPatch<wire::Money>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Moment>)]
    starts_at: Patch<wire::Moment>,
    /// End of the discount, exclusive. `null` removes it.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Moment>)]
    ends_at: Patch<wire::Moment>,
    /// At least the number of orders that already use the code.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Quantity>)]
    usage_limit: Patch<wire::Quantity>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Quantity>)]
    customer_limit: Patch<wire::Quantity>,
}

impl From<ChangedDiscount> for DiscountChange {
    fn from(changed: ChangedDiscount) -> Self {
        Self {
            name: changed.name.into(),
            description: changed.description.into(),
            kind: changed.kind.into(),
            number: changed.value.into(),
            target: TargetChange {
                kind: changed.target.into(),
                category_id: changed.category_id.into(),
                nomenclature_id: changed.nomenclature_id.into(),
            },
            minimum_sum: changed.minimum_sum.into(),
            starts_at: changed.starts_at.into(),
            ends_at: changed.ends_at.into(),
            code: changed.code.into(),
            usage_limit: changed.usage_limit.into(),
            customer_limit: changed.customer_limit.into(),
        }
    }
}
