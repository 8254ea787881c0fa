use kontor_kernel::Word;
use proptest::prelude::*;

use super::*;

const DOCS: &str = include_str!("../../../../../docs/reference/order-states.md");

/// Rows of the table in the docs, cell by cell.
fn documented() -> Vec<Vec<String>> {
    let rows = DOCS.lines().skip_while(|line| !line.starts_with("| From | To |")).skip(2);
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.take_while(|line| line.starts_with('|')).map(cells).collect()
}

fn reported(step: Transition) -> Vec<String> {
    let event = if step.pays { "`order.paid`" } else { "" };
    vec![
        format!("{} ({})", step.from, step.from.id()),
        format!("{} ({})", step.to, step.to.id()),
        step.by.word().to_owned(),
        step.money.word().to_owned(),
        step.stock.word().to_owned(),
        event.to_owned(),
        format!("`{}`", step.notice.word()),
    ]
}

#[test]
fn the_docs_show_the_same_table() {
    let expected: Vec<Vec<String>> = MOVES.iter().copied().map(reported).collect();
    let lines = expected.iter().map(|cells| format!("| {} |", cells.join(" | "))).collect::<Vec<_>>().join("\n");
    assert_eq!(documented(), expected, "docs/reference/order-states.md should have\n{lines}");
}

#[test]
fn rustdoc_shows_the_same_table() {
    let rows = include_str!("../transitions.rs").lines().filter_map(|line| line.strip_prefix("/// | ")).skip(1);
    let row = |step: &Transition| {
        let (by, money, stock) = (step.by.word(), step.money.word(), step.stock.word());
        let (pays, notice) = (if step.pays { "yes" } else { "no" }, step.notice.word());
        format!("{} | {} | `{by}` | `{money}` | `{stock}` | {pays} | `{notice}` |", step.from, step.to)
    };
    assert_eq!(rows.collect::<Vec<_>>(), MOVES.iter().map(row).collect::<Vec<_>>());
}

#[test]
fn no_move_is_listed_twice() {
    for (index, step) in MOVES.iter().enumerate() {
        let same = |other: &&Transition| (other.from, other.to, other.by) == (step.from, step.to, step.by);
        assert_eq!(MOVES.iter().position(|other| same(&other)), Some(index));
        assert!((!step.from.is_final() || step.by == MoveCause::Refund) && step.from != step.to);
    }
}

fn contexts() -> impl Iterator<Item = TransitionContext> {
    let statuses = OrderStatus::ALL.iter().copied();
    statuses.flat_map(|status| {
        (0..8).map(move |bits| TransitionContext {
            status,
            online: bits & 1 != 0,
            paid: bits & 2 != 0,
            returned: bits & 4 != 0,
        })
    })
}

/// Every pair of states, in every money condition: exactly the documented moves are allowed.
#[test]
fn every_pair_of_states_is_allowed_or_refused_as_documented() {
    let rows = documented();
    let named = |status: OrderStatus| format!("{status} ({})", status.id());
    for order in contexts() {
        for to in OrderStatus::ALL.iter().copied() {
            let row = rows.iter().find(|row| row[0] == named(order.status) && row[1] == named(to) && row[2] == "staff");
            let money = row.is_some_and(|row| match row[3].as_str() {
                "any" => true,
                "not_held" => !order.paid || order.returned,
                "offline" => !order.paid && !order.online,
                other => panic!("{other}"),
            });
            let moved = order.move_to(to);
            assert_eq!(moved.is_ok(), row.is_some() && money, "{order:?} -> {to}: {moved:?}");
        }
        let returned = rows.iter().find(|row| row[0] == named(order.status) && row[2] == "refund");
        let returned = returned.is_some_and(|row| match row[3].as_str() {
            "returned" => order.returned,
            "unpaid" => !order.paid,
            other => panic!("{other}"),
        });
        assert_eq!(order.move_when_returned().is_some(), returned, "{order:?}");
        let expires = rows.iter().any(|row| row[0] == named(order.status) && row[2] == "timeout");
        assert_eq!(order.status.move_when_expired().is_some(), expires, "{order:?}");
        let outcomes = [(ChargeOutcome::Succeeded, "arrived"), (ChargeOutcome::Failed, "failed")];
        for (outcome, money) in outcomes {
            let row = rows.iter().find(|row| row[0] == named(order.status) && row[2] == "acquirer" && row[3] == money);
            let moves = match order.status.after_charge(outcome) {
                ChargeEffect::Transition(step) => Some(named(step.to)),
                ChargeEffect::Unchanged | ChargeEffect::AutomaticRefund | ChargeEffect::Unexpected => None,
            };
            assert_eq!(moves, row.map(|row| row[1].clone()), "{order:?} {outcome:?}");
        }
    }
}

