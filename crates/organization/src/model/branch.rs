use chrono::{DateTime, Utc};
use kontor_kernel::{BranchId, Email, Line, Name, Phone};

/// A business, legal entity or operating unit inside a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The number of the branch.
    pub id: BranchId,
    /// What it is and where.
    pub details: BranchDraft,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What staff say about a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchDraft {
    /// The name of the business.
    pub name: Name,
    /// Taxpayer number, digits.
    pub inn: Option<Line<12>>,
    /// Tax registration reason code, digits.
    pub kpp: Option<Line<9>>,
    /// Postal address.
    pub address: Option<Line<500>>,
    /// Phone.
    pub phone: Option<Phone>,
    /// E-mail address.
    pub email: Option<Email>,
}
