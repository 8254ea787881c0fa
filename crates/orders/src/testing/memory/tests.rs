//! The storage in memory fulfills the contract, and the contract notices each guard that is missing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use futures_util::FutureExt as _;
use kontor_kernel::testing::app_scope;
use kontor_kernel::{CustomerScope, DiscountTarget, DiscountValue, Money, NomenclatureId, PromoCode, ShopId, UserId};

use super::{ChargeGuard, Guard, InMemoryOrders};
use crate::model::{DeliveryRequest, Discount};
use crate::testing::contract::{self, Fixture, TicketFixture};
use crate::testing::samples::a_discount;

#[async_trait]
impl Fixture for InMemoryOrders {
    type Store = Self;

    fn store(&self) -> Arc<Self> {
        Arc::new(self.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.add_customer()
    }

    async fn delete_customer(&self, customer: CustomerScope) {
        Self::delete_customer(self, customer.counterparty_id);
    }

    async fn employee(&self) -> UserId {
        self.add_employee()
    }

    async fn goods(&self, units: u32, price: Money) -> NomenclatureId {
        self.add_goods("Vase", units, price)
    }

    async fn promo(&self, usage_limit: Option<u64>, customer_limit: Option<u64>) -> PromoCode {
        let code = PromoCode::parse("SPRING").unwrap();
        let ten_percent = a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart);
        let limits = Discount { usage_limit, customer_limit, ..ten_percent };
        self.add_discount(Discount { code: Some(code.to_string()), ..limits });
        code
    }

    fn delivery(&self) -> DeliveryRequest {
        self.pickup()
    }
}

#[async_trait]
impl TicketFixture for InMemoryOrders {
    async fn tickets(&self, units: u32, price: Money) -> NomenclatureId {
        self.add_tickets("Concert", units, price)
    }

    async fn shop(&self) -> ShopId {
        self.pickup().shop_id.unwrap()
    }
}

/// Runs every check, each on a new storage. Returns the names of those that failed.
macro_rules! failures {
    ($open:expr; $($check:ident)+) => {{
        let mut failed: Vec<&str> = Vec::new();
        $(
            let shop: InMemoryOrders = $open;
            if AssertUnwindSafe(contract::$check(&shop)).catch_unwind().await.is_err() {
                failed.push(stringify!($check));
            }
        )+
        failed
    }};
}

async fn failures(open: impl Fn() -> InMemoryOrders) -> Vec<&'static str> {
    failures! {
        open();
        a_placed_order_is_found_again
        racing_orders_never_oversell
        a_refused_order_leaves_nothing
        a_promo_code_is_not_overused
        a_customer_does_not_overuse_a_promo_code
        an_order_from_other_data_is_stale
        unknown_people_have_no_orders
        a_canceled_order_releases_its_stock_once
        changes_are_decided_in_turn
        a_refused_change_writes_nothing
        money_taken_by_staff_counts_once
        a_charge_is_stored_with_its_order
        an_order_is_paid_once
        a_failed_payment_releases_the_stock_once
        late_money_is_reserved_for_its_refund
        an_order_reserves_all_of_its_lines
        a_failed_payment_returns_its_promo_use
        unconfirmed_orders_of_a_phone_are_bounded
        a_decision_gets_the_current_order
        changes_are_in_the_history
        an_employee_is_in_charge
        an_order_has_one_payment
        refunds_never_exceed_the_money_of_an_order
        each_unit_is_taken_back_once
        a_canceled_order_releases_what_is_left
        money_without_a_charge_is_refunded_at_once
        a_ticket_admits_once
        a_scan_is_judged_once
        only_paid_tickets_admit
        scans_are_listed_with_their_order
        a_ticket_is_redeemed_or_returned
    }
}

#[tokio::test]
async fn the_storage_in_memory_fulfills_the_contract() {
    assert_eq!(failures(|| InMemoryOrders::new(app_scope(1, 1))).await, [""; 0]);
}

/// The checks that notice each guard, when it is missing.
#[tokio::test]
async fn a_missing_guard_is_noticed() {
    for (guard, check) in [
        (Guard::Stock, "racing_orders_never_oversell"),
        (Guard::PromoLimit, "a_promo_code_is_not_overused"),
        (Guard::PromoLimit, "a_customer_does_not_overuse_a_promo_code"),
        (Guard::Price, "an_order_from_other_data_is_stale"),
        (Guard::Customer, "unknown_people_have_no_orders"),
        (Guard::Release, "a_canceled_order_releases_its_stock_once"),
        (Guard::Release, "a_failed_payment_releases_the_stock_once"),
        (Guard::Charge(ChargeGuard::Outcome), "an_order_is_paid_once"),
        (Guard::Charge(ChargeGuard::Refund), "late_money_is_reserved_for_its_refund"),
        (Guard::Charge(ChargeGuard::Refund), "refunds_never_exceed_the_money_of_an_order"),
        (Guard::Whole, "an_order_reserves_all_of_its_lines"),
        (Guard::Whole, "a_refused_order_leaves_nothing"),
        (Guard::PromoReturn, "a_failed_payment_returns_its_promo_use"),
        (Guard::Contact, "unconfirmed_orders_of_a_phone_are_bounded"),
        (Guard::UnitsLeft, "a_canceled_order_releases_what_is_left"),
        (Guard::Current, "a_decision_gets_the_current_order"),
        (Guard::Current, "refunds_never_exceed_the_money_of_an_order"),
        (Guard::History, "changes_are_in_the_history"),
        (Guard::Manager, "a_refused_change_writes_nothing"),
        (Guard::Charge(ChargeGuard::Conflict), "an_order_has_one_payment"),
        (Guard::Tickets, "a_ticket_admits_once"),
        (Guard::Scan, "a_scan_is_judged_once"),
    ] {
        let failed = failures(|| InMemoryOrders::without(guard)).await;
        assert!(failed.contains(&check), "{guard:?}: {failed:?}");
    }
}

/// The suite of an adapter is complete if it names every check.
#[test]
fn every_check_runs() {
    let here = include_str!("tests.rs");
    let checks = [
        include_str!("../contract.rs"),
        include_str!("../contract/limits.rs"),
        include_str!("../contract/refunds.rs"),
        include_str!("../contract/tickets.rs"),
    ]
    .concat();
    let named = checks.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split_once('<'));
    for (check, _) in named {
        assert!(here.contains(&format!("\n        {check}\n")), "{check} does not run");
    }
}

#[tokio::test]
async fn a_history_is_kept_with_its_order() {
    use crate::model::OrderEvent;
    use crate::ports::OrderReader as _;
    use kontor_kernel::PageRequest;

    let shop = InMemoryOrders::new(app_scope(1, 1));
    contract::an_order_is_paid_once(&shop).await;
    let order = shop.state.with(|state| state.orders.values().next().cloned()).unwrap();
    let entries = shop.history(order.id, PageRequest::new(1, 10, 10).unwrap()).await.unwrap();
    let reported: Vec<_> = entries.items.iter().map(|entry| (entry.event, entry.status)).collect();
    assert_eq!(
        reported,
        [(OrderEvent::Paid, order.status), (OrderEvent::Created, crate::model::OrderStatus::WaitingForPayment)]
    );
    let events = shop.events();
    assert_eq!((events.len(), events[0].order_id, events[0].amount), (1, order.id, order.captured));
    assert_eq!(order.updated_at, DateTime::UNIX_EPOCH + chrono::TimeDelta::hours(20_000 * 24 + 12));
}
