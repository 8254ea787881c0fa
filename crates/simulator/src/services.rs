//! The services, wired as the server wires them: real storage, with clock, randomness and outside services of the
//! seed.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use kontor_adapter_diesel::{Database, IdempotentRequest};
use kontor_auth::model::TokenLifetimes;
use kontor_auth::{AgentActionService, CustomerGuard, CustomerSessions};
use kontor_catalog::InventoryService;
use kontor_customers::ProfileService;
use kontor_kernel::testing::{PlainCipher, SeededRandom, TestRng};
use kontor_kernel::{Clock, FixedClock, Money, Random};
use kontor_orders::tickets::{TicketService, TicketTerms, TicketTokens};
use kontor_orders::{FewestWarehouses, OrderService, PaymentPage, PlacementService};
use kontor_payments::verification::VerificationTerms;
use kontor_payments::{ChargeService, ReceiptService, RefundService};
use kontor_subscriptions::{
    ChargeLimiter, MethodChangeService, StaffSubscriptions, SubscriptionScheduler, SubscriptionService,
};
use kontor_webhooks::model::OutboundPolicy;
use kontor_webhooks::{DeliveryWorker, WebhookService};

use crate::acts::agents::TASKS;
use crate::providers::{NoPasswords, NoSigner, Outside};
use crate::scheduled_ports::{ScheduledStorage, SingleSlot};
use crate::scheduler::Turns;

/// Services and adapters of a simulation.
pub struct Services {
    /// The storage without the scheduler.
    pub database: Database,
    pub clock: Arc<FixedClock>,
    pub outside: Arc<Outside>,
    pub turns: Turns,
    /// Carts, new orders and lines.
    pub placement: PlacementService,
    /// Stored orders.
    pub orders: OrderService,
    pub charges: Arc<ChargeService>,
    pub refunds: RefundService,
    pub receipts: ReceiptService,
    /// Ticket scans.
    pub tickets: TicketService,
    /// Subscription commands of customers.
    pub subscriptions: SubscriptionService,
    /// Changes of payment methods, entered on the acquirer's page.
    pub method_changes: MethodChangeService,
    /// Subscription commands of staff.
    pub desk: StaffSubscriptions,
    /// Subscription duties of a worker.
    pub scheduler: SubscriptionScheduler,
    /// Login and logout.
    pub sessions: CustomerSessions,
    /// Checks of tokens.
    pub guard: CustomerGuard,
    /// Calls of agents, and their approval.
    pub agents: AgentActionService,
    /// Profiles of customers.
    pub profiles: ProfileService,
    /// Stock levels.
    pub inventories: InventoryService,
    /// Webhook endpoints.
    pub webhooks: WebhookService,
    /// Event duties of a worker.
    pub deliveries: DeliveryWorker,
    /// The slot of that worker.
    pub slot: Arc<SingleSlot>,
}

const RETURN_URL: &str = "https://shop.example/{order_id}";

impl Services {
    /// Returns the services of orders, which write for a request.
    pub fn placement_for(&self, request: &Arc<IdempotentRequest>) -> PlacementService {
        let database = self.database.for_request(Arc::clone(request));
        let store = Arc::new(ScheduledStorage { database, turns: self.turns.clone() });
        PlacementService { store, ..self.placement.clone() }
    }

