//! Subscriptions: concurrent customers, staff, scheduler and acquirer.

use std::sync::Arc;

use kontor_adapter_diesel::tests_with;
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{Clock as _, NomenclatureId, SavedMethodId, SubscriptionId};
use kontor_orders::refund::RefundCommand;
use kontor_payments::model::GatewayStatus;
use kontor_payments::verification::VerificationTerms;
use kontor_subscriptions::model::PlanChoice;
use kontor_subscriptions::{Agreement, MethodChangeService, StaffCommand, SubscriptionError, TermsEdit};

use super::{Act, Actor, Facts, acts, reported, walk, walk_wholly};
use crate::orders::shop::AcquirerMode;
use crate::orders::staff_fixture::take_back;
use crate::subscriptions::fixture::SubscriptionFixture;

const AGREEMENT: Agreement = Agreement { address: None };

impl Actor<'_> {
    fn cards(&self) -> MethodChangeService {
        let shop = self.shop();
        MethodChangeService {
            store: Arc::new(self.store().clone()),
            charges: shop.payments.clone(),
            clock: shop.clock.clone(),
            random: shop.random.clone(),
            terms: VerificationTerms { amount: "1.00".parse().unwrap(), return_url: String::new() },
            consent_text: "1".to_owned(),
        }
    }

    async fn agrees(&self, edit: TermsEdit) -> Result<(), SubscriptionError> {
        let (customer, id) = (self.customer(), self.id("subscription"));
        self.fixture.service.change(customer, id, &edit, Some(&AGREEMENT)).await.map(|_| ())
    }

    async fn commands(&self, command: StaffCommand) -> Result<(), SubscriptionError> {
        self.fixture
            .staff_subscriptions()
            .command(&self.fixture.staff(), self.id("subscription"), command)
            .await
            .map(|_| ())
    }

    async fn subscribes(&self, plan: i64) -> Result<(), SubscriptionError> {
        let purchase = SubscriptionFixture::purchase(&[plan], None);
        self.fixture.service.check_out(self.customer(), &purchase, &AGREEMENT).await.map(|_| ())
    }

    async fn scheduled(&self) -> Result<(), String> {
        let ran = self.fixture.scheduler.run(10).await.map_err(|error| error.to_string())?;
        if ran.failed.is_empty() { Ok(()) } else { Err(format!("{:?}", ran.failed)) }
    }
}

/// A subscription to gold whose first period is paid, with another plan, and a change of the card that waits for the
/// acquirer.
async fn subscribed(actor: &Actor<'_>) -> Facts {
    let (fixture, customer) = (&actor.fixture, actor.customer());
    let subscription = fixture.subscribed(customer, fixture.gold).await;
    let (silver, method) = (fixture.plan("Silver", 50_000, 1).await, fixture.method(customer).await);
    actor.cards().begin(customer, subscription, &AGREEMENT).await.unwrap();
    let order = actor.shop().stock_fixture.number("SELECT max(id) AS number FROM orders".to_owned()).await;
    [("subscription", subscription.get()), ("silver", silver), ("method", method.get()), ("order", order)].into()
}

/// The same with a failed renewal.
async fn past_due(actor: &Actor<'_>) -> Facts {
    let facts = subscribed(actor).await;
    let fixture = &actor.fixture;
    fixture.shop.acquirer.set_mode(AcquirerMode::Declines("insufficient_funds"));
    fixture.go_to("2026-04-01T12:00:00Z");
    fixture.scheduler.run(10).await.unwrap();
    fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
    fixture.go_to("2026-04-02T12:00:00Z");
    facts
}

/// The same with a renewal of unknown outcome.
async fn unanswered(actor: &Actor<'_>) -> Facts {
    let facts = subscribed(actor).await;
    let fixture = &actor.fixture;
    fixture.shop.acquirer.set_mode(AcquirerMode::LosesTheAnswer);
    fixture.go_to("2026-04-01T12:00:00Z");
    fixture.scheduler.run(10).await.unwrap();
    fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
    facts
}

/// The same at the time of its renewal.
async fn due(actor: &Actor<'_>) -> Facts {
    let facts = subscribed(actor).await;
    actor.fixture.shop.acquirer.set_mode(AcquirerMode::Paid);
    actor.fixture.go_to("2026-04-01T12:00:00Z");
    facts
}

