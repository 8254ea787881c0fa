//! The real storage behind the scheduler: every port waits for its turn, then does its work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_adapter_diesel::Database;
use kontor_auth::AgentActionError;
use kontor_auth::model::{
    AgentAction, AgentActionDecision, AgentActionEvent, AgentActionFilter, AgentLimits, AgentPolicy, AgentResult,
    CodeRedemption, NewAgentAction, NewCode, NewToken, RedeemOutcome,
};
use kontor_auth::ports::{AgentActionRepository, CodeRepository, CustomerAccounts};
use kontor_catalog::InventoryError;
use kontor_catalog::model::{Inventory, InventoryDraft, StockChange, StockEntry};
use kontor_catalog::ports::InventoryRepository;
use kontor_kernel::{
    AppScope, ChargeId, Contact, CounterpartyId, CustomerScope, InventoryId, Listing, MethodBindingId, OrderId, Page,
    PageRequest, ProjectId, ProjectScoped, Random, RefundId, SavedMethodId, Stamp, StoreError, SubscriptionId,
    SubscriptionPaymentId, TokenId, UserId,
};
use kontor_orders::change::PlacedOrder;
use kontor_orders::model::{Order, OrderEntry};
use kontor_orders::ports::{
    CartQuery, CartReader, Decision as OrderDecision, OrderReader, OrderStore, PlaceRefused, Placed, TicketStore,
};
use kontor_orders::tickets::{ScanAnswer, ScanBatch, StoredScan};
use kontor_orders::{CartSnapshot, OrderError};
use kontor_payments::change::{Change, ChargeChange, RefundChange};
use kontor_payments::model::{Charge, ChargePurpose, GatewayRefund, NewCharge, NewRefund, ProviderId, Refund};
use kontor_payments::ports::{ChargeStore, ChargeStored, ExternalRefundStored, RefundStore, RefundStored};
use kontor_subscriptions::model::{Attempt, PlanChoice, PlanOffer, SubscriptionView};
use kontor_subscriptions::ports::{
    CheckoutStored, CommitContext, CommitResult, Decision as SubscriptionDecision, LeasedSubscription,
    MethodChangeStore, NewSubscriptions, SubscriptionSelector, SubscriptionStore,
};
use kontor_subscriptions::{ConsentedTerms, MethodChange, MethodChangeBegun, NewMethodChange, SubscriptionError};
use kontor_webhooks::ports::{AttemptRecord, Backlog, DeliveryQueue, FanOut, Lease, LeasedDelivery};
use uuid::Uuid;

use crate::scheduler::Turns;

pub struct ScheduledStorage {
    pub database: Database,
    pub turns: Turns,
}

macro_rules! gated {
    ($($port:ident { $($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)+ })+) => {$(
        #[async_trait]
        impl $port for ScheduledStorage {
            $(async fn $name(&self, $($argument: $kind),*) -> $answer {
                self.turns.take().await;
                $port::$name(&self.database, $($argument),*).await
            })+
        }
    )+};
}

