//! Years of subscriptions: all kinds of failed charges, changes by customers, actions by staff. At the end the invariants are
//! checked, and once more after each falsification.
//!
//! `YEARS_OF` sets the number of subscriptions and of days, such as `2000x1826`; `YEARS_SEED` repeats a run.

mod books;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use kontor_adapter_diesel::database_tests;
use kontor_customers::ProfileService;
use kontor_kernel::testing::TestRng;
use kontor_kernel::{Clock as _, CustomerScope, NomenclatureId, SubscriptionId};
use kontor_payments::model::{GatewayStatus, ProviderId};
use kontor_payments::ports::SavedMethodStore;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::ports::SubscriptionStore;
use kontor_subscriptions::{Agreement, ScheduleCommand, StaffCommand, SubscriptionError, TermsEdit};

use self::books::Books;
use super::fixture::SubscriptionFixture;
use crate::orders::shop::AcquirerMode;
use crate::orders::staff_fixture::{give_back, take_back};

/// Number of subscriptions, number of days.
#[expect(clippy::disallowed_methods, reason = "a test that is told how long to run")]
fn asked() -> (u64, u64, u64) {
    let number = |text: &str| text.parse().unwrap();
    let size = std::env::var("YEARS_OF").unwrap_or_else(|_| "16x200".to_owned());
    let (subscriptions, days) = size.split_once('x').unwrap();
    let seed = std::env::var("YEARS_SEED").map_or(20_270_131, |seed| number(&seed));
    (number(subscriptions), number(days), seed)
}

struct Years<'a> {
    fixture: SubscriptionFixture<'a>,
    rng: TestRng,
    plans: [i64; 3],
    /// Customers with their subscriptions.
    members: Vec<(CustomerScope, Vec<SubscriptionId>)>,
    /// Number of runs and refusals of each action.
    done: BTreeMap<&'static str, (u64, u64)>,
}

impl<'a> Years<'a> {
    async fn open(db: &'a kontor_adapter_diesel::testing::TestDatabase, subscriptions: u64, seed: u64) -> Self {
        let fixture = SubscriptionFixture::open(db).await;
        fixture.shop.acquirer.hurries();
        let plans = [fixture.gold, fixture.plan("Silver", 49_000, 1).await, fixture.plan("Yearly", 490_000, 12).await];
        let mut years = Self { fixture, rng: TestRng::new(seed), plans, members: Vec::new(), done: BTreeMap::new() };
        for _ in 0..subscriptions {
            years.joins().await;
            let hours = i64::try_from(years.rng.below(12)).unwrap();
            years.fixture.shop.clock.advance(TimeDelta::hours(hours));
        }
        years
    }

    /// A new customer subscribes to a plan that is always offered.
    async fn joins(&mut self) {
        let customer = self.fixture.shop.another_customer().await;
        let plan = self.rng.one_of(&[self.plans[0], self.plans[2]]).unwrap();
        let id = self.fixture.subscribed(customer, plan).await;
        self.members.push((customer, vec![id]));
    }

    fn plan(&mut self) -> i64 {
        self.rng.one_of(&self.plans).unwrap()
    }

    /// Outcome of the next charge at the acquirer.
    fn acquirer_mode(&mut self) -> AcquirerMode {
        match self.rng.below(100) {
            0..76 => AcquirerMode::Paid,
            76..86 => AcquirerMode::Declines(
                self.rng.one_of(&["insufficient_funds", "general_decline", "unheard_of"]).unwrap(),
            ),
            86..88 => AcquirerMode::Declines(self.rng.one_of(&["call_issuer", "3d_secure_failed"]).unwrap()),
            88 => AcquirerMode::Declines(self.rng.one_of(&["card_expired", "permission_revoked"]).unwrap()),
            89..93 => AcquirerMode::Pending,
            93..97 => AcquirerMode::LosesTheAnswer,
            97..99 => AcquirerMode::Silent,
            _ => AcquirerMode::Refuses,
        }
    }

    /// Runs due work, with a random outcome of each charge. Sometimes a worker stops before it has finished.
    async fn works(&mut self) {
        if self.rng.below(20) == 0 {
            let now = self.fixture.shop.clock.now();
            let store = &self.fixture.shop.stock_fixture.db.database;
            store.lease_due(now, now + TimeDelta::minutes(2), 3).await.unwrap();
        }
        loop {
            let acquirer_mode = self.acquirer_mode();
            self.fixture.shop.acquirer.set_mode(acquirer_mode);
            let ran = self.fixture.scheduler.run(1).await.unwrap();
            assert!(ran.failed.is_empty(), "{:?}", ran.failed);
            if ran.found == 0 {
                break;
            }
        }
        let acquirer_mode = self.acquirer_mode();
        self.fixture.shop.acquirer.set_mode(acquirer_mode);
        self.fixture.shop.payments.reconcile("w", 1_000).await.unwrap();
        self.fixture.shop.refunds.reconcile("w", 1_000).await.unwrap();
    }

