mod walks;

use std::collections::{BTreeMap, BTreeSet};

use kontor_kernel::Word;
use strum::VariantArray as _;

use super::*;
use crate::error::{RefusalKind, RefusalReason};
use crate::state::{ChargeOrigin, MethodStanding, OpenCharge, PlanStanding};
use crate::testing::samples::facts as paid;

const DOCS: &str = include_str!("../../../../docs/reference/subscription-states.md");

/// Rows of a table in the docs, cell by cell.
fn documented(head: &str) -> Vec<Vec<String>> {
    let rows = DOCS.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.take_while(|line| line.starts_with('|')).map(cells).collect()
}

fn reported(row: &Move) -> Vec<String> {
    let effects: Vec<_> = row.effects.iter().map(|effect| effect.word()).collect();
    vec![
        row.from.word().to_owned(),
        row.event.word().to_owned(),
        row.condition.word().to_owned(),
        row.to.word().to_owned(),
        effects.join(", "),
        row.notice.map(|notice| format!("`{}`", notice.word())).unwrap_or_default(),
    ]
}

const TABLE: &str = "| State | Event | Condition |";
const CONDITIONS: &str = "| Condition | Holds when |";

#[test]
fn the_docs_show_the_same_table() {
    let expected: Vec<Vec<String>> = MOVES.iter().map(reported).collect();
    let lines = expected.iter().map(|cells| format!("| {} |", cells.join(" | "))).collect::<Vec<_>>().join("\n");
    assert_eq!(documented(TABLE), expected, "docs/reference/subscription-states.md should have\n{lines}");
}

/// Evaluates a condition in the words of the docs.
fn holds(word: &str, facts: Facts) -> bool {
    match word {
        "always" => true,
        "activated" => facts.activated,
        "a charge is open" => matches!(facts.charge, OpenCharge::Running | OpenCharge::OutcomeUnknown),
        "no charge is open" => facts.charge == OpenCharge::None,
        "the first charge" => facts.origin == ChargeOrigin::First,
        "not the first charge" => facts.origin != ChargeOrigin::First,
        "a missed period" => facts.origin == ChargeOrigin::Missed,
        "a renewal or a recovery" => matches!(facts.origin, ChargeOrigin::Renewal | ChargeOrigin::Recovery),
        "a renewal" => facts.origin == ChargeOrigin::Renewal,
        "a recovery" => facts.origin == ChargeOrigin::Recovery,
        "its period runs" => facts.in_time,
        "its period is over" => !facts.in_time,
        "a paid period runs" => facts.paid,
        "no paid period runs" => !facts.paid,
        "the method is valid" => facts.method == MethodStanding::Valid,
        "the method is not gone" => facts.method != MethodStanding::Gone,
        "the method is gone" => facts.method == MethodStanding::Gone,
        "the plan is available" => facts.plan == PlanStanding::Available,
        "the plan goes on" => matches!(facts.plan, PlanStanding::Available | PlanStanding::Renews),
        "the plan ends" => facts.plan == PlanStanding::Ends,
        "the plan ends or the method is not valid" => {
            facts.plan == PlanStanding::Ends || facts.method != MethodStanding::Valid
        }
        "the refund ends the period" => facts.refund_ends,
        "the refund ends no period" => !facts.refund_ends,
        "parked" => facts.parked,
        "not parked" => !facts.parked,
        "the day allows another payment" => !facts.limit_reached,
        other => panic!("{other}"),
    }
}

fn all_facts() -> Vec<Facts> {
    let mut all = Vec::new();
    for charge in OpenCharge::VARIANTS.iter().copied() {
        for origin in ChargeOrigin::VARIANTS.iter().copied() {
            for method in MethodStanding::VARIANTS.iter().copied() {
                for plan in PlanStanding::VARIANTS.iter().copied() {
                    all.extend((0..64).map(|bits: u8| Facts {
                        activated: bits & 1 != 0,
                        charge,
                        origin,
                        in_time: bits & 2 != 0,
                        paid: bits & 4 != 0,
                        method,
                        plan,
                        parked: bits & 8 != 0,
                        limit_reached: bits & 32 != 0,
                        refund_ends: bits & 16 != 0,
                    }));
                }
            }
        }
    }
    all
}

