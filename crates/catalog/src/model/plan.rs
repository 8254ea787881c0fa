use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, NomenclatureId, PlanAssignmentId, wraps_text};

use super::{Edit, Nomenclature};

/// Error: the text is not a plan slug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} letters a-z, digits and hyphens, with a letter or digit at both ends", PlanSlug::MAX)]
pub struct InvalidPlanSlug;

/// Slug of a plan in an application: 1 to 64 letters `a` to `z`, digits and inner hyphens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanSlug(String);

impl PlanSlug {
    /// Maximum length, in characters.
    pub const MAX: usize = 64;

    /// Checks the text. It is neither trimmed nor lowercased, since programs compare slugs exactly.
    pub fn parse(text: &str) -> Result<Self, InvalidPlanSlug> {
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let outer = text.starts_with('-') || text.ends_with('-');
        if text.is_empty() || text.len() > Self::MAX || outer || !text.bytes().all(known) {
            return Err(InvalidPlanSlug);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the default slug of a plan.
    pub fn of_item(id: NomenclatureId) -> Self {
        Self(format!("plan-{id}"))
    }
}

wraps_text!(PlanSlug);

impl From<PlanSlug> for String {
    fn from(slug: PlanSlug) -> Self {
        slug.0
    }
}

/// Error: the number is not a position in the list of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0 to {}", PlanPosition::LAST)]
pub struct InvalidPlanPosition;

/// Position of a plan in its application: the lowest comes first, equal positions are ordered by identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanPosition(i64);

impl PlanPosition {
    /// Last position.
    pub const LAST: i64 = 1_000_000_000;

    /// Accepts 0 to [`PlanPosition::LAST`].
    pub fn new(position: i64) -> Result<Self, InvalidPlanPosition> {
        if (0..=Self::LAST).contains(&position) { Ok(Self(position)) } else { Err(InvalidPlanPosition) }
    }

    /// Returns the position after `last`. At the last position a newer plan still comes after an older one, so there is
    /// always room.
    pub fn after(last: Option<Self>) -> Self {
        Self(last.map_or(1, |last| (last.0 + 1).min(Self::LAST)))
    }

    /// Returns the number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// Assignment of a subscription plan to an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanAssignment {
    /// Identifier of the assignment.
    pub id: PlanAssignmentId,
    /// Application that offers the plan.
    pub application_id: ApplicationId,
    /// Subscription plan.
    pub nomenclature_id: NomenclatureId,
    /// Slug, unique in the application.
    pub slug: PlanSlug,
    /// Position.
    pub position: PlanPosition,
    /// `true` if customers see it.
    pub is_active: bool,
    /// Time of the assignment.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl PlanAssignment {
    /// Maximum plans of an application.
    pub const MAX_PER_APPLICATION: i64 = 200;
}

/// Fields of a new assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDraft {
    /// Subscription plan.
    pub nomenclature_id: NomenclatureId,
    /// Slug; by default that of the item.
    pub slug: Option<PlanSlug>,
    /// Position; by default after all others.
    pub position: Option<PlanPosition>,
    /// `true` if customers see it.
    pub is_active: bool,
}

impl PlanDraft {
    /// Returns the given slug or the default slug of the item.
    pub fn slug(&self) -> PlanSlug {
        self.slug.clone().unwrap_or_else(|| PlanSlug::of_item(self.nomenclature_id))
    }
}

/// Change of an assignment, field by field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanChange {
    /// See [`PlanAssignment::slug`].
    pub slug: Edit<PlanSlug>,
    /// See [`PlanAssignment::position`].
    pub position: Edit<PlanPosition>,
    /// See [`PlanAssignment::is_active`].
    pub is_active: Edit<bool>,
}

/// Outcome of assigning a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignOutcome {
    /// The plan was assigned.
    Created(PlanAssignment),
    /// The plan was already assigned and is unchanged.
    Existing(PlanAssignment),
}

/// Plan of a project with its assignment to an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogPlan {
    /// Item.
    pub item: Nomenclature,
    /// Currency of the price.
    pub currency: String,
    /// Assignment to the application, if any.
    pub assignment: Option<PlanAssignment>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_letters_digits_and_inner_hyphens() {
        let longest = "a".repeat(PlanSlug::MAX);
        for good in ["a", "7", "gold", "gold-12", "a--b", "plan-7", longest.as_str()] {
            assert_eq!(PlanSlug::parse(good).unwrap().as_str(), good);
        }
        let longer = "a".repeat(PlanSlug::MAX + 1);
        for bad in ["", "-", "-a", "a-", "Gold", "a b", " a", "a_b", "a.b", "план", "a\n", longer.as_str()] {
            assert_eq!(PlanSlug::parse(bad), Err(InvalidPlanSlug), "{bad:?}");
        }
    }

    #[test]
    fn the_slug_of_an_item_is_a_slug() {
        let slug = PlanSlug::of_item(NomenclatureId::new(i64::MAX).unwrap());
        assert_eq!(PlanSlug::parse(slug.as_str()), Ok(slug));
    }

    #[test]
    fn after_the_last_position_there_is_room() {
        let position = |number| PlanPosition::new(number).unwrap();
        assert_eq!(PlanPosition::after(None), position(1));
        assert_eq!(PlanPosition::after(Some(position(0))), position(1));
        assert_eq!(PlanPosition::after(Some(position(41))), position(42));
        assert_eq!(PlanPosition::after(Some(position(PlanPosition::LAST))), position(PlanPosition::LAST));
        for wrong in [-1, PlanPosition::LAST + 1, i64::MIN, i64::MAX] {
            assert_eq!(PlanPosition::new(wrong), Err(InvalidPlanPosition));
        }
    }
}
