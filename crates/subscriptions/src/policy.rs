//! Dunning policy of a project, with limits that no project can raise.

use kontor_kernel::Word as _;
use kontor_kernel::history::AuditedField;
use serde::{Deserialize, Serialize};

use crate::model::SubscriptionPolicy;

/// Errors of a dunning policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDunningPolicy {
    /// The days are not ascending, not 1 to 30, or too many.
    #[error("after_days must be at most {} ascending numbers from 1 to 30", DunningPolicy::MAX_ATTEMPTS - 1)]
    AfterDays,
    /// The salary days are not ascending, or no days of a month.
    #[error("salary_days must be ascending days of a month, 1 to 31")]
    SalaryDays,
    /// Not an hour of a day.
    #[error("hour must be from 0 to 23")]
    Hour,
    /// The limit of a period is 0, or above the maximum.
    #[error("tries_per_period must be from 1 to {}", DunningPolicy::MAX_ATTEMPTS)]
    TriesPerPeriod,
    /// The limit of a method is 0, or above the maximum.
    #[error("tries_per_method must be from 1 to {}", DunningPolicy::MAX_METHOD_ATTEMPTS)]
    TriesPerMethod,
}

/// Dunning policy of a project: the attempts to charge a period.
///
/// Defaults:
/// - attempts 1, 3, 5 and 7 days after the first one, then once on the next 1st, 10th or 25th at noon
/// - at most 8 planned attempts of a period, and 8 more that customers and staff request
/// - at most 15 attempts of a method in 30 days
///
/// At most one planned attempt per local day; this is fixed.
/// ```
/// use kontor_subscriptions::DunningPolicy;
///
/// let policy: DunningPolicy = serde_json::from_str(r#"{"after_days": [2, 4], "salary_days": []}"#)?;
/// assert_eq!((policy.after_days(), policy.tries_per_period()), (&[2, 4][..], 8));
/// assert!(serde_json::from_str::<DunningPolicy>(r#"{"tries_per_method": 16}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "DunningTerms", into = "DunningTerms")]
pub struct DunningPolicy(DunningTerms);

/// Unchecked fields of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DunningTerms {
    /// Days between the first attempt of a period and the next ones, ascending, 1 to 30.
    pub after_days: Vec<u8>,
    /// Salary days of a month, ascending.
    pub salary_days: Vec<u8>,
    /// Local hour of an attempt on a salary day.
    pub hour: u8,
    /// Maximum planned attempts of a period, and maximum additional ones that customers and staff may request.
    pub tries_per_period: u8,
    /// Maximum attempts of a method in 30 days.
    pub tries_per_method: u8,
}

impl Default for DunningTerms {
    fn default() -> Self {
        Self {
            after_days: vec![1, 3, 5, 7],
            salary_days: vec![1, 10, 25],
            hour: 12,
            tries_per_period: DunningPolicy::MAX_ATTEMPTS,
            tries_per_method: DunningPolicy::MAX_METHOD_ATTEMPTS,
        }
    }
}

impl From<DunningPolicy> for DunningTerms {
    fn from(policy: DunningPolicy) -> Self {
        policy.0
    }
}

fn ascending(days: &[u8], most: u8) -> bool {
    days.iter().all(|day| (1..=most).contains(day)) && days.is_sorted_by(|one, next| one < next)
}

impl TryFrom<DunningTerms> for DunningPolicy {
    type Error = InvalidDunningPolicy;

    fn try_from(terms: DunningTerms) -> Result<Self, InvalidDunningPolicy> {
        // The first error is enough: stored policies are checked one by one.
        Self::validated(terms).map_err(|wrong| wrong.into_iter().next().unwrap_or(InvalidDunningPolicy::Hour))
    }
}

impl DunningPolicy {
    /// Checks a policy. Returns all errors.
    pub fn validated(terms: DunningTerms) -> Result<Self, Vec<InvalidDunningPolicy>> {
        let rules = [
            (
                ascending(&terms.after_days, 30) && terms.after_days.len() < usize::from(Self::MAX_ATTEMPTS),
                InvalidDunningPolicy::AfterDays,
            ),
            (ascending(&terms.salary_days, 31), InvalidDunningPolicy::SalaryDays),
            (terms.hour < 24, InvalidDunningPolicy::Hour),
            ((1..=Self::MAX_ATTEMPTS).contains(&terms.tries_per_period), InvalidDunningPolicy::TriesPerPeriod),
            ((1..=Self::MAX_METHOD_ATTEMPTS).contains(&terms.tries_per_method), InvalidDunningPolicy::TriesPerMethod),
        ];
        let wrong: Vec<_> = rules.into_iter().filter_map(|(kept, broken)| (!kept).then_some(broken)).collect();
        if wrong.is_empty() { Ok(Self(terms)) } else { Err(wrong) }
    }
}

