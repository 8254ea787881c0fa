//! Resources: dictionaries and rules of the project, read from the API.

use kontor_kernel::{Permission, Staff};
use kontor_web::policy::Policy;
use serde_json::{Value, json};

use crate::offer::permissions_of;

/// Scheme of the addresses.
const SCHEME: &str = "kontor://";

/// Name of the resource, and path of the operation that shows it.
const RESOURCES: [(&str, &str, &str); 7] = [
    ("dictionaries/order_statuses", "States of orders", "/api/order_statuses"),
    ("dictionaries/task_statuses", "States of tasks", "/api/task_statuses"),
    ("dictionaries/delivery_types", "Types of delivery", "/api/delivery_types"),
    ("dictionaries/payment_types", "Types of payment", "/api/payment_types"),
    ("dictionaries/nomenclature_kinds", "Kinds of items", "/api/nomenclature_kinds"),
    ("project", "Settings of the project", "/api/project"),
    ("project/delivery_prices", "Prices of delivery", "/api/project/delivery_prices"),
];

/// Resource with the permissions of its operation.
pub struct Resource {
    name: &'static str,
    title: &'static str,
    /// Path of the operation.
    pub path: &'static str,
    permissions: &'static [Permission],
}

impl Resource {
    /// Returns all resources; `Err` names one that the API does not have.
    pub fn all(policies: &[&'static Policy]) -> Result<Vec<Self>, &'static str> {
        let found = RESOURCES.into_iter().map(|(name, title, path)| {
            let permissions = permissions_of(policies, &format!("GET {path}")).ok_or(path)?;
            Ok(Self { name, title, path, permissions })
        });
        found.collect()
    }

    /// Returns the address.
    pub fn uri(&self) -> String {
        format!("{SCHEME}{}", self.name)
    }

    /// Returns the permissions that a reader needs.
    pub fn permissions(&self) -> &'static [Permission] {
        self.permissions
    }

    /// Returns `true` if the agent may read it.
    pub fn is_for(&self, staff: &Staff) -> bool {
        self.permissions.iter().all(|permission| staff.require(*permission).is_ok())
    }

    /// Returns the entry of the list.
    pub fn listed(&self) -> Value {
        json!({ "uri": self.uri(), "name": self.name, "title": self.title, "mimeType": "application/json" })
    }

    /// Returns the content.
    pub fn content(&self, body: &Value) -> Value {
        json!({ "contents": [{ "uri": self.uri(), "mimeType": "application/json", "text": body.to_string() }] })
    }
}