    /// Wires all services over a storage, with a clock that starts at `start`.
    #[expect(clippy::too_many_lines, reason = "one list of what is wired to what")]
    pub fn over(database: &Database, start: DateTime<Utc>, rng: &mut TestRng) -> Self {
        let turns = Turns::default();
        let clock = Arc::new(FixedClock::at(start));
        let ticking: Arc<dyn Clock> = clock.clone();
        let random: Arc<dyn Random> = Arc::new(SeededRandom::new(rng.split()));
        let outside = Arc::new(Outside::new(rng.split(), turns.clone()));
        let gated = || ScheduledStorage { database: database.clone(), turns: turns.clone() };
        let store = Arc::new(gated());
        let cipher = Arc::new(PlainCipher);
        let charges = Arc::new(ChargeService {
            charges: store.clone(),
            gateway: outside.clone(),
            clock: ticking.clone(),
            random: random.clone(),
        });
        let slot = Arc::new(SingleSlot::of(gated()));
        Self {
            placement: PlacementService {
                carts: store.clone(),
                store: store.clone(),
                orders: store.clone(),
                charges: charges.clone(),
                clock: ticking.clone(),
                random: random.clone(),
                page: PaymentPage { return_url: RETURN_URL.to_owned() },
                allocation: Arc::new(FewestWarehouses),
            },
            orders: OrderService {
                orders: store.clone(),
                store: store.clone(),
                clock: ticking.clone(),
                random: random.clone(),
            },
            refunds: RefundService {
                refunds: store.clone(),
                gateway: outside.clone(),
                clock: ticking.clone(),
                random: random.clone(),
            },
            receipts: ReceiptService {
                receipts: Arc::new(database.clone()),
                gateway: outside.clone(),
                clock: ticking.clone(),
            },
            tickets: TicketService {
                tickets: store.clone(),
                orders: store.clone(),
                tokens: TicketTokens { cipher: cipher.clone() },
                clock: ticking.clone(),
                terms: TicketTerms::default(),
            },
            subscriptions: SubscriptionService {
                store: store.clone(),
                charges: charges.clone(),
                clock: ticking.clone(),
                random: random.clone(),
                return_url: RETURN_URL.to_owned(),
                consent_text: "1".to_owned(),
            },
            method_changes: MethodChangeService {
                store: store.clone(),
                charges: charges.clone(),
                clock: ticking.clone(),
                random: random.clone(),
                terms: VerificationTerms { amount: Money::from_minor(100).unwrap(), return_url: RETURN_URL.to_owned() },
                consent_text: "1".to_owned(),
            },
            desk: StaffSubscriptions {
                register: Arc::new(database.clone()),
                store: store.clone(),
                charges: charges.clone(),
                clock: ticking.clone(),
                random: random.clone(),
            },
            scheduler: SubscriptionScheduler {
                store: store.clone(),
                charges: charges.clone(),
                clock: ticking.clone(),
                random: random.clone(),
                limiter: Arc::new(ChargeLimiter::per_second(10_000)),
            },
            sessions: CustomerSessions {
                accounts: store.clone(),
                codes: store.clone(),
                tokens: Arc::new(database.clone()),
                sender: outside.clone(),
                clock: ticking.clone(),
                random: random.clone(),
                cipher: cipher.clone(),
                lifetimes: TokenLifetimes::default(),
            },
            agents: AgentActionService {
                actions: store.clone(),
                staff: Arc::new(database.clone()),
                hasher: Arc::new(NoPasswords),
                clock: ticking.clone(),
                // From another generator than the rest, so that the run of trade is the same with and without agents.
                random: Arc::new(SeededRandom::new(TestRng::new(rng.clone().throw().rotate_left(17)))),
                cipher: cipher.clone(),
                tools: [TASKS].into(),
            },
            guard: CustomerGuard::new(Arc::new(database.clone()), ticking.clone(), cipher.clone()),
            profiles: ProfileService { customers: Arc::new(database.clone()), clock: ticking.clone() },
            inventories: InventoryService { inventories: store, clock: ticking.clone() },
            webhooks: WebhookService {
                webhooks: Arc::new(database.clone()),
                policy: OutboundPolicy::default(),
                clock: ticking.clone(),
                random: random.clone(),
                cipher: cipher.clone(),
            },
            deliveries: DeliveryWorker {
                queue: slot.clone(),
                sender: outside.clone(),
                signer: Arc::new(NoSigner),
                cipher,
                random,
                clock: ticking,
            },
            slot,
            database: database.clone(),
            clock,
            outside,
            turns,
            charges,
        }
    }
}
