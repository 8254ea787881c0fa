//! Cost of the most frequent writes for the only writer of SQLite: statements, pages, time. They run in the process,
//! in sequence, without other users of the database.

use std::future::Future;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::pin::Pin;
use std::sync::Arc;

use chrono::TimeDelta;
use kontor::adapters::{SystemClock, SystemRandom};
use kontor::wiring::Adapters;
use kontor_adapter_diesel::{Database, IdempotentRequest, KeyClaim, KeyOwner, RequestNumbers};
use kontor_auth::model::TokenUse;
use kontor_auth::ports::TokenRepository;
use kontor_auth::{CustomerSessions, Heartbeats};
use kontor_catalog::storefront::ports::ViewCounter;
use kontor_kernel::{
    AppScope, ApplicationId, Clock, Contact, CounterpartyId, CustomerScope, DeliverySubtypeId, DeliveryTypeId, Line,
    NomenclatureId, OrderId, ProjectId, Quantity, Random, Staff, TokenId,
};
use kontor_orders::model::{Cart, CartLine, DeliveryRequest, PaymentMethod};
use kontor_orders::refund::{RefundCommand, RefundScope};
use kontor_orders::{FewestWarehouses, OrderCommand, OrderService, PaymentPage, PlacedOutcome, PlacementService};
use kontor_payments::{ChargeService, NotificationResult};
use kontor_webhooks::model::{EndpointUrl, SendOutcome, WebhookDraft};
use kontor_webhooks::ports::{AttemptRecord, DeliveryQueue, Lease, NewWebhook, WebhookRepository};

use crate::Failure;
use crate::load::RunLengths;
use crate::login::{self, code, phone};
use crate::report::{Budget, Report};
use crate::shop::{Data, Shop};
use crate::till::PayingAcquirer;

/// Maximum number of statements for which an order occupies the only writer.
const MAX_ORDER_STATEMENTS: u64 = 12;
/// Number of repetitions.
const ROUNDS: usize = 100;
const FEW_ROUNDS: usize = 5;
/// Uncounted repetitions, which fill the caches of pages and of prepared statements.
const WARM_UP: usize = 5;
/// Products of one round of views, tokens of one round of uses.
const MANY: usize = 64;

type Work = Pin<Box<dyn Future<Output = Result<(), Failure>>>>;

fn work(work: impl Future<Output = Result<(), Failure>> + 'static) -> Work {
    Box::pin(work)
}

/// A shop without an HTTP server, with its services.
struct Workbench {
    data: Data,
    rounds: usize,
    app: AppScope,
    staff: Staff,
    products: Vec<NomenclatureId>,
    store: Arc<Database>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    till: Arc<PayingAcquirer>,
    charges: Arc<ChargeService>,
    placement: Arc<PlacementService>,
}

impl Workbench {
    fn open(lengths: &RunLengths) -> Result<Self, Failure> {
        let rounds = if lengths.is_quick() { FEW_ROUNDS } else { ROUNDS };
        let shop = Shop::open()?;
        let customers = WARM_UP + rounds;
        shop.customers(customers.max(MANY))?;
        login::prepare(&shop, u32::try_from(customers)?)?;
        let offers = shop.offers()?;
        let products = offers.iter().map(|offer| NomenclatureId::new(offer.product)).collect::<Result<_, _>>()?;
        let app = AppScope {
            project_id: ProjectId::new(shop.project.project_id)?,
            application_id: ApplicationId::new(shop.project.application_id)?,
            wholesale: false,
        };
        let staff = Data::staff(&shop.project)?;
        let data = shop.close();
        let store = Arc::new(data.database.clone());
        let (clock, random): (Arc<dyn Clock>, Arc<dyn Random>) = (Arc::new(SystemClock), Arc::new(SystemRandom::new()));
        let till = Arc::new(PayingAcquirer::default());
        let charges = Arc::new(ChargeService {
            charges: store.clone(),
            gateway: till.clone(),
            clock: clock.clone(),
            random: random.clone(),
        });
        let placement = Arc::new(PlacementService {
            carts: store.clone(),
            orders: store.clone(),
            store: store.clone(),
            charges: charges.clone(),
            clock: clock.clone(),
            random: random.clone(),
            page: PaymentPage { return_url: "https://shop.example/{order_id}".to_owned() },
            allocation: Arc::new(FewestWarehouses),
        });
        Ok(Self { data, rounds, app, staff, products, store, clock, random, till, charges, placement })
    }

    /// Returns the customer with this number, from 1.
    fn customer(&self, number: usize) -> Result<CustomerScope, Failure> {
        let number = i64::try_from(number)?;
        let counterparty_id = CounterpartyId::new(number)?;
        Ok(CustomerScope { app: self.app, counterparty_id, token_id: TokenId::new(number)? })
    }

