//! Charges after downtime of the service.

use std::ops::Range;

use chrono::{DateTime, Days, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::period::Period;
use crate::schedule::Schedule;

/// Handling of periods that passed completely during downtime, without a charge.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Default,
    Serialize,
    Deserialize,
    VariantArray,
    Display,
    IntoStaticStr,
    EnumString,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MissedPeriods {
    /// They are never charged.
    #[default]
    Forgive,
    /// They are charged afterwards, one per day.
    Collect,
}

/// Missed period to charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissedPeriodDue {
    /// Number of the period.
    pub number: u32,
    /// Earliest time of the charge: each on a separate local day, after today.
    pub not_before: DateTime<Utc>,
}

/// Due charges of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// Period to charge now: the current one, unless it is paid.
    pub charge: Option<Period>,
    /// Numbers of the periods that are never charged.
    pub forgiven: Range<u32>,
    /// Periods to charge afterwards, oldest first.
    pub collect: Vec<MissedPeriodDue>,
}

/// Returns the due charges after downtime of any length: at most one now, for the current period. `last_paid` is
/// the number of the last period that needs no charge, paid or forgiven; 0 before the first.
pub fn after_downtime(schedule: &Schedule, last_paid: u32, now: DateTime<Utc>, missed: MissedPeriods) -> Due {
    let unpaid = |period: &Period| period.number > last_paid;
    let charge = schedule.period_at(now).filter(unpaid);
    let first = last_paid.saturating_add(1);
    let whole = charge.map_or(first..first, |current| first..current.number);
    match missed {
        MissedPeriods::Forgive => Due { charge, forgiven: whole, collect: Vec::new() },
        MissedPeriods::Collect => {
            let zone = schedule.zone();
            let on_day = |days| Some(zone.first_at(zone.local(now).checked_add_days(Days::new(days))?));
            let listed = |(number, days)| Some(MissedPeriodDue { number, not_before: on_day(days)? });
            Due { charge, forgiven: first..first, collect: whole.zip(1..).filter_map(listed).collect() }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kontor_kernel::{Word, Zone};
    use proptest::prelude::*;

    use super::*;
    use crate::period::Anchor;

    fn monthly(months: u8) -> Schedule {
        let zone = Zone::parse("Europe/Berlin").unwrap();
        Schedule::new(Anchor::new("2027-01-31T09:00:00Z".parse().unwrap(), zone, months).unwrap())
    }

    #[test]
    fn only_the_current_period_is_charged_after_a_pause() {
        let now = "2027-05-12T00:00:00Z".parse().unwrap();
        let forgiven = after_downtime(&monthly(1), 1, now, MissedPeriods::Forgive);
        assert_eq!(forgiven.charge.map(|period| period.number), Some(4));
        assert_eq!((forgiven.forgiven, forgiven.collect), (2..4, vec![]));
        let collected = after_downtime(&monthly(1), 1, now, MissedPeriods::Collect);
        assert_eq!((collected.charge, collected.forgiven.is_empty()), (forgiven.charge, true));
        let listed: Vec<_> = collected.collect.iter().map(|due| (due.number, due.not_before.to_string())).collect();
        let expected = [(2, "2027-05-13 00:00:00 UTC".to_owned()), (3, "2027-05-14 00:00:00 UTC".to_owned())];
        assert_eq!(listed, expected);
    }

    #[test]
    fn nothing_is_due_twice_nor_before_its_time() {
        let now = "2027-05-12T00:00:00Z".parse().unwrap();
        for last_paid in [4, 5, u32::MAX] {
            let due = after_downtime(&monthly(1), last_paid, now, MissedPeriods::Collect);
            assert_eq!((due.charge, due.collect), (None, vec![]), "{last_paid}");
        }
        let before = after_downtime(&monthly(1), 0, "2027-01-01T00:00:00Z".parse().unwrap(), MissedPeriods::Collect);
        assert_eq!((before.charge, before.collect), (None, vec![]));
    }

    #[test]
    fn stored_words_do_not_change() {
        assert_eq!(
            MissedPeriods::VARIANTS.iter().map(|policy| policy.word()).collect::<Vec<_>>(),
            ["forgive", "collect"]
        );
        assert_eq!(MissedPeriods::default(), MissedPeriods::Forgive);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        /// For any downtime and any number of calls: at most one charge per call, for the current period. Every
        /// period is charged, forgiven or listed exactly once; listed periods have separate days.
        #[test]
        fn at_most_one_charge_after_any_pause(
            months in 1..=24_u8, pauses in prop::collection::vec(0..2_000_i64, 1..8), collect in any::<bool>(),
        ) {
            let (schedule, policy) = (monthly(months), if collect { MissedPeriods::Collect } else { MissedPeriods::Forgive });
            let zone = schedule.zone();
            let (mut now, mut settled) = (schedule.period(1).unwrap().start, 0);
            for days in pauses {
                now += TimeDelta::days(days);
                let due = after_downtime(&schedule, settled, now, policy);
                let Some(current) = due.charge else {
                    prop_assert!(due.forgiven.is_empty() && due.collect.is_empty());
                    prop_assert!(schedule.period(settled).unwrap().covers(now));
                    continue;
                };
                prop_assert!(current.covers(now));
                let listed = due.collect.iter().map(|due| due.number);
                let reported: Vec<_> = due.forgiven.clone().chain(listed).chain([current.number]).collect();
                prop_assert_eq!(reported, (settled + 1..=current.number).collect::<Vec<_>>());
                let other_is_empty = if collect { due.forgiven.is_empty() } else { due.collect.is_empty() };
                prop_assert!(other_is_empty);
                let days: Vec<_> = due.collect.iter().map(|due| zone.local(due.not_before).date()).collect();
                let today = zone.local(now).date();
                prop_assert!(days.is_sorted_by(|one, next| one < next) && days.iter().all(|day| *day > today));
                settled = current.number;
            }
        }
    }
}
