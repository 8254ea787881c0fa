use std::fmt;

use chrono::{DateTime, Utc};
use kontor_kernel::{ApplicationId, NomenclatureId, PlanAssignmentId};

use super::{Edit, Nomenclature};

/// Not a name a plan can have in addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {} letters a-z, digits and hyphens, with a letter or digit at both ends", PlanSlug::MAX)]
pub struct InvalidPlanSlug;

/// What programs call a plan of an application: 1 to 64 letters `a` to `z`, digits and inner hyphens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanSlug(String);

impl PlanSlug {
    /// The longest slug, in characters.
    pub const MAX: usize = 64;

    /// Checks; nothing is trimmed or put into lower case, since programs compare slugs letter by letter.
    pub fn parse(text: &str) -> Result<Self, InvalidPlanSlug> {
        let known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let outer = text.starts_with('-') || text.ends_with('-');
        if text.is_empty() || text.len() > Self::MAX || outer || !text.bytes().all(known) {
            return Err(InvalidPlanSlug);
        }
        Ok(Self(text.to_owned()))
    }

    /// The slug of a plan that got none.
    pub fn of_item(id: NomenclatureId) -> Self {
        Self(format!("plan-{id}"))
    }

    /// The slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<PlanSlug> for String {
    fn from(slug: PlanSlug) -> Self {
        slug.0
    }
}

/// Not a place in the list of plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0 to {}", PlanPosition::LAST)]
pub struct InvalidPlanPosition;

/// Where a plan stands among those of its application: the lowest comes first, equal ones by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanPosition(i64);

impl PlanPosition {
    /// The last position there is.
    pub const LAST: i64 = 1_000_000_000;

    /// Accepts 0 to [`PlanPosition::LAST`].
    pub fn new(position: i64) -> Result<Self, InvalidPlanPosition> {
        if (0..=Self::LAST).contains(&position) { Ok(Self(position)) } else { Err(InvalidPlanPosition) }
    }

    /// The position after all others, of which this is the last. A newer plan comes after an older one of its position,
    /// so at the end there is always room.
    pub fn after(last: Option<Self>) -> Self {
        Self(last.map_or(1, |last| (last.0 + 1).min(Self::LAST)))
    }

    /// The number.
    pub fn get(self) -> i64 {
        self.0
    }
}

/// A subscription plan of a project, offered by one of its applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanAssignment {
    /// The number of the assignment.
    pub id: PlanAssignmentId,
    /// The application that offers the plan.
    pub application_id: ApplicationId,
    /// The plan.
    pub nomenclature_id: NomenclatureId,
    /// What programs call it, unique in the application.
    pub slug: PlanSlug,
    /// Where it stands.
    pub position: PlanPosition,
    /// Whether customers see it.
    pub is_active: bool,
    /// When it was assigned.
    pub created_at: DateTime<Utc>,
    /// When the assignment was last changed.
    pub updated_at: DateTime<Utc>,
}

impl PlanAssignment {
    /// The most plans an application offers.
    pub const MOST_PER_APPLICATION: i64 = 200;
}

/// How a plan is to be assigned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDraft {
    /// The plan.
    pub nomenclature_id: NomenclatureId,
    /// What programs shall call it.
    pub slug: Option<PlanSlug>,
    /// Where it shall stand; after all others unless told.
    pub position: Option<PlanPosition>,
    /// Whether customers shall see it.
    pub is_active: bool,
}

impl PlanDraft {
    /// The slug that was given, or the one of the item.
    pub fn slug(&self) -> PlanSlug {
        self.slug.clone().unwrap_or_else(|| PlanSlug::of_item(self.nomenclature_id))
    }
}

/// What staff change about an assignment, field by field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanChange {
    /// See [`PlanAssignment::slug`].
    pub slug: Edit<PlanSlug>,
    /// See [`PlanAssignment::position`].
    pub position: Edit<PlanPosition>,
    /// See [`PlanAssignment::is_active`].
    pub is_active: Edit<bool>,
}

/// What became of a wish to assign a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assigned {
    /// It is assigned now.
    Anew(PlanAssignment),
    /// It was assigned already, as it still is.
    Already(PlanAssignment),
}

/// A plan of a project as staff choose it for an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogPlan {
    /// The item.
    pub item: Nomenclature,
    /// What its price is counted in.
    pub currency: String,
    /// How the application offers it, if it does.
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