/// Every state, every event, every combination of facts: exactly the documented moves are allowed.
#[test]
fn every_cell_is_allowed_or_refused_as_documented() {
    let conditions: BTreeMap<String, Vec<String>> = documented(CONDITIONS)
        .into_iter()
        .map(|row| (row[0].clone(), row[1].split(", ").map(ToOwned::to_owned).collect()))
        .collect();
    assert_eq!(conditions.len(), Condition::VARIANTS.len());
    let mut rows: BTreeMap<(String, String), Vec<Vec<String>>> = BTreeMap::new();
    for row in documented(TABLE) {
        rows.entry((row[0].clone(), row[1].clone())).or_default().push(row);
    }
    let holding = |facts| {
        let of =
            |(name, words): (&String, &Vec<String>)| words.iter().all(|word| holds(word, facts)).then(|| name.clone());
        conditions.iter().filter_map(of).collect::<BTreeSet<String>>()
    };
    let facts: Vec<_> = all_facts().into_iter().map(|facts| (facts, holding(facts))).collect();
    let (mut cells, mut allowed) = (0, 0);
    for from in SubscriptionStatus::VARIANTS.iter().copied() {
        for event in SubscriptionEvent::VARIANTS.iter().copied() {
            let rows = rows.remove(&(from.word().to_owned(), event.word().to_owned())).unwrap_or_default();
            let known: Vec<_> =
                MOVES.iter().filter(|row| row.from == from && row.event == event).map(reported).collect();
            assert_eq!(known, rows);
            for (facts, holding) in &facts {
                let found: Vec<_> = rows.iter().filter(|row| holding.contains(&row[2])).collect();
                assert!(found.len() <= 1, "{from} {event} {facts:?}: {found:?}");
                let moved = from.after(event, *facts).ok();
                let same = match (&moved, found.first()) {
                    (Some(moved), Some(row)) => moved.condition.word() == row[2] && moved.to.word() == row[3],
                    (moved, row) => moved.is_none() && row.is_none(),
                };
                assert!(same, "{from} {event} {facts:?}: {moved:?} instead of {found:?}");
                cells += 1;
                allowed += u32::from(moved.is_some());
            }
        }
    }
    assert_eq!(cells, 4 * 23 * 6_912);
    assert!(allowed > 0 && rows.is_empty());
}

/// A condition or effect that no row uses, or a row that no facts reach, would be dead.
#[test]
fn every_move_of_the_table_is_reachable() {
    let facts = all_facts();
    for row in MOVES {
        assert!(facts.iter().any(|facts| row.condition.holds(*facts)), "{row:?}");
    }
    let used = |word: &str| MOVES.iter().any(|row| reported(row).iter().any(|cell| cell.contains(word)));
    assert!(Condition::VARIANTS.iter().all(|condition| used(condition.word())));
    assert!(Effect::VARIANTS.iter().all(|effect| used(effect.word())));
    // Parking is no event: it happens when a charge is planned.
    let by_a_move = |notice: &&SubscriptionNotice| **notice != SubscriptionNotice::SubscriptionOnHold;
    assert!(SubscriptionNotice::VARIANTS.iter().filter(by_a_move).all(|notice| used(notice.word())));
    assert!(SubscriptionEvent::VARIANTS.iter().all(|event| used(event.word())));
}

fn over() -> Facts {
    Facts { paid: false, ..paid() }
}

fn running(origin: ChargeOrigin) -> Facts {
    Facts { charge: OpenCharge::Running, origin, activated: origin != ChargeOrigin::First, ..over() }
}

fn leads(from: SubscriptionStatus, event: SubscriptionEvent, facts: Facts) -> (SubscriptionStatus, Vec<Effect>) {
    let row = from.after(event, facts).unwrap();
    (row.to, row.effects.to_vec())
}

fn refused(from: SubscriptionStatus, event: SubscriptionEvent, facts: Facts) -> (RefusalReason, RefusalKind) {
    let refused = from.after(event, facts).unwrap_err();
    (refused.reason, refused.kind())
}

#[test]
fn the_contract_on_cancel_and_resume() {
    use RefusalKind::Unsuitable;
    assert_eq!(leads(Active, Cancel, paid()).0, Canceled);
    assert_eq!(leads(PastDue, Cancel, over()).0, Canceled);
    let charging = running(ChargeOrigin::Renewal);
    assert_eq!(refused(Charging, Cancel, charging), (RefusalReason::Processing, Unsuitable));
    let unclear = Facts { charge: OpenCharge::OutcomeUnknown, ..charging };
    assert_eq!(refused(Charging, Cancel, unclear), (RefusalReason::NeedsReconciliation, Unsuitable));
    assert_eq!(refused(Canceled, Cancel, paid()), (RefusalReason::Canceled, Unsuitable));
    assert_eq!(leads(Canceled, Resume, paid()), (Active, vec![]));
    assert_eq!(leads(Canceled, Resume, over()), (PastDue, vec![Anchor, ScheduleTry]));
    for from in [Active, Charging, PastDue] {
        assert_eq!(refused(from, Resume, paid()), (RefusalReason::NotCanceled, Unsuitable));
    }
    for (facts, reason) in [
        (Facts { activated: false, ..paid() }, RefusalReason::NeverActivated),
        (Facts { plan: PlanStanding::Renews, ..paid() }, RefusalReason::PlanUnavailable),
        (Facts { plan: PlanStanding::Ends, ..over() }, RefusalReason::PlanUnavailable),
        (Facts { method: MethodStanding::Gone, ..over() }, RefusalReason::MethodInactive),
        (Facts { charge: OpenCharge::Running, ..over() }, RefusalReason::Processing),
    ] {
        assert_eq!(refused(Canceled, Resume, facts), (reason, Unsuitable));
    }
}

