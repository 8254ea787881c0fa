use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_auth::model::NewToken;
use kontor_auth::ports::CustomerAccounts;
use kontor_kernel::{AppScope, Contact, CounterpartyId, ProjectId, StoreError, TokenId};

use super::{Holder, insert_token};
use crate::customer_data::{BindError, Newcomer, bound, find_or_bind};
use crate::database::{Abort, AnyConnection, Database};
use crate::decode;

fn unbound_concurrently() -> StoreError {
    StoreError::Unavailable("a contact was linked and unlinked by concurrent requests; retry".to_owned())
}

#[async_trait]
impl CustomerAccounts for Database {
    async fn find_or_create(
        &self,
        project: ProjectId,
        contact: &Contact,
        at: DateTime<Utc>,
    ) -> Result<CounterpartyId, StoreError> {
        let (known, wanted) = (contact.clone(), contact.clone());
        let find = move |connection: &mut AnyConnection| {
            let id = bound(connection, project, &known)?;
            Ok::<_, Abort<StoreError>>(id.map(decode::id::<CounterpartyId>).transpose()?)
        };
        if let Some(customer) = self.read(find.clone()).await? {
            return Ok(customer);
        }
        let made = self
            .write(move |connection| find_or_bind(connection, project, &wanted, &Newcomer::default(), at.naive_utc()))
            .await;
        match made {
            Ok(customer) => Ok(customer),
            Err(BindError::Store(error)) => Err(error),
            Err(BindError::Lost) => self.read(find).await?.ok_or_else(unbound_concurrently),
        }
    }

    async fn sign_in_customer(
        &self,
        app: AppScope,
        contact: &Contact,
        token: NewToken,
    ) -> Result<(CounterpartyId, TokenId), StoreError> {
        // A call that loses the race for a new contact finds it bound on the second attempt.
        for _ in 0..2 {
            let (contact, token) = (contact.clone(), token.clone());
            let signed = self
                .write(move |connection| {
                    let at = token.created_at.naive_utc();
                    let customer = find_or_bind(connection, app.project_id, &contact, &Newcomer::default(), at)?;
                    let holder = Holder::Customer(app.project_id, app.application_id, customer);
                    let token = insert_token(connection, &holder, &token)?;
                    Ok((customer, decode::id(token)?))
                })
                .await;
            match signed {
                Ok(signed) => return Ok(signed),
                Err(BindError::Store(error)) => return Err(error),
                Err(BindError::Lost) => {}
            }
        }
        Err(unbound_concurrently())
    }
}