    /// Pending payments are settled by a notification, by two, or by a check.
    async fn banks_decide(&mut self) {
        let waiting: Vec<ProviderId> = {
            let payments = self.fixture.shop.acquirer.payments.lock().unwrap();
            let open = payments.iter().filter(|(_, payment)| payment.status == GatewayStatus::Pending);
            open.map(|(_, payment)| payment.id.clone()).collect()
        };
        for id in waiting {
            if self.rng.below(3) > 0 {
                continue;
            }
            let status = if self.rng.below(3) > 0 { GatewayStatus::Succeeded } else { GatewayStatus::Canceled };
            {
                let mut payments = self.fixture.shop.acquirer.payments.lock().unwrap();
                let found = payments.iter_mut().find(|(_, payment)| payment.id == id);
                found.unwrap().1.status = status;
            }
            for _ in 0..self.rng.below(3) {
                self.fixture.shop.payments.handle_notification(&id, None).await.unwrap();
            }
        }
    }

    /// A random customer takes a random action.
    async fn something_happens(&mut self) {
        let members = u64::try_from(self.members.len()).unwrap();
        let place = usize::try_from(self.rng.below(members)).unwrap();
        let (customer, subscriptions) = self.members[place].clone();
        let Some(id) = self.rng.one_of(&subscriptions) else { return };
        let choice = self.rng.below(16);
        let acquirer_mode = self.acquirer_mode();
        self.fixture.shop.acquirer.set_mode(acquirer_mode);
        let (what, outcome) = match choice {
            0 => ("cancel", self.fixture.service.cancel(customer, id).await.map(drop)),
            1 | 2 => ("resume", self.fixture.service.resume(customer, id, &Agreement::default()).await.map(drop)),
            3 | 4 => {
                let plan = Some(PlanChoice::Item(NomenclatureId::new(self.plan()).unwrap()));
                ("change", self.changes(customer, id, TermsEdit { plan, saved_method: None }).await)
            }
            5 => ("retry", self.retries(customer, id).await),
            6 => ("subscribe", self.subscribes(place, customer).await),
            7 => ("delete_method", self.deletes(customer).await),
            8 => ("change_method", self.changes_method(customer, id).await),
            9 => ("leave", self.leaves(place, customer).await),
            10 => ("refund", self.gives_back(customer, id).await),
            choice => ("staff", self.staff_do(id, choice).await),
        };
        let counted = self.done.entry(what).or_default();
        counted.0 += 1;
        counted.1 += u64::from(outcome.is_err());
        assert!(!matches!(outcome, Err(SubscriptionError::Store(_))), "{what}: {outcome:?}");
    }

    async fn changes(
        &self,
        customer: CustomerScope,
        id: SubscriptionId,
        edit: TermsEdit,
    ) -> Result<(), SubscriptionError> {
        self.fixture.service.change(customer, id, &edit, Some(&Agreement::default())).await.map(drop)
    }

    async fn retries(&self, customer: CustomerScope, id: SubscriptionId) -> Result<(), SubscriptionError> {
        let Some(last) = self.fixture.see_as(customer, id).await.and_then(|view| view.latest) else { return Ok(()) };
        self.fixture.service.retry(customer, id, last.id).await.map(drop)
    }

    async fn subscribes(&mut self, place: usize, customer: CustomerScope) -> Result<(), SubscriptionError> {
        let plan = self.plan();
        self.fixture.shop.acquirer.set_mode(AcquirerMode::Pending);
        let checkout = self.fixture.check_out(customer, &[plan]).await?;
        self.members[place].1.extend(checkout.payment.subscriptions.iter().map(|view| view.subscription.id));
        Ok(())
    }

    async fn methods(&self, customer: CustomerScope) -> Vec<kontor_kernel::SavedMethodId> {
        let database = &self.fixture.shop.stock_fixture.db.database;
        SavedMethodStore::list(database, customer).await.unwrap().into_iter().map(|method| method.id).collect()
    }

    async fn deletes(&mut self, customer: CustomerScope) -> Result<(), SubscriptionError> {
        let methods = self.methods(customer).await;
        match self.rng.one_of(&methods) {
            Some(method) => self.fixture.service.delete_method(customer, method).await,
            None => Ok(()),
        }
    }

    async fn changes_method(&mut self, customer: CustomerScope, id: SubscriptionId) -> Result<(), SubscriptionError> {
        let methods = self.methods(customer).await;
        let saved_method = self.rng.one_of(&methods);
        self.changes(customer, id, TermsEdit { plan: None, saved_method }).await
    }

