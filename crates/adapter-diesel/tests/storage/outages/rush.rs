//! Customers who order during a server event, and the resulting rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::{TestDatabase, moment, pause};
use kontor_adapter_diesel::{Database, IdempotentRequest, retry_until};
use kontor_kernel::{CounterpartyId, CustomerScope, StoreError};
use kontor_orders::{OrderCommand, PlacementError, PlacementService};
use tokio::task::JoinHandle;

use crate::fixtures::{number, run};
use crate::idempotency;
use crate::orders::shop::{ShopFixture, placement_for};

const PIECES: i64 = 100_000;
const TASKS: i64 = 4;
const CUSTOMERS_OF_A_TASK: i64 = 10_000;

/// Responses to customers.
#[derive(Debug, Default)]
pub struct CustomerResponses {
    pub ordered: Vec<i64>,
    pub not_ordered: Vec<i64>,
    pub unknown: Vec<i64>,
    /// Number of retries with the idempotency key.
    pub again: usize,
}

#[derive(Default)]
struct Watch {
    is_over: AtomicBool,
    ordered: AtomicUsize,
}

/// Customers, one after the other in each of a few tasks. Each orders once; every other one uses a key and retries the
/// request until it succeeds.
pub struct OrderLoad<'a> {
    shop: &'a ShopFixture<'a>,
    tasks: Vec<JoinHandle<CustomerResponses>>,
    watch: Arc<Watch>,
    pub item: i64,
}

impl<'a> OrderLoad<'a> {
    pub async fn begin(db: &TestDatabase, shop: &'a ShopFixture<'a>) -> Self {
        let item = shop.goods("Vase", PIECES, 100).await;
        let customers = "INSERT INTO counterparties (project_id, is_company, first_name, last_name, created_at, updated_at) \
             SELECT project_id, FALSE, 'Anna', 'K', created_at, updated_at FROM counterparties, generate_series(1, 40000);";
        run(db, customers.to_owned()).await;
        let first = number(db, "SELECT min(id) + 1 AS value FROM counterparties").await;
        let watch = Arc::<Watch>::default();
        let tasks = (0..TASKS).map(|task| {
            let numbers = (first + task * CUSTOMERS_OF_A_TASK)..(first + (task + 1) * CUSTOMERS_OF_A_TASK);
            let customer = shop.customer;
            let of = move |id| CustomerScope { counterparty_id: CounterpartyId::new(id).unwrap(), ..customer };
            let command = shop.online(&[(item, 1)]);
            let (database, placement) = (db.database.clone(), shop.placement.clone());
            tokio::spawn(order(database, placement, numbers.map(of), command, watch.clone()))
        });
        Self { shop, tasks: tasks.collect(), watch, item }
    }

    /// Number of confirmed orders so far.
    pub fn ordered(&self) -> usize {
        self.watch.ordered.load(Ordering::SeqCst)
    }

    /// Waits until this many more orders are confirmed.
    pub async fn goes_on(&self, orders: usize) {
        let (enough, until) = (self.ordered() + orders, Instant::now() + Duration::from_secs(20));
        while self.ordered() < enough {
            retry_until!(until, "{} of {enough} orders", self.ordered());
        }
    }

    /// Ends the rush. Confirmed orders are stored; orders of unknown outcome are stored completely or not at all.
    pub async fn end(self) -> CustomerResponses {
        self.watch.is_over.store(true, Ordering::SeqCst);
        let mut reported = CustomerResponses::default();
        for task in self.tasks {
            let part = task.await.unwrap();
            reported.ordered.extend(part.ordered);
            reported.not_ordered.extend(part.not_ordered);
            reported.unknown.extend(part.unknown);
            reported.again += part.again;
        }
        check(self.shop, &reported).await;
        let (_, reserved) = self.shop.stock(self.item).await;
        assert_eq!(reserved, self.shop.count("orders").await);
        let database = &self.shop.stock_fixture.db.database;
        let examined = database.examine(None, |difference| panic!("{difference:?}")).await.unwrap();
        assert_eq!(examined.differences, 0);
        reported
    }
}

async fn order(
    database: Database,
    placement: Arc<PlacementService>,
    customers: impl Iterator<Item = CustomerScope>,
    command: OrderCommand,
    watch: Arc<Watch>,
) -> CustomerResponses {
    let mut reported = CustomerResponses::default();
    for customer in customers {
        if watch.is_over.load(Ordering::SeqCst) {
            return reported;
        }
        let id = customer.counterparty_id.get();
        let placed = if id % 2 == 0 {
            retry_until_answered(&database, &placement, customer, &command, &mut reported.again).await
        } else {
            placement.place(customer, &command).await.map(drop)
        };
        match placed {
            Ok(()) => {
                reported.ordered.push(id);
                watch.ordered.fetch_add(1, Ordering::SeqCst);
            }
            Err(PlacementError::Store(StoreError::OutcomeUnknown(_))) => reported.unknown.push(id),
            Err(PlacementError::Store(StoreError::Unavailable(_))) => reported.not_ordered.push(id),
            Err(other) => panic!("{other:?}"),
        }
        pause(Duration::from_millis(1)).await;
    }
    panic!("there are too few customers");
}

/// Sends an order with a key until it succeeds.
async fn retry_until_answered(
    database: &Database,
    placement: &PlacementService,
    customer: CustomerScope,
    command: &OrderCommand,
    again: &mut usize,
) -> Result<(), PlacementError> {
    let key = format!("order-{}", customer.counterparty_id.get());
    loop {
        let request = IdempotentRequest::new(idempotency::claim(&key, idempotency::now()));
        let placed = placement_for(placement, database, &request).place(customer, command).await.map(drop);
        if request.lost_key() {
            return Ok(());
        }
        if !matches!(&placed, Err(PlacementError::Store(StoreError::OutcomeUnknown(_) | StoreError::Unavailable(_)))) {
            return placed;
        }
        *again += 1;
        moment().await;
    }
}

async fn check(shop: &ShopFixture<'_>, reported: &CustomerResponses) {
    let orders = async |customers: &[i64]| {
        let list = customers.iter().map(ToString::to_string).chain(["0".to_owned()]).collect::<Vec<_>>().join(", ");
        shop.count(&format!("orders WHERE counterparty_id IN ({list})")).await
    };
    let expected = i64::try_from(reported.ordered.len()).unwrap();
    assert_eq!(orders(&reported.ordered).await, expected, "what was answered is there");
    assert_eq!(orders(&reported.not_ordered).await, 0, "what was refused is not there");
    let several = "(SELECT 1 FROM orders GROUP BY counterparty_id HAVING count(*) > 1) several";
    assert_eq!(shop.count(several).await, 0, "nobody ordered twice");
    let paid = usize::try_from(shop.count("charges").await).unwrap();
    assert!(shop.acquirer.count() <= paid, "nobody pays twice");
}
