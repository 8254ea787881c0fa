//! Customers who order in sequence while the service is disturbed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use kontor_adapter_diesel::retry_until;
use serde_json::Value;

use crate::customer_client::{ApplicationClient, CustomerClient};
use crate::owner_client::OwnerClient;
use crate::process::{PATIENCE, ProcessEnvironment};

const CUSTOMERS: u32 = 3;

/// A shop whose items do not run out.
pub struct Market {
    pub owner_client: OwnerClient,
    anchor: i64,
}

impl Market {
    pub async fn open(environment: &ProcessEnvironment) -> Self {
        Self::of(environment, environment.create_project("owner")).await
    }

    /// Opens the shop in an existing project.
    pub async fn of(environment: &ProcessEnvironment, project: Value) -> Self {
        let owner_client = OwnerClient::sign_in(environment, project).await;
        owner_client
            .import_catalog(
                "article;name;category;price\nA-1;Anchor;Harbour;\n",
                "article;warehouse;quantity;price\nA-1;Main;1000000;100\n",
            )
            .await;
        let anchor = owner_client.product("anchor").await["id"].as_i64().unwrap();
        Self { owner_client, anchor }
    }

    /// Starts customers who order, each at one of these fronts.
    pub async fn trade(&self, fronts: &[ApplicationClient], phones: u32) -> Trade {
        let (answered, end) = (Arc::<Mutex<Vec<i64>>>::default(), Arc::<AtomicBool>::default());
        let mut tasks = Vec::new();
        for (number, front) in (0..CUSTOMERS).zip(fronts.iter().cycle()) {
            let customer_client = front.sign_in(&format!("7900556{phones:02}{number:02}")).await;
            tasks.push(tokio::spawn(order(customer_client, self.anchor, Arc::clone(&answered), Arc::clone(&end))));
        }
        Trade { tasks, answered, end }
    }
}

async fn order(customer_client: CustomerClient, anchor: i64, answered: Arc<Mutex<Vec<i64>>>, end: Arc<AtomicBool>) {
    while !end.load(Ordering::SeqCst) {
        let placed = customer_client.order(anchor, 1, false).await.expect(201);
        answered.lock().unwrap().push(placed["order"]["id"].as_i64().unwrap());
    }
}

/// Customers who are ordering. Each order must succeed.
pub struct Trade {
    tasks: Vec<tokio::task::JoinHandle<()>>,
    answered: Arc<Mutex<Vec<i64>>>,
    end: Arc<AtomicBool>,
}

impl Trade {
    /// Returns the orders answered so far.
    pub fn answered(&self) -> Vec<i64> {
        self.answered.lock().unwrap().clone()
    }

    /// Waits until this many more orders are answered.
    pub async fn goes_on(&self, orders: usize) {
        let (wanted, until) = (self.answered().len() + orders, Instant::now() + PATIENCE);
        while self.answered().len() < wanted {
            assert!(self.tasks.iter().all(|task| !task.is_finished()), "an order was not answered with success");
            retry_until!(until, "too few orders are answered");
        }
    }

    /// Stops all customers and returns all answered orders.
    pub async fn end(self) -> Vec<i64> {
        self.end.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        self.answered.lock().unwrap().clone()
    }
}