#[test]
fn the_contract_on_retry() {
    use RefusalKind::{Busy, Unsuitable};
    assert_eq!(leads(PastDue, Retry, over()), (Charging, vec![EndQueuedAttempts, StartAttempt]));
    let acted = Facts { method: MethodStanding::NeedsCustomer, ..over() };
    assert_eq!(leads(PastDue, Retry, acted).0, Charging);
    let charging = running(ChargeOrigin::Recovery);
    assert_eq!(refused(Charging, Retry, charging), (RefusalReason::Processing, Busy));
    let unclear = Facts { charge: OpenCharge::OutcomeUnknown, ..charging };
    assert_eq!(refused(Charging, Retry, unclear), (RefusalReason::NeedsReconciliation, Busy));
    assert_eq!(refused(Active, Retry, paid()), (RefusalReason::AlreadyPaid, Unsuitable));
    assert_eq!(refused(Canceled, Retry, over()), (RefusalReason::Canceled, Unsuitable));
    let gone = Facts { method: MethodStanding::Gone, ..over() };
    assert_eq!(refused(PastDue, Retry, gone), (RefusalReason::MethodInactive, Unsuitable));
    let parked = Facts { parked: true, ..over() };
    assert_eq!(refused(PastDue, Retry, parked), (RefusalReason::Parked, Unsuitable));
    let limited = Facts { limit_reached: true, ..over() };
    assert_eq!(refused(PastDue, Retry, limited), (RefusalReason::DailyLimit, Unsuitable));
    assert_eq!(refused(Active, Retry, over()), (RefusalReason::NotFailed, Unsuitable));
}

#[test]
fn the_effect_of_a_charge_depends_on_its_origin() {
    let first = running(ChargeOrigin::First);
    assert_eq!(leads(Charging, ChargeSucceeded, first), (Active, vec![Anchor, GrantPeriod]));
    assert_eq!(leads(Charging, ChargeDeclinedSoft, first), (Canceled, vec![]));
    assert_eq!(leads(Charging, ChargeDeclinedHard, first), (Canceled, vec![StopMethod]));
    let renewal = running(ChargeOrigin::Renewal);
    assert_eq!(leads(Charging, ChargeSucceeded, renewal), (Active, vec![GrantPeriod]));
    assert_eq!(leads(Charging, ChargeDeclinedSoft, renewal), (PastDue, vec![ScheduleTry]));
    let ends = Facts { plan: PlanStanding::Ends, ..renewal };
    assert_eq!(leads(Charging, ChargeDeclinedSoft, ends).0, Canceled);
    let gone = Facts { method: MethodStanding::Gone, ..renewal };
    assert_eq!(leads(Charging, ChargeDeclinedSoft, gone), (PastDue, vec![]));
    assert_eq!(leads(Charging, ChargeDeclinedHard, gone), (PastDue, vec![StopMethod, EndQueuedAttempts]));
    assert_eq!(
        leads(Charging, ChargeDeclinedHard, renewal),
        (PastDue, vec![StopMethod, EndQueuedAttempts, ScheduleTry])
    );
    let late = Facts { in_time: false, ..running(ChargeOrigin::Recovery) };
    assert_eq!(leads(Charging, ChargeSucceeded, late), (Active, vec![Anchor, GrantPeriod, EndQueuedAttempts]));
}

