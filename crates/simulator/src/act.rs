//! What a use case did, and what the simulation learns from it.

use std::fmt::Debug;
use std::sync::Arc;

use kontor_kernel::listing::Sort;
use kontor_kernel::testing::Dice;
use kontor_kernel::{Contact, CustomerScope, Listing, PageRequest, SubscriptionId};
use kontor_orders::model::Order;

use crate::invariants;
use crate::merchant::Merchant;
use crate::services::Services;
use crate::turns::Run;

/// A customer who has signed in.
#[derive(Debug, Clone)]
pub struct Member {
    /// By what.
    pub contact: Contact,
    /// Who they are.
    pub scope: CustomerScope,
    /// Their token.
    pub bearer: String,
    /// Of what they heard.
    pub subscriptions: Vec<SubscriptionId>,
}

/// What the simulation learns.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Nothing.
    Nothing,
    /// A code went out and is stored.
    CodeSent(Contact, String),
    /// A code let somebody in.
    SignedIn(Box<Member>, String),
    /// A token ended, or all of the customer.
    SignedOut(CustomerScope, bool),
    /// A customer left.
    Left(CustomerScope),
    /// A customer has these subscriptions.
    Subscribed(CustomerScope, Vec<SubscriptionId>),
    /// A rule is broken.
    Broken(&'static str, String),
}

/// What became of a use case.
#[derive(Debug, Clone)]
pub struct Did {
    /// Which one.
    pub what: &'static str,
    /// How it ended: `done` and what came of it, or why not.
    pub outcome: String,
    /// What the simulation learns.
    pub effect: Effect,
}

impl Did {
    /// What a use case answered. A storage that fails breaks a rule.
    pub fn of<T, E: Debug>(what: &'static str, answer: Result<T, E>, told: impl FnOnce(&T) -> String) -> Self {
        match answer {
            Ok(value) => Self { what, outcome: format!("done {}", told(&value)), effect: Effect::Nothing },
            Err(error) => {
                let text: String = format!("{error:?}").chars().take(160).collect();
                let failed = ["Store(", "Failed(", "Corrupt(", "Unavailable(", "OutcomeUnknown("];
                let broken = failed.iter().any(|word| text.starts_with(word));
                let effect = if broken { Effect::Broken(invariants::STORAGE, text.clone()) } else { Effect::Nothing };
                Self { what, outcome: text, effect }
            }
        }
    }

    /// Nothing was there to do it with.
    pub fn nothing(what: &'static str) -> Self {
        Self { what, outcome: "nothing to do".to_owned(), effect: Effect::Nothing }
    }

    /// With something that the simulation learns, unless a rule was broken.
    #[must_use]
    pub fn teaching(self, effect: Effect) -> Self {
        if matches!(self.effect, Effect::Broken(..)) || !self.outcome.starts_with("done") {
            return self;
        }
        Self { effect, ..self }
    }
}

/// A use case that is ready to run.
pub type Act = Run<Did>;

/// What an act takes along.
#[derive(Clone)]
pub struct Scene {
    /// What it calls.
    pub services: Arc<Services>,
    /// For whom it works.
    pub merchant: Arc<Merchant>,
    /// What it decides by.
    pub dice: Dice,
}

impl Scene {
    /// One of the orders, a recent one most of the time.
    pub async fn some_order(&mut self) -> Option<Order> {
        let number = if self.dice.percent(75) { 1 } else { 2 + i64::try_from(self.dice.below(4)).unwrap() };
        let page = PageRequest::new(number, 10, 100).unwrap();
        let listing = Listing::everything(Sort::descending("id"), page);
        let found = self.services.orders.list(&self.merchant.staff, listing).await.ok()?;
        self.dice.one_of(&found.items)
    }
}