#[test]
fn refusals_name_what_is_in_the_way() {
    let order = |status, online, paid| TransitionContext { status, online, paid, returned: false };
    let refused = |order: TransitionContext, to| order.move_to(to).unwrap_err();
    assert_eq!(refused(order(Issued, false, true), Canceled), TransitionRefused::Final(Issued));
    assert_eq!(refused(order(WaitingForPayment, true, false), Paid), TransitionRefused::OnlyAcquirerPays);
    assert_eq!(refused(order(InProcessing, true, false), Paid), TransitionRefused::OnlyAcquirerPays);
    assert_eq!(refused(order(InProcessing, true, true), Paid), TransitionRefused::AlreadyPaid);
    assert_eq!(refused(order(Paid, true, true), Canceled), TransitionRefused::AlreadyPaid);
    let back = TransitionRefused::NotAllowed { from: ReadyForPickup, to: Created };
    assert_eq!(refused(order(ReadyForPickup, false, false), Created), back);
}

#[test]
fn money_is_taken_by_hand_once_and_of_orders_that_are_not_paid_online() {
    let order = |status, online, paid| TransitionContext { status, online, paid, returned: false };
    for status in OrderStatus::ALL.iter().copied() {
        assert_eq!(order(status, false, true).move_when_paid_manually(), Err(TransitionRefused::AlreadyPaid));
        let expected = match status {
            Created | InProcessing | ReadyForPickup => order(status, false, false).move_to(Paid).map(Some),
            Issued => Ok(None),
            WaitingForPayment => Err(TransitionRefused::OnlyAcquirerPays),
            Canceled => Err(TransitionRefused::Final(Canceled)),
            // A paid order is refused before this rule.
            Paid => Err(TransitionRefused::NotAllowed { from: Paid, to: Paid }),
        };
        assert_eq!(order(status, false, false).move_when_paid_manually(), expected, "{status}");
    }
    assert_eq!(order(Issued, true, false).move_when_paid_manually(), Err(TransitionRefused::OnlyAcquirerPays));
}

#[test]
fn money_for_a_canceled_order_goes_back() {
    assert_eq!(Canceled.after_charge(ChargeOutcome::Succeeded), ChargeEffect::AutomaticRefund);
    assert_eq!(InProcessing.after_charge(ChargeOutcome::Succeeded), ChargeEffect::Unexpected);
    assert_eq!(Canceled.after_charge(ChargeOutcome::Failed), ChargeEffect::Unchanged);
}

#[test]
fn notices_have_the_codes_that_customers_see() {
    let codes: Vec<_> = Notice::VARIANTS.iter().map(|notice| notice.word()).collect();
    let expected = [
        "order_paid",
        "order_payment_failed",
        "order_in_processing",
        "order_ready",
        "order_issued",
        "order_canceled",
        "order_expired",
        "order_changed",
        "order_refund_requested",
        "order_refunded",
    ];
    assert_eq!(codes, expected);
}

proptest! {
    /// Any sequence of actions by staff, the acquirer and refunds: an order is paid at most once, its goods
    /// leave the reservation at most once, and a canceled order never holds money.
    #[test]
    fn any_walk_keeps_the_invariants(steps in prop::collection::vec((0..11_usize, any::<bool>()), 0..40), online in any::<bool>()) {
        let first = if online { WaitingForPayment } else { Created };
        let mut order = TransitionContext { status: first, online, paid: false, returned: false };
        let (mut payments, mut settled) = (0, 0);
        for (target, arrives) in steps {
            let step = match target {
                0..7 => order.move_to(OrderStatus::ALL[target]).ok(),
                7 => {
                    let outcome = if arrives { ChargeOutcome::Succeeded } else { ChargeOutcome::Failed };
                    match order.status.after_charge(outcome) {
                        ChargeEffect::Transition(step) => Some(step),
                        _ => None,
                    }
                }
                8 => order.status.move_when_expired(),
                _ => {
                    order.returned |= order.paid;
                    order.move_when_returned()
                }
            };
            let Some(step) = step else { continue };
            prop_assert_eq!(step.from, order.status);
            payments += u32::from(step.pays);
            settled += u32::from(step.stock != StockEffect::Keep);
            order.status = step.to;
            order.paid |= step.pays;
            prop_assert!(!(order.paid && !order.returned && order.status == Canceled));
        }
        prop_assert!(payments <= 1 && settled <= 1);
        prop_assert_eq!(settled == 1, order.status.is_final());
    }
}
