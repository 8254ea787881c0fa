//! Customer records that both surfaces share.

use chrono::{DateTime, Utc};
use kontor_customers::model::{CustomerKind, Manager};
use serde::Serialize;
use utoipa::ToSchema;

/// Customer type: person or company.
#[derive(Serialize, ToSchema)]
pub struct CustomerType {
    id: i64,
    name: String,
    created_at: DateTime<Utc>,
}

impl From<CustomerKind> for CustomerType {
    fn from(kind: CustomerKind) -> Self {
        Self { id: kind.id, name: kind.name.into(), created_at: kind.created_at }
    }
}

/// Employee responsible for a customer.
#[derive(Serialize, ToSchema)]
pub struct ManagerRecord {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    name: String,
}

impl From<Manager> for ManagerRecord {
    fn from(manager: Manager) -> Self {
        Self {
            id: manager.id.get(),
            name: manager.name(),
            first_name: manager.first_name.into(),
            last_name: manager.last_name.into(),
            middle_name: manager.middle_name.map(Into::into),
        }
    }
}
