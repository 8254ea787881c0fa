//! Actions of customers, staff and workers: the result of a use case, and its effect on the state of the simulation.

pub mod agents;
pub mod customers;
pub mod foreign_records;
pub mod members;
pub mod staff;
pub mod workers;

use std::fmt::Debug;
use std::sync::Arc;

use kontor_kernel::listing::Sort;
use kontor_kernel::testing::TestRng;
use kontor_kernel::{Contact, CustomerScope, Listing, PageRequest, SubscriptionId};
use kontor_orders::model::Order;

use crate::invariants;
use crate::merchant::Merchant;
use crate::scheduler::Run;
use crate::services::Services;

/// A customer who has logged in.
#[derive(Debug, Clone)]
pub struct Member {
    /// Contact they logged in with.
    pub contact: Contact,
    pub scope: CustomerScope,
    /// Access token.
    pub bearer: String,
    /// Subscriptions that the simulator knows.
    pub subscriptions: Vec<SubscriptionId>,
}

/// Effect on the state of the simulation.
#[derive(Debug, Clone)]
pub enum Effect {
    Nothing,
    /// A code was sent and is stored.
    CodeSent(Contact, String),
    /// A customer logged in with this code.
    SignedIn(Box<Member>, String),
    /// A token was revoked, or (`true`) all tokens of the customer.
    SignedOut(CustomerScope, bool),
    /// A customer deleted their account.
    Left(CustomerScope),
    /// A customer has these subscriptions.
    Subscribed(CustomerScope, Vec<SubscriptionId>),
    /// A rule is broken.
    Broken(&'static str, String),
}

/// Result of a use case.
#[derive(Debug, Clone)]
pub struct ActResult {
    /// Name of the use case.
    pub what: &'static str,
    /// `done` with the result, or the refusal.
    pub outcome: String,
    /// Effect on the state of the simulation.
    pub effect: Effect,
}

impl ActResult {
    /// Creates the result of a use case. A storage failure breaks a rule.
    pub fn of<T, E: Debug>(what: &'static str, answer: Result<T, E>, reported: impl FnOnce(&T) -> String) -> Self {
        match answer {
            Ok(value) => Self { what, outcome: format!("done {}", reported(&value)), effect: Effect::Nothing },
            Err(error) => {
                let text: String = format!("{error:?}").chars().take(160).collect();
                let failed = ["Store(", "Failed(", "Corrupt(", "Unavailable(", "OutcomeUnknown("];
                let broken = failed.iter().any(|word| text.starts_with(word));
                let effect = if broken { Effect::Broken(invariants::STORAGE, text.clone()) } else { Effect::Nothing };
                Self { what, outcome: text, effect }
            }
        }
    }

    /// Creates the result of a use case that had nothing to act on.
    pub fn nothing(what: &'static str) -> Self {
        Self { what, outcome: "nothing to do".to_owned(), effect: Effect::Nothing }
    }

    /// Adds an effect, unless a rule was broken or the use case failed.
    #[must_use]
    pub fn teaching(self, effect: Effect) -> Self {
        if matches!(self.effect, Effect::Broken(..)) || !self.outcome.starts_with("done") {
            return self;
        }
        Self { effect, ..self }
    }
}

/// A use case that is ready to run.
pub type Act = Run<ActResult>;

/// Context of an act.
#[derive(Clone)]
pub struct Scene {
    pub services: Arc<Services>,
    /// Merchant the act works for.
    pub merchant: Arc<Merchant>,
    /// Random choices of the act.
    pub rng: TestRng,
}

impl Scene {
    /// Returns a random order, in 75 % of the cases one of the ten latest.
    pub async fn some_order(&mut self) -> Option<Order> {
        let number = if self.rng.percent(75) { 1 } else { 2 + i64::try_from(self.rng.below(4)).unwrap() };
        let page = PageRequest::new(number, 10, 100).unwrap();
        let listing = Listing::unfiltered(Sort::descending("id"), page);
        let found = self.services.orders.list(&self.merchant.staff, listing).await.ok()?;
        self.rng.one_of(&found.items)
    }
}