    /// Creates an order of this many lines, of other products each time.
    fn wish(&self, round: usize, lines: usize, online: bool) -> Result<OrderCommand, Failure> {
        let wanted = self.products.iter().cycle().skip(round * lines).take(lines);
        let lines = wanted.map(|item| Ok(CartLine { item: *item, quantity: Quantity::new(1)? }));
        Ok(OrderCommand {
            cart: Cart::new(lines.collect::<Result<_, Failure>>()?)?,
            promo_code: None,
            delivery: DeliveryRequest {
                type_id: DeliveryTypeId::new(2)?,
                subtype_id: Some(DeliverySubtypeId::new(2)?),
                subtype_param_id: None,
                shop_id: None,
                address: Some(Line::parse("Elbe Street 5")?),
                payment_type_id: None,
            },
            payment_method: online.then_some(PaymentMethod::BankCard),
        })
    }

    fn order(&self, round: usize, lines: usize) -> Result<Work, Failure> {
        self.order_by(self.placement.clone(), round, lines)
    }

    fn order_by(&self, placement: Arc<PlacementService>, round: usize, lines: usize) -> Result<Work, Failure> {
        let (customer, wish) = (self.customer(round + 1)?, self.wish(round, lines, false)?);
        Ok(work(async move {
            placement.place(customer, &wish).await?;
            Ok(())
        }))
    }

    /// Repeats an operation and records its cost. Returns the median of each part.
    fn measure(&self, name: &str, mut prepare: impl FnMut(usize) -> Result<Work, Failure>) -> Result<Budget, Failure> {
        let mut costs = Vec::with_capacity(self.rounds);
        for round in 0..WARM_UP + self.rounds {
            let work = prepare(round)?;
            let (before, pages) = (self.store.write_costs(), Log::read(&self.data)?);
            self.data.runtime.block_on(work)?;
            let written = self.store.write_costs().since(before);
            if round >= WARM_UP {
                costs.push(Budget {
                    name: name.to_owned(),
                    statements: written.statements,
                    most: None,
                    commits: written.commits,
                    pages: Log::read(&self.data)?.since(&pages),
                    in_statements: written.in_statements,
                    in_commits: written.in_commits,
                });
            }
        }
        Budget::middle(costs).ok_or_else(|| "there must be a round".into())
    }

    fn orders(&self, report: &mut Report) -> Result<(), Failure> {
        let most = Some(MAX_ORDER_STATEMENTS);
        let one = self.measure("order of one line", |round| self.order(round, 1))?;
        report.cost(Budget { most, ..one });
        report.cost(self.measure("order of three lines", |round| self.order(round, 3))?);
        let keyed = |round: usize| -> Result<Work, Failure> {
            let at = self.clock.now();
            let owner = KeyOwner { guard: "counterparty", id: Some(i64::try_from(round + 1)?) };
            let request = IdempotentRequest::new(KeyClaim {
                id: owner.keys(&crate::shop::sha256(&format!("order-{round}"))),
                fingerprint: crate::shop::sha256("body"),
                owner,
                process: "bench".to_owned(),
                leased_until: at + TimeDelta::seconds(30),
                at,
                number: RequestNumbers::new(u32::try_from(round)?).next(at),
            });
            let store = Arc::new(self.store.for_request(request));
            let placement = PlacementService { store, ..(*self.placement).clone() };
            self.order_by(Arc::new(placement), round, 1)
        };
        report.cost(self.measure("order of one line under a key, without its answer", keyed)?);
        Ok(())
    }

    /// Measures orders paid online, their charges and refunds. A webhook announces what is paid.
    fn money(&self, report: &mut Report) -> Result<(), Failure> {
        let draft = WebhookDraft { name: None, url: EndpointUrl::parse("https://shop.example/hook")?, is_active: true };
        let webhook = NewWebhook {
            project_id: self.app.project_id,
            application_id: self.app.application_id,
            details: draft,
            sealed_secret: "sealed".to_owned(),
            at: self.clock.now(),
        };
        self.data.runtime.block_on(WebhookRepository::insert(&*self.store, webhook))?;
        let mut paid: Vec<OrderId> = Vec::new();
        let outcome = self.measure("outcome of a payment", |round| {
            let (customer, wish) = (self.customer(round + 1)?, self.wish(round, 1, true)?);
            match self.data.runtime.block_on(self.placement.place(customer, &wish))? {
                PlacedOutcome::Ready(order) => paid.push(order.id),
                PlacedOutcome::PaymentOutcomeUnknown(_) => return Err("the till did not answer".into()),
            }
            let (charges, payment) = (self.charges.clone(), self.till.payment().ok_or("nothing was asked for")?);
            Ok(work(async move {
                match charges.handle_notification(&payment, None).await? {
                    NotificationResult::Settled(_) => Ok(()),
                    other => Err(format!("a payment is {other:?}").into()),
                }
            }))
        })?;
        report.cost(outcome);

        let (clock, random) = (self.clock.clone(), self.random.clone());
        let orders = Arc::new(OrderService { orders: self.store.clone(), store: self.store.clone(), clock, random });
        let mut paid = paid.into_iter();
        let asked = self.measure("refund that is asked for", |_| {
            let command = RefundCommand {
                scope: RefundScope::Everything,
                reason: Line::parse("broken")?,
                restock: true,
                ends_period: false,
            };
            let (orders, staff, id) = (orders.clone(), self.staff.clone(), paid.next().ok_or("nothing is paid")?);
            Ok(work(async move {
                orders.refund(&staff, id, command).await?;
                Ok(())
            }))
        })?;
        report.cost(asked);
        self.deliveries(report)
    }

