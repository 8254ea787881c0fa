//! The server is restarted while customers order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kontor_adapter_diesel::testing::{OwnServer, Stop};
use kontor_kernel::{CounterpartyId, CustomerScope, StoreError};
use kontor_orders::{OrderCommand, PlacementError, PlacementService};

use crate::fixtures::{number, run};
use crate::orders::counter::Counter;

const PIECES: i64 = 100_000;

/// What customers were told.
#[derive(Debug, Default)]
struct Told {
    ordered: Vec<i64>,
    not_ordered: Vec<i64>,
    unknown: Vec<i64>,
}

/// Orders for one customer after the other until told to end. Every customer orders once.
async fn order(
    placement: Arc<PlacementService>,
    customers: impl Iterator<Item = CustomerScope>,
    command: OrderCommand,
    end: Arc<AtomicBool>,
) -> Told {
    let mut told = Told::default();
    for customer in customers {
        if end.load(Ordering::SeqCst) {
            return told;
        }
        let id = customer.counterparty_id.get();
        match placement.place(customer, &command).await {
            Ok(_) => told.ordered.push(id),
            Err(PlacementError::Store(StoreError::OutcomeUnknown(_))) => told.unknown.push(id),
            Err(PlacementError::Store(StoreError::Unavailable(_))) => told.not_ordered.push(id),
            Err(other) => panic!("{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("there are too few customers");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_under_load_neither_loses_nor_doubles_an_order() {
    let Some(mut server) = OwnServer::start() else { return };
    let db = server.database();
    let counter = Counter::open(&db).await;
    let vase = counter.goods("Vase", PIECES, 100).await;
    let customers = "INSERT INTO counterparties (project_id, is_company, first_name, last_name, created_at, updated_at) \
         SELECT project_id, FALSE, 'Anna', 'K', created_at, updated_at FROM counterparties, generate_series(1, 40000);";
    run(&db, customers.to_owned()).await;
    let first = number(&db, "SELECT min(id) + 1 AS value FROM counterparties").await;
    let end = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let numbers = (first + task * 10_000)..(first + (task + 1) * 10_000);
            let customer = counter.customer;
            let of = move |id| CustomerScope { counterparty_id: CounterpartyId::new(id).unwrap(), ..customer };
            let command = counter.online(&[(vase, 1)]);
            tokio::spawn(order(counter.placement.clone(), numbers.map(of), command, end.clone()))
        })
        .collect();
    for stop in [Stop::Fast, Stop::Immediate, Stop::Fast] {
        tokio::time::sleep(Duration::from_millis(700)).await;
        server = tokio::task::spawn_blocking(move || {
            server.restart(stop);
            server
        })
        .await
        .unwrap();
    }
    let restarted = Instant::now();
    counter.placed(&counter.command(&[(vase, 1)])).await;
    assert!(restarted.elapsed() < Duration::from_secs(10), "it recovers by itself");
    tokio::time::sleep(Duration::from_millis(500)).await;
    end.store(true, Ordering::SeqCst);
    let mut told = Told::default();
    for task in tasks {
        let part = task.await.unwrap();
        told.ordered.extend(part.ordered);
        told.not_ordered.extend(part.not_ordered);
        told.unknown.extend(part.unknown);
    }
    assert!(told.ordered.len() > 20, "{told:?}");
    check(&counter, &told).await;
    let (_, reserved) = counter.stock(vase).await;
    assert_eq!(reserved, counter.count("orders").await);
    let examined = db.database.examine(None, |difference| panic!("{difference:?}")).await.unwrap();
    assert_eq!(examined.differences, 0);
}

/// What is stored is what customers were told; what is not known is stored whole or not at all.
async fn check(counter: &Counter<'_>, told: &Told) {
    let orders = async |customers: &[i64]| {
        let list = customers.iter().map(ToString::to_string).chain(["0".to_owned()]).collect::<Vec<_>>().join(", ");
        counter.count(&format!("orders WHERE counterparty_id IN ({list})")).await
    };
    let expected = i64::try_from(told.ordered.len()).unwrap();
    assert_eq!(orders(&told.ordered).await, expected, "what was answered is there");
    assert_eq!(orders(&told.not_ordered).await, 0, "what was refused is not there");
    let several = "(SELECT 1 FROM orders GROUP BY counterparty_id HAVING count(*) > 1) several";
    assert_eq!(counter.count(several).await, 0, "nobody ordered twice");
    let paid = usize::try_from(counter.count("charges").await).unwrap();
    assert!(counter.acquirer.count() <= paid, "nobody pays twice");
}