#[test]
fn a_missed_period_is_collected_beside_the_paid_one() {
    let missed = Facts { origin: ChargeOrigin::Missed, ..paid() };
    assert_eq!(leads(Active, ChargeStarted, missed), (Charging, vec![StartAttempt]));
    assert_eq!(refused(Active, ChargeStarted, paid()).0, RefusalReason::AlreadyPaid);
    let charging = Facts { charge: OpenCharge::Running, ..missed };
    assert_eq!(leads(Charging, ChargeSucceeded, charging), (Active, vec![CollectMissed]));
    assert_eq!(leads(Charging, ChargeDeclinedSoft, charging), (Active, vec![]));
    let due_meanwhile = Facts { paid: false, ..charging };
    assert_eq!(leads(Charging, ChargeSucceeded, due_meanwhile), (PastDue, vec![CollectMissed, ScheduleTry]));
    assert_eq!(leads(Charging, ChargeDeclinedSoft, due_meanwhile), (PastDue, vec![ScheduleTry]));
}

#[test]
fn a_charge_that_lasts_blocks_what_the_contract_says_and_no_more() {
    for charge in [OpenCharge::Running, OpenCharge::OutcomeUnknown] {
        let facts = Facts { charge, ..running(ChargeOrigin::Renewal) };
        let blocked: BTreeSet<_> = SubscriptionEvent::VARIANTS
            .iter()
            .filter(|event| Charging.after(**event, facts).is_err())
            .map(|event| event.word())
            .collect();
        let expected = [
            "cancel",
            "charge_announced",
            "charge_started",
            "dunning_exhausted",
            "move_day",
            "pause",
            "period_due",
            "release",
            "resume",
            "retry",
            "skip",
        ];
        assert_eq!(blocked.into_iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn deleting_a_method_and_an_account_always_work() {
    for from in SubscriptionStatus::VARIANTS.iter().copied() {
        for facts in all_facts() {
            let (to, effects) = leads(from, DeleteMethod, facts);
            assert!(to == from && effects == [StopMethod, EndQueuedAttempts]);
            let (to, effects) = leads(from, CustomerLeaves, facts);
            assert!(to == Canceled && effects == [StopMethod, EndQueuedAttempts]);
        }
    }
}

/// Money is never refused, and the outcome of an open charge always ends `charging`.
#[test]
fn every_outcome_ends_an_open_charge() {
    for facts in all_facts() {
        for from in SubscriptionStatus::VARIANTS.iter().copied() {
            assert!(from.after(ChargeSucceeded, facts).is_ok(), "{from} {facts:?}");
        }
        for outcome in [ChargeSucceeded, ChargeDeclinedSoft, ChargeDeclinedHard] {
            assert_ne!(leads(Charging, outcome, facts).0, Charging);
        }
    }
}

#[test]
fn a_doubtful_outcome_parks_and_moves_nothing() {
    for facts in all_facts() {
        for from in SubscriptionStatus::VARIANTS.iter().copied() {
            assert_eq!(leads(from, ChargeContradicted, facts), (from, vec![Park]));
        }
    }
}

#[test]
fn a_refund_ends_the_paid_period_only_where_its_author_says_so() {
    let ends = Facts { refund_ends: true, ..paid() };
    assert_eq!(leads(Active, RefundPeriod, ends), (Canceled, vec![EndPeriod, EndQueuedAttempts]));
    assert_eq!(leads(Active, RefundPeriod, paid()), (Active, vec![]));
    assert_eq!(leads(Canceled, RefundPeriod, ends), (Canceled, vec![EndPeriod]));
    let none = Facts { refund_ends: true, ..over() };
    assert_eq!(refused(PastDue, RefundPeriod, none).0, RefusalReason::NoPaidPeriod);
    let charging = Facts { refund_ends: true, ..running(ChargeOrigin::Missed) };
    assert_eq!(refused(Charging, RefundPeriod, charging).0, RefusalReason::Processing);
}

#[test]
fn money_after_the_end_is_refunded() {
    for facts in all_facts() {
        assert_eq!(leads(Canceled, ChargeSucceeded, facts), (Canceled, vec![ReturnMoney]));
    }
}

/// Canceled never charges. No charge starts during an open one, for a paid period, above a daily limit, or while
/// parked.
#[test]
fn a_charge_starts_only_where_it_may() {
    for row in MOVES.iter().filter(|row| row.effects.contains(&StartAttempt)) {
        assert!(row.from != Canceled && row.from != Charging && row.to == Charging, "{row:?}");
        for facts in all_facts().into_iter().filter(|facts| row.condition.holds(*facts)) {
            assert!(facts.charge == OpenCharge::None && !facts.parked && !facts.limit_reached && facts.activated);
            assert!(!facts.paid || facts.origin == ChargeOrigin::Missed);
            assert!(facts.method != MethodStanding::Gone && facts.plan != PlanStanding::Ends);
        }
    }
    assert!(
        MOVES.iter().all(|row| (row.to == Charging) == (row.from == Charging || row.effects.contains(&StartAttempt))
            || row.from == Charging)
    );
}