gated! {
    AgentActionRepository {
        policy(project: ProjectId) -> Result<AgentPolicy, StoreError>;
        set_policy(project: ProjectId, policy: AgentPolicy, by: UserId, at: DateTime<Utc>)
            -> Result<AgentPolicy, AgentActionError>;
        use_limits(agent: UserId, day_end: DateTime<Utc>, limits: AgentLimits, amount: i64) -> Result<bool, StoreError>;
        count_approved(public_id: Uuid, day_end: DateTime<Utc>, limits: AgentLimits, amount: i64)
            -> Result<bool, StoreError>;
        latest(token: TokenId, arguments_hash: String) -> Result<Option<AgentAction>, StoreError>;
        propose(new: NewAgentAction) -> Result<AgentAction, AgentActionError>;
        record(ended: AgentAction) -> Result<(), StoreError>;
        find(public_id: Uuid) -> Result<Option<ProjectScoped<AgentAction>>, StoreError>;
        list(project: ProjectId, filter: AgentActionFilter, at: DateTime<Utc>, page: PageRequest)
            -> Result<Page<AgentAction>, StoreError>;
        decide(public_id: Uuid, event: AgentActionEvent, decision: AgentActionDecision, approvals_per_hour: i64)
            -> Result<AgentAction, AgentActionError>;
        interrupted(at: DateTime<Utc>) -> Result<Option<Uuid>, StoreError>;
        start(public_id: Uuid, at: DateTime<Utc>) -> Result<AgentAction, AgentActionError>;
        finish(public_id: Uuid, attempt: i32, result: AgentResult, at: DateTime<Utc>) -> Result<(), StoreError>;
        report(public_id: Uuid, at: DateTime<Utc>) -> Result<(), StoreError>;
        session_start(token: TokenId) -> Result<Option<DateTime<Utc>>, StoreError>;
    }
    CustomerAccounts {
        find_or_create(project: ProjectId, contact: &Contact, at: DateTime<Utc>) -> Result<CounterpartyId, StoreError>;
        sign_in_customer(app: AppScope, contact: &Contact, token: NewToken)
            -> Result<(CounterpartyId, TokenId), StoreError>;
    }
    CodeRepository {
        replace(project: ProjectId, contact: &Contact, code: NewCode) -> Result<(), StoreError>;
        redeem(redemption: CodeRedemption) -> Result<RedeemOutcome, StoreError>;
    }
    InventoryRepository {
        list(project: ProjectId, listing: Listing) -> Result<Page<Inventory>, StoreError>;
        find(id: InventoryId) -> Result<Option<ProjectScoped<Inventory>>, StoreError>;
        history(project: ProjectId, id: InventoryId, page: PageRequest) -> Result<Page<StockEntry>, StoreError>;
        insert(stamp: Stamp, draft: InventoryDraft) -> Result<Inventory, InventoryError>;
        set_stock(stamp: Stamp, id: InventoryId, change: StockChange) -> Result<Inventory, InventoryError>;
    }
    CartReader {
        snapshot(query: CartQuery) -> Result<CartSnapshot, StoreError>;
    }
    OrderStore {
        place(order: PlacedOrder) -> Result<Placed, PlaceRefused>;
        change(id: OrderId, decide: OrderDecision) -> Result<Option<Charge>, OrderError>;
    }
    OrderReader {
        find(id: OrderId) -> Result<Option<ProjectScoped<Order>>, StoreError>;
        of_customer(customer: CustomerScope, page: PageRequest) -> Result<Page<Order>, StoreError>;
        has_employee(project: ProjectId, user: UserId) -> Result<bool, StoreError>;
        history(order: OrderId, page: PageRequest) -> Result<Page<OrderEntry>, StoreError>;
        list(project: ProjectId, listing: Listing) -> Result<Page<Order>, StoreError>;
    }
    TicketStore {
        redeem(batch: ScanBatch) -> Result<Vec<ScanAnswer>, StoreError>;
        of_order(order: OrderId, page: PageRequest) -> Result<Page<StoredScan>, StoreError>;
    }
    ChargeStore {
        store(new: NewCharge) -> Result<ChargeStored, StoreError>;
        find(id: ChargeId) -> Result<Option<Charge>, StoreError>;
        by_provider(id: &ProviderId) -> Result<Option<Charge>, StoreError>;
        by_key(key: Uuid) -> Result<Option<Charge>, StoreError>;
        open_for(purpose: ChargePurpose) -> Result<Option<Charge>, StoreError>;
        lease(owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Charge>, StoreError>;
        mark_sending(id: ChargeId, until: DateTime<Utc>) -> Result<bool, StoreError>;
        record(id: ChargeId, change: ChargeChange, at: DateTime<Utc>) -> Result<Change, StoreError>;
        record_contradiction(id: ChargeId, why: &str, at: DateTime<Utc>) -> Result<(), StoreError>;
    }
    RefundStore {
        store(new: NewRefund) -> Result<RefundStored, StoreError>;
        find(id: RefundId) -> Result<Option<Refund>, StoreError>;
        of_charge(charge: ChargeId) -> Result<Vec<Refund>, StoreError>;
        of_payment(payment: &ProviderId) -> Result<Option<Vec<Refund>>, StoreError>;
        record_outside(key: Uuid, refund: GatewayRefund, at: DateTime<Utc>) -> Result<ExternalRefundStored, StoreError>;
        claim_comparison(at: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, StoreError>;
        compared(until: DateTime<Utc>) -> Result<(), StoreError>;
        lease(owner: &str, at: DateTime<Utc>, until: DateTime<Utc>) -> Result<Option<Refund>, StoreError>;
        record(id: RefundId, key: Uuid, change: RefundChange, at: DateTime<Utc>) -> Result<Change, StoreError>;
    }
    SubscriptionStore {
        plan(app: AppScope, choice: PlanChoice) -> Result<Option<PlanOffer>, StoreError>;
        begin(new: NewSubscriptions) -> Result<CheckoutStored, StoreError>;
        of_customer(customer: CustomerScope, page: PageRequest, now: DateTime<Utc>)
            -> Result<Vec<SubscriptionView>, StoreError>;
        find(customer: CustomerScope, id: SubscriptionId, now: DateTime<Utc>)
            -> Result<Option<SubscriptionView>, StoreError>;
        payments(customer: CustomerScope, id: SubscriptionId, page: PageRequest)
            -> Result<Option<Page<Attempt>>, StoreError>;
        consents(customer: CustomerScope, id: SubscriptionId, page: PageRequest)
            -> Result<Option<Page<ConsentedTerms>>, StoreError>;
        payment(customer: CustomerScope, id: SubscriptionId, payment: SubscriptionPaymentId)
            -> Result<Option<Attempt>, StoreError>;
        has_method(customer: CustomerScope, method: SavedMethodId) -> Result<bool, StoreError>;
        change(which: SubscriptionSelector, with: CommitContext, decide: SubscriptionDecision)
            -> Result<CommitResult, SubscriptionError>;
        delete_method(customer: CustomerScope, method: SavedMethodId, at: DateTime<Utc>) -> Result<bool, StoreError>;
        lease_due(now: DateTime<Utc>, until: DateTime<Utc>, most: u32) -> Result<Vec<LeasedSubscription>, StoreError>;
        postpone(leased: LeasedSubscription, again: Option<DateTime<Utc>>, at: DateTime<Utc>) -> Result<(), StoreError>;
        extend_leases(leased: Vec<LeasedSubscription>, from: DateTime<Utc>, until: DateTime<Utc>)
            -> Result<Vec<LeasedSubscription>, StoreError>;
    }
    MethodChangeStore {
        begin(new: NewMethodChange) -> Result<MethodChangeBegun, StoreError>;
        find(customer: CustomerScope, subscription: SubscriptionId, id: MethodBindingId)
            -> Result<Option<MethodChange>, StoreError>;
    }
}

/// The deliveries of a worker with one slot, so that attempts run in sequence.
pub struct SingleSlot {
    storage: ScheduledStorage,
    busy: AtomicBool,
}

impl SingleSlot {
    pub fn of(storage: ScheduledStorage) -> Self {
        Self { storage, busy: AtomicBool::new(false) }
    }

    /// Frees the slot, as the restart of a dead worker does.
    pub fn restart(&self) {
        self.busy.store(false, Ordering::Relaxed);
    }
}

#[async_trait]
impl DeliveryQueue for SingleSlot {
    async fn fan_out(&self, events: u32, random: Arc<dyn Random>, at: DateTime<Utc>) -> Result<FanOut, StoreError> {
        self.storage.turns.take().await;
        self.storage.database.fan_out(events, random, at).await
    }

    async fn lease(&self, lease: Lease, most: u32, now: DateTime<Utc>) -> Result<Vec<LeasedDelivery>, StoreError> {
        self.storage.turns.take().await;
        if self.busy.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let leased = DeliveryQueue::lease(&self.storage.database, lease, most.min(1), now).await?;
        self.busy.store(!leased.is_empty(), Ordering::Relaxed);
        Ok(leased)
    }

    async fn record_attempt(&self, attempt: AttemptRecord) -> Result<bool, StoreError> {
        self.storage.turns.take().await;
        let recorded = self.storage.database.record_attempt(attempt).await;
        self.busy.store(false, Ordering::Relaxed);
        recorded
    }

    async fn release(&self, owner: &str) -> Result<u64, StoreError> {
        self.storage.turns.take().await;
        self.storage.database.release(owner).await
    }

    async fn backlog(&self, now: DateTime<Utc>) -> Result<Backlog, StoreError> {
        self.storage.turns.take().await;
        self.storage.database.backlog(now).await
    }
}