impl DunningPolicy {
    /// Upper limit of the attempts of a period that a project may allow, of either kind.
    pub const MAX_ATTEMPTS: u8 = 8;
    /// Upper limit of the attempts of a method in [`Self::METHOD_DAYS`] that a project may allow. Card networks
    /// fine for more.
    pub const MAX_METHOD_ATTEMPTS: u8 = 15;
    /// Days over which the attempts of a method are counted.
    pub const METHOD_DAYS: u8 = 30;

    /// Days between the first attempt of a period and the next ones, ascending.
    pub fn after_days(&self) -> &[u8] {
        &self.0.after_days
    }

    /// Salary days of a month, ascending.
    pub fn salary_days(&self) -> &[u8] {
        &self.0.salary_days
    }

    /// Local hour of an attempt on a salary day.
    pub fn hour(&self) -> u8 {
        self.0.hour
    }

    /// Maximum planned attempts of a period, including the first one. Customers and staff may request as many
    /// more.
    pub fn tries_per_period(&self) -> u8 {
        self.0.tries_per_period
    }

    /// Maximum attempts of a method in 30 days, over all its subscriptions.
    pub fn tries_per_method(&self) -> u8 {
        self.0.tries_per_method
    }
}

impl SubscriptionPolicy {
    /// Returns every field for history entries, by its name in requests.
    pub fn audited_fields(&self) -> Vec<AuditedField> {
        let days = |days: &[u8]| Some(days.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        let dunning = &self.dunning;
        vec![
            ("after_days", days(dunning.after_days())),
            ("salary_days", days(dunning.salary_days())),
            ("hour", Some(dunning.hour().to_string())),
            ("tries_per_period", Some(dunning.tries_per_period().to_string())),
            ("tries_per_method", Some(dunning.tries_per_method().to_string())),
            ("payments_per_customer_and_day", Some(self.bounds.customer_per_day.to_string())),
            ("missed_periods", Some(self.missed.word().to_owned())),
            ("withdrawn_plans_renew", Some(self.withdrawn_plans_renew.to_string())),
            ("notice_days", Some(self.notice.get().to_string())),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_stored_and_read_again() {
        let stored = serde_json::to_string(&DunningPolicy::default()).unwrap();
        let expected =
            r#"{"after_days":[1,3,5,7],"salary_days":[1,10,25],"hour":12,"tries_per_period":8,"tries_per_method":15}"#;
        assert_eq!(stored, expected);
        assert_eq!(serde_json::from_str::<DunningPolicy>(&stored).unwrap(), DunningPolicy::default());
        assert_eq!(serde_json::from_str::<DunningPolicy>("{}").unwrap(), DunningPolicy::default());
    }

    #[test]
    fn all_errors_are_reported_together() {
        let terms = DunningTerms { after_days: vec![0], hour: 24, tries_per_method: 16, ..DunningTerms::default() };
        let expected =
            [InvalidDunningPolicy::AfterDays, InvalidDunningPolicy::Hour, InvalidDunningPolicy::TriesPerMethod];
        assert_eq!(DunningPolicy::validated(terms).unwrap_err(), expected);
        assert_eq!(DunningPolicy::validated(DunningTerms::default()), Ok(DunningPolicy::default()));
    }

    #[test]
    fn no_project_raises_the_limits() {
        for (stored, problem) in [
            (r#"{"after_days":[3,1]}"#, "after_days"),
            (r#"{"after_days":[1,1]}"#, "after_days"),
            (r#"{"after_days":[0]}"#, "after_days"),
            (r#"{"after_days":[31]}"#, "after_days"),
            (r#"{"after_days":[1,2,3,4,5,6,7,8]}"#, "after_days"),
            (r#"{"salary_days":[0]}"#, "salary_days"),
            (r#"{"salary_days":[32]}"#, "salary_days"),
            (r#"{"salary_days":[25,1]}"#, "salary_days"),
            (r#"{"hour":24}"#, "hour"),
            (r#"{"tries_per_period":9}"#, "tries_per_period"),
            (r#"{"tries_per_period":0}"#, "tries_per_period"),
            (r#"{"tries_per_method":16}"#, "tries_per_method"),
            (r#"{"tries_per_day":2}"#, "unknown field"),
        ] {
            let refused = serde_json::from_str::<DunningPolicy>(stored).unwrap_err().to_string();
            assert!(refused.starts_with(problem), "{stored}: {refused}");
        }
    }
}
