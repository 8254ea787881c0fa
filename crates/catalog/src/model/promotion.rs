use chrono::{DateTime, Utc};
use kontor_kernel::history::{Audited, AuditedField};
use kontor_kernel::{DiscountId, Edit, Money, Name, NomenclatureId, PromotionId, Prose, Resource};

use super::{EndsBeforeStart, Period, PhotoUrl, Reference};

/// Promotion: a named campaign of a shop for a period. It changes no price itself; its discounts do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promotion {
    /// Identifier.
    pub id: PromotionId,
    /// Name.
    pub name: Name,
    /// HTML.
    pub description: Option<Prose>,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Period of the promotion.
    pub period: Period,
    /// Discounts of the promotion, in the order of staff.
    pub discounts: Vec<Reference<DiscountId>>,
    /// Products of the promotion, in the order of staff.
    pub nomenclatures: Vec<Reference<NomenclatureId>>,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Audited for Promotion {
    const RESOURCE: Resource = Resource::Discounts;
    const KIND: &'static str = "promotions";

    fn number(&self) -> i64 {
        self.id.get()
    }

    fn audited_fields(&self) -> Vec<AuditedField> {
        let moment = |at: Option<DateTime<Utc>>| at.map(|at| at.to_rfc3339());
        let list = |ids: Vec<String>| Some(ids.join(", ")).filter(|list| !list.is_empty());
        vec![
            ("name", Some(self.name.to_string())),
            ("description", self.description.as_deref().map(str::to_owned)),
            ("photo", self.photo.as_ref().map(ToString::to_string)),
            ("starts_at", moment(self.period.starts_at())),
            ("ends_at", moment(self.period.ends_at())),
            ("discount_ids", list(self.discounts.iter().map(|one| one.id.to_string()).collect())),
            ("nomenclature_ids", list(self.nomenclatures.iter().map(|one| one.id.to_string()).collect())),
        ]
    }
}

/// Fields of a new promotion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromotionDraft {
    /// Name.
    pub name: Name,
    /// HTML.
    pub description: Option<Prose>,
    /// Picture.
    pub photo: Option<PhotoUrl>,
    /// Period of the promotion.
    pub period: Period,
    /// Discounts of the promotion; duplicates count once.
    pub discount_ids: Vec<DiscountId>,
    /// Products of the promotion; duplicates count once.
    pub nomenclature_ids: Vec<NomenclatureId>,
}

impl PromotionDraft {
    /// Maximum discounts, and maximum products, of one promotion.
    pub const MAX_RECORDS: usize = 500;
}

/// Change of a promotion.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromotionChange {
    /// Name.
    pub name: Edit<Name>,
    /// HTML.
    pub description: Edit<Option<Prose>>,
    /// Picture.
    pub photo: Edit<Option<PhotoUrl>>,
    /// Start of the promotion.
    pub starts_at: Edit<Option<DateTime<Utc>>>,
    /// End of the promotion, exclusive.
    pub ends_at: Edit<Option<DateTime<Utc>>>,
    /// All discounts of the promotion; duplicates count once.
    pub discount_ids: Edit<Vec<DiscountId>>,
    /// All products of the promotion; duplicates count once.
    pub nomenclature_ids: Edit<Vec<NomenclatureId>>,
}

impl PromotionChange {
    /// Returns the period after the change.
    pub fn period(&self, current: Period) -> Result<Period, EndsBeforeStart> {
        Period::new(self.starts_at.or(current.starts_at()), self.ends_at.or(current.ends_at()))
    }
}

/// Use of the discounts of a promotion. Only promo codes record their use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromotionStats {
    /// Discounts of the promotion.
    pub discounts: u64,
    /// Of these, discounts with a promo code.
    pub promo_codes: u64,
    /// Orders that use one of these codes, except canceled ones. An order uses at most one.
    pub usages: u64,
    /// Total discount that the codes gave these orders.
    pub amount: Money,
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    #[test]
    fn a_change_of_one_end_is_held_against_the_other() {
        let [first, second, third] = [1, 2, 3].map(|day| Some(DateTime::UNIX_EPOCH + TimeDelta::days(day)));
        let current = Period::new(first, second).unwrap();
        let starts = |at| PromotionChange { starts_at: Edit::Set(at), ..PromotionChange::default() };
        assert_eq!(PromotionChange::default().period(current), Ok(current));
        assert_eq!(starts(None).period(current), Period::new(None, second));
        assert_eq!(starts(third).period(current), Err(EndsBeforeStart));
        let both = PromotionChange { ends_at: Edit::Set(None), ..starts(third) };
        assert_eq!(both.period(current), Period::new(third, None));
    }
}