const PLAN: &[Act] = acts! {
    "another plan" => |actor| actor.agrees(TermsEdit {
        plan: NomenclatureId::new(actor.facts["silver"]).ok().map(PlanChoice::Item),
        saved_method: None,
    });
};

const CUSTOMER: &[Act] = acts! {
    "cancel" => |actor| actor.fixture.service.cancel(actor.customer(), actor.id("subscription"));
    "delete the card" => |actor| actor.fixture.service.delete_method(actor.customer(), actor.id::<SavedMethodId>("method"));
    "another card saved" => |actor| actor.handles_notification("method_binding", GatewayStatus::Succeeded);
    "leave" => |actor| actor.store().delete_account(
        actor.customer().app.project_id,
        actor.customer().counterparty_id,
        actor.shop().clock.now(),
    );
};

const STAFF: &[Act] = acts! {
    "charge now" => |actor| actor.commands(StaffCommand::ChargeNow);
    "staff cancel" => |actor| actor.commands(StaffCommand::Cancel);
    "refund the period" => |actor| async {
        let command = RefundCommand { ends_period: true, ..take_back(&[]) };
        actor.staff_fixture.orders.refund(&actor.staff_fixture.staff, actor.id("order"), command).await
    };
};

const WORKERS: &[Act] = acts! {
    "reconciler" => |actor| actor.shop().payments.reconcile("w", 10);
};

const SCHEDULER: Act =
    Act { name: "scheduler", skips: true, run: |actor| Box::pin(async move { reported(actor.scheduled().await) }) };

const RESUME: &[Act] = acts! {
    "resume" => |actor| actor.fixture.service.resume(actor.customer(), actor.id("subscription"), &AGREEMENT);
};

const PENDING: &[Act] = acts! {
    "told pending" => |actor| actor.handles_notification("order", GatewayStatus::Pending);
};

const PAID: &[Act] = acts! {
    "told paid" => |actor| actor.handles_notification("order", GatewayStatus::Succeeded);
};

const DECLINED: &[Act] = acts! {
    "told declined" => |actor| actor.handles_notification("order", GatewayStatus::Canceled);
};

const CHECKOUTS: &[Act] = acts! {
    "check out gold" => |actor| actor.subscribes(actor.fixture.gold);
    "check out silver" => |actor| actor.subscribes(actor.facts["silver"]);
    "at once" => |actor| actor.fixture.at_once(actor.customer(), actor.facts["silver"], actor.id("method"));
};

async fn renewal_that_is_paid() {
    walk("renewal that is paid", unanswered, &[CUSTOMER, PLAN, STAFF, WORKERS, &[SCHEDULER], PENDING, PAID]).await;
}

/// A statement that locks a row and reads joined rows at once would miss the agreed plan change.
async fn a_plan_change_meets_news_of_the_renewal_at_every_pause() {
    walk_wholly("a plan change and news", unanswered, &[PLAN, PENDING]).await;
}

async fn renewal_that_is_declined() {
    walk("renewal that is declined", unanswered, &[CUSTOMER, PLAN, WORKERS, &[SCHEDULER], PENDING, DECLINED]).await;
}

async fn renewal_that_is_due() {
    walk("renewal that is due", due, &[CUSTOMER, PLAN, STAFF, WORKERS, &[SCHEDULER]]).await;
}

async fn renewal_that_failed() {
    walk("renewal that failed", past_due, &[CUSTOMER, PLAN, STAFF, WORKERS, &[SCHEDULER], RESUME]).await;
}

async fn checkouts() {
    let begun = async |actor: &Actor<'_>| {
        let facts = subscribed(actor).await;
        let id = SubscriptionId::new(facts["subscription"]).unwrap();
        actor.fixture.service.cancel(actor.customer(), id).await.unwrap();
        facts
    };
    walk("checkouts", begun, &[CHECKOUTS, CUSTOMER, PLAN, RESUME]).await;
}

tests_with!(postgres:
    renewal_that_is_paid,
    a_plan_change_meets_news_of_the_renewal_at_every_pause,
    renewal_that_is_declined,
    renewal_that_is_due,
    renewal_that_failed,
    checkouts,
);