    /// Deletes a customer and adds a new one.
    async fn leaves(&mut self, place: usize, customer: CustomerScope) -> Result<(), SubscriptionError> {
        if self.rng.below(8) > 0 {
            return Ok(());
        }
        let customers = Arc::new(self.fixture.shop.stock_fixture.db.database.clone());
        let profiles = ProfileService { customers, clock: self.fixture.shop.clock.clone() };
        // A customer with a pending payment cannot be deleted yet.
        if profiles.delete_account(customer).await.is_ok() {
            self.members.swap_remove(place);
            self.joins().await;
        }
        Ok(())
    }

    /// Refunds a part of the last payment, or all of it with the period.
    async fn gives_back(&mut self, customer: CustomerScope, id: SubscriptionId) -> Result<(), SubscriptionError> {
        let Some(last) = self.fixture.see_as(customer, id).await.and_then(|view| view.latest) else { return Ok(()) };
        let mut command = take_back(&[]);
        match self.rng.below(3) {
            0 => command.ends_period = true,
            1 => {}
            _ => command = give_back("10.00".parse().unwrap()),
        }
        // Refused payments were not paid, or have been refunded.
        let _refused = self.fixture.orders().refund(&self.fixture.staff(), last.order, command).await;
        Ok(())
    }

    async fn staff_do(&mut self, id: SubscriptionId, choice: u64) -> Result<(), SubscriptionError> {
        let later = |days: u64| self.fixture.shop.clock.now() + TimeDelta::days(i64::try_from(days).unwrap());
        let command = match choice {
            11 => StaffCommand::Retime(ScheduleCommand::PauseUntil(later(self.rng.below(90)))),
            12 => StaffCommand::Retime(ScheduleCommand::SkipNext),
            13 => StaffCommand::Retime(ScheduleCommand::BillingDay(u8::try_from(self.rng.below(31)).unwrap() + 1)),
            14 => StaffCommand::ChargeNow,
            _ => StaffCommand::Release,
        };
        self.fixture.staff_subscriptions().command(&self.fixture.staff(), id, command).await.map(drop)
    }

    /// A day in four steps.
    async fn a_day(&mut self) {
        // Each customer acts once in four months.
        let members = u64::try_from(self.members.len()).unwrap();
        let actions = (members + self.rng.below(120)) / 120;
        for _ in 0..4 {
            self.fixture.shop.clock.advance(TimeDelta::hours(6));
            self.works().await;
            let unpaid = self.fixture.shop.count(&books::active_and_unpaid(self.fixture.shop.clock.now())).await;
            assert_eq!(unpaid, 0, "active and unpaid on {}", self.fixture.shop.clock.now());
        }
        for _ in 0..actions {
            self.something_happens().await;
        }
        self.banks_decide().await;
        if self.rng.below(150) == 0 {
            // A plan that is not offered for a while.
            let (plan, active) = (self.plans[1], if self.rng.below(2) == 0 { "FALSE" } else { "TRUE" });
            let set =
                format!("UPDATE subscription_nomenclatures SET is_active = {active} WHERE nomenclature_id = {plan}");
            self.fixture.shop.stock_fixture.run(set).await;
        }
    }

    /// No new customers are added, and open work is completed.
    async fn comes_to_rest(&mut self) {
        self.fixture.shop.stock_fixture.run("UPDATE subscriptions SET wake_at = NULL".to_owned()).await;
        for _ in 0..40 {
            self.fixture.shop.clock.advance(TimeDelta::hours(12));
            self.banks_decide().await;
            self.fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
            self.fixture.shop.payments.reconcile("w", 10_000).await.unwrap();
            self.fixture.shop.refunds.reconcile("w", 10_000).await.unwrap();
            self.fixture.shop.stock_fixture.run("UPDATE subscriptions SET wake_at = NULL".to_owned()).await;
        }
    }
}

database_tests! {
    async fn the_records_are_consistent_after_years(db: TestDatabase) {
        let (subscriptions, days, seed) = asked();
        println!("YEARS_OF={subscriptions}x{days} YEARS_SEED={seed}");
        let began = std::time::Instant::now();
        let mut years = Years::open(&db, subscriptions, seed).await;
        let first_day = years.fixture.shop.clock.now();
        for day in 1..=days {
            years.a_day().await;
            if day % 100 == 0 {
                println!("{day} days, {:?}", began.elapsed());
            }
        }
        years.comes_to_rest().await;
        let books = Books { fixture: &years.fixture };
        let wrong = books.wrong().await;
        assert!(wrong.is_empty(), "seed {seed}: {}", wrong.join("\n"));
        let (paid, tried) = (books.count("succeeded").await, books.count("failed").await);
        println!("{paid} payments, {tried} declines, {:?} since {first_day}; {:?}", years.done, began.elapsed());
        assert!(paid > subscriptions && tried > 0, "{paid} and {tried}: too little happened");
        books.notice_what_is_falsified().await;
    }
}
