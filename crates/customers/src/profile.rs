use std::sync::Arc;

use kontor_kernel::CustomerScope;

use crate::CustomerError;
use crate::model::Customer;
use crate::ports::CustomerRepository;

/// What a customer does with his own record.
pub struct ProfileService {
    customers: Arc<dyn CustomerRepository>,
}

impl ProfileService {
    /// Wires the port.
    pub fn new(customers: Arc<dyn CustomerRepository>) -> Self {
        Self { customers }
    }

    /// His own record.
    pub async fn profile(&self, customer: CustomerScope) -> Result<Customer, CustomerError> {
        let record = self.customers.find(customer.counterparty_id).await?;
        record.filter(|record| record.project_id == customer.app.project_id).ok_or(CustomerError::NotFound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CustomerKind;
    use crate::ports::MockCustomerRepository;
    use chrono::DateTime;
    use kontor_kernel::{AppScope, ApplicationId, CounterpartyId, Name, ProjectId, TokenId};

    fn record(project: i64) -> Customer {
        Customer {
            id: CounterpartyId::new(4).unwrap(),
            project_id: ProjectId::new(project).unwrap(),
            kind: CustomerKind { id: 1, name: Name::parse("Person").unwrap(), created_at: DateTime::UNIX_EPOCH },
            manager: None,
            first_name: None,
            last_name: None,
            middle_name: None,
            birthday: None,
            address: None,
            phone_1: None,
            phone_2: None,
            email: None,
            created_at: DateTime::UNIX_EPOCH,
            updated_at: DateTime::UNIX_EPOCH,
        }
    }

    fn scope() -> CustomerScope {
        CustomerScope {
            app: AppScope {
                project_id: ProjectId::new(1).unwrap(),
                application_id: ApplicationId::new(1).unwrap(),
                wholesale: false,
            },
            counterparty_id: CounterpartyId::new(4).unwrap(),
            token_id: TokenId::new(1).unwrap(),
        }
    }

    #[tokio::test]
    async fn a_record_of_another_project_does_not_exist() {
        for (project, seen) in [(1, true), (2, false)] {
            let mut customers = MockCustomerRepository::new();
            customers.expect_find().returning(move |_| Ok(Some(record(project))));
            let profile = ProfileService::new(Arc::new(customers)).profile(scope()).await;
            assert_eq!(profile.is_ok(), seen);
        }
    }
}
