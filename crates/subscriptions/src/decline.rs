//! Meaning of decline reasons for the next attempt.

use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// Consequence of a decline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, VariantArray, Display, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum DeclineClass {
    /// The method must not be charged again.
    NeverAgain,
    /// The customer must act before another attempt can succeed.
    CustomerMustAct,
    /// A later attempt may succeed.
    Later,
}

/// Rule for a declined charge, by the acquirer's reason:
///
/// | Reason | Class | More attempts | Salary day helps |
/// |---|---|---|---|
/// | `card_expired` | `never_again` | 0 | no |
/// | `permission_revoked` | `never_again` | 0 | no |
/// | `payment_method_restricted` | `never_again` | 0 | no |
/// | `invalid_card_number` | `never_again` | 0 | no |
/// | `country_forbidden` | `never_again` | 0 | no |
/// | `fraud_suspected` | `never_again` | 0 | no |
/// | `3d_secure_failed` | `customer_must_act` | 0 | no |
/// | `identification_required` | `customer_must_act` | 0 | no |
/// | `call_issuer` | `customer_must_act` | 1 | no |
/// | `insufficient_funds` | `later` | as planned | yes |
/// | `payment_method_limit_exceeded` | `later` | as planned | yes |
/// | `issuer_unavailable` | `later` | as planned | no |
/// | `internal_timeout` | `later` | as planned | no |
/// | `general_decline` | `later` | as planned | no |
/// | `rejected_by_timeout` | `later` | as planned | no |
/// | any other | `later` | 1 | no |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decline {
    /// Consequence.
    pub class: DeclineClass,
    /// Maximum attempts after declines of this kind in a period; `None` for as many as the project plans.
    pub more_tries: Option<u8>,
    /// `true` if an attempt on a salary day is better than an earlier one.
    pub salary_day_helps: bool,
}

const NEVER_AGAIN: Decline = Decline { class: DeclineClass::NeverAgain, more_tries: Some(0), salary_day_helps: false };
const CUSTOMER_MUST_ACT: Decline =
    Decline { class: DeclineClass::CustomerMustAct, more_tries: Some(0), salary_day_helps: false };
const ONE_MORE_THEN_ACT: Decline = Decline { more_tries: Some(1), ..CUSTOMER_MUST_ACT };
const LATER: Decline = Decline { class: DeclineClass::Later, more_tries: None, salary_day_helps: false };
const LATER_WITH_MONEY: Decline = Decline { salary_day_helps: true, ..LATER };
const UNKNOWN: Decline = Decline { more_tries: Some(1), ..LATER };

/// Reasons of the acquirer (`cancellation_details.reason`) and their rules. A test compares
/// `docs/reference/subscription-states.md`.
const REASONS: &[(&str, Decline)] = &[
    ("card_expired", NEVER_AGAIN),
    ("permission_revoked", NEVER_AGAIN),
    ("payment_method_restricted", NEVER_AGAIN),
    ("invalid_card_number", NEVER_AGAIN),
    ("country_forbidden", NEVER_AGAIN),
    ("fraud_suspected", NEVER_AGAIN),
    ("3d_secure_failed", CUSTOMER_MUST_ACT),
    ("identification_required", CUSTOMER_MUST_ACT),
    ("call_issuer", ONE_MORE_THEN_ACT),
    ("insufficient_funds", LATER_WITH_MONEY),
    ("payment_method_limit_exceeded", LATER_WITH_MONEY),
    ("issuer_unavailable", LATER),
    ("internal_timeout", LATER),
    ("general_decline", LATER),
    ("rejected_by_timeout", LATER),
];

impl Decline {
    /// Returns the rule for the acquirer's reason. An unknown or missing reason means later, with the fewest
    /// attempts.
    ///
    /// Only a decline by the acquirer stops a method; the expiry date of a card does not.
    /// ```
    /// use kontor_subscriptions::{Decline, DeclineClass};
    ///
    /// assert_eq!(Decline::of(Some("permission_revoked")).class, DeclineClass::NeverAgain);
    /// assert!(Decline::of(Some("insufficient_funds")).salary_day_helps);
    /// assert_eq!(Decline::of(Some("never heard of")).more_tries, Some(1));
    /// ```
    pub fn of(reason: Option<&str>) -> Self {
        let known = REASONS.iter().find(|(known, _)| reason == Some(*known));
        known.map_or(UNKNOWN, |(_, decline)| *decline)
    }

    /// Returns `true` if the method must not be charged again.
    pub fn is_hard(self) -> bool {
        self.class == DeclineClass::NeverAgain
    }
}

#[cfg(test)]
mod tests {
    use kontor_kernel::Word;

    use super::*;

    const DOCS: &str = include_str!("../../../docs/reference/subscription-states.md");

    fn told(reason: &str, decline: Decline) -> String {
        let tries = decline.more_tries.map_or("as planned".to_owned(), |tries| tries.to_string());
        let salary = if decline.salary_day_helps { "yes" } else { "" };
        format!("| {reason} | {} | {tries} | {salary} |", decline.class.word())
    }

    #[test]
    fn the_docs_show_the_same_table() {
        let known = REASONS.iter().map(|(reason, decline)| told(&format!("`{reason}`"), *decline));
        let expected: Vec<_> = known.chain([told("any other, or none", UNKNOWN)]).collect();
        let rows = DOCS.lines().skip_while(|line| !line.starts_with("| Reason | Class |")).skip(2);
        let shown: Vec<_> = rows.take_while(|line| line.starts_with('|')).collect();
        assert_eq!(shown, expected, "docs/reference/subscription-states.md should have\n{}", expected.join("\n"));
    }

    #[test]
    fn rustdoc_shows_the_same_table() {
        let row = |reason: &str, decline: Decline| {
            let tries = decline.more_tries.map_or("as planned".to_owned(), |tries| tries.to_string());
            let salary = if decline.salary_day_helps { "yes" } else { "no" };
            format!("{reason} | `{}` | {tries} | {salary} |", decline.class.word())
        };
        let known = REASONS.iter().map(|(reason, decline)| row(&format!("`{reason}`"), *decline));
        let expected: Vec<String> = known.chain([row("any other", UNKNOWN)]).collect();
        let rows = include_str!("decline.rs").lines().filter_map(|line| line.strip_prefix("/// | ")).skip(1);
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn reasons_are_classed_as_the_acquirer_means_them() {
        let of = |class| REASONS.iter().filter(move |(_, decline)| decline.class == class).count();
        assert_eq!(
            [of(DeclineClass::NeverAgain), of(DeclineClass::CustomerMustAct), of(DeclineClass::Later)],
            [6, 3, 6]
        );
        for (index, (reason, decline)) in REASONS.iter().enumerate() {
            assert_eq!(Decline::of(Some(reason)), *decline);
            assert_eq!(REASONS.iter().position(|(other, _)| other == reason), Some(index), "{reason} stands twice");
            assert_eq!(decline.is_hard(), index < 6);
        }
        assert_eq!(Decline::of(Some("call_issuer")).more_tries, Some(1));
        let mut later = REASONS.iter().filter(|(_, known)| known.class == DeclineClass::Later);
        assert!(later.all(|(_, known)| known.more_tries.is_none()));
    }

    #[test]
    fn unknown_reasons_have_the_fewest_attempts() {
        for reason in [None, Some(""), Some("CARD_EXPIRED"), Some("invalid_csc"), Some("deal_expired"), Some("unknown")]
        {
            let decline = Decline::of(reason);
            assert_eq!(decline.class, DeclineClass::Later, "{reason:?}");
            assert_eq!(decline.more_tries, Some(1));
        }
    }
}