    /// Measures deliveries. Every paid order causes one.
    fn deliveries(&self, report: &mut Report) -> Result<(), Failure> {
        let events = u32::try_from(WARM_UP + self.rounds)?;
        self.data.runtime.block_on(self.store.fan_out(events, self.random.clone(), self.clock.now()))?;
        let recorded = self.measure("outcome of a delivery of a webhook", |_| {
            let at = self.clock.now();
            let lease = Lease { owner: "bench".to_owned(), until: at + TimeDelta::minutes(1) };
            let leased = self.data.runtime.block_on(DeliveryQueue::lease(&*self.store, lease, 1, at))?;
            let delivery = leased.into_iter().next().ok_or("no delivery is due")?;
            let outcome = SendOutcome::Answered(200);
            let record = AttemptRecord {
                id: delivery.id,
                owner: "bench".to_owned(),
                from: delivery.pending,
                to: delivery.pending.after(&outcome, at),
                webhook_id: delivery.webhook_id,
                circuit: delivery.circuit,
                circuit_after: delivery.circuit.after(&outcome, at),
                outcome,
                at,
            };
            let store = self.store.clone();
            Ok(work(async move {
                if store.record_attempt(record).await? { Ok(()) } else { Err("a lease was lost".into()) }
            }))
        })?;
        report.cost(recorded);
        Ok(())
    }

    fn people(&self, report: &mut Report) -> Result<(), Failure> {
        let around = Adapters::new(self.data.config(), self.clock.clone())?;
        let sessions = Arc::new(CustomerSessions {
            accounts: self.store.clone(),
            codes: self.store.clone(),
            tokens: self.store.clone(),
            sender: around.codes.clone(),
            clock: self.clock.clone(),
            random: self.random.clone(),
            // Codes were stored with the key of the service.
            cipher: around.cipher.clone(),
            lifetimes: around.lifetimes,
        });
        let signed_in = self.measure("login by code", |round| {
            let number = u32::try_from(round)?;
            let (sessions, app, contact) = (sessions.clone(), self.app, Contact::parse(&phone(number))?);
            Ok(work(async move {
                sessions.log_in(app, &contact, &code(number), None).await?;
                Ok(())
            }))
        })?;
        report.cost(signed_in);

        let heartbeats = Arc::new(Heartbeats { sessions: self.store.clone(), clock: self.clock.clone() });
        let beat = self.measure("heartbeat of a session that goes on", |round| {
            let (heartbeats, customer) = (heartbeats.clone(), self.customer(round + 1)?);
            self.data.runtime.block_on(heartbeats.record(customer))?;
            Ok(work(async move {
                heartbeats.record(customer).await?;
                Ok(())
            }))
        })?;
        report.cost(beat);

        let used = self.measure(&format!("uses of {MANY} tokens"), |round| {
            // The time advances each round, because a recent use is not stored again.
            let now = self.clock.now() + TimeDelta::hours(i64::try_from(round)?);
            let tokens =
                (1..).take(MANY).map(|token| Ok(TokenUse { token: TokenId::new(token)?, first: now, last: now }));
            let (store, tokens) = (self.store.clone(), tokens.collect::<Result<_, Failure>>()?);
            Ok(work(async move { Ok(store.record_uses(tokens).await?) }))
        })?;
        report.cost(used);

        let viewed = self.measure(&format!("views of {MANY} products"), |round| {
            let looked_at = self.products.iter().cycle().skip(round * MANY).take(MANY);
            let mut views: Vec<_> = looked_at.map(|item| (*item, 3)).collect();
            views.sort_unstable();
            let store = self.store.clone();
            Ok(work(async move { Ok(store.add_views(views).await?) }))
        })?;
        report.cost(viewed);
        Ok(())
    }
}

/// Measures every use case separately.
pub fn measure(lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let backroom = Workbench::open(lengths)?;
    backroom.orders(report)?;
    backroom.people(report)?;
    backroom.money(report)
}

/// Length of the write-ahead log, in pages.
struct Log(u64);

impl Log {
    /// Reads the header of the index that SQLite keeps beside the log (`mxFrame` of
    /// <https://sqlite.org/walformat.html>).
    fn read(data: &Data) -> Result<Self, Failure> {
        let mut index = std::fs::File::open(data.folder().join("kontor.db-shm"))?;
        index.seek(SeekFrom::Start(16))?;
        let mut frames = [0; 4];
        index.read_exact(&mut frames)?;
        Ok(Self(u32::from_ne_bytes(frames).into()))
    }

    /// Returns the pages written since then. After a checkpoint the log is overwritten from the first page on.
    fn since(&self, before: &Self) -> u64 {
        self.0.checked_sub(before.0).unwrap_or(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restarted_log_is_counted_from_its_beginning() {
        assert_eq!(Log(120).since(&Log(100)), 20);
        assert_eq!(Log(7).since(&Log(990)), 7);
    }
}
