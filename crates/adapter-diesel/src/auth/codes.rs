use async_trait::async_trait;
use diesel::prelude::*;
use kontor_auth::model::{CodeRedemption, ContactOwner, NewCode, RedeemOutcome};
use kontor_auth::ports::CodeRepository;
use kontor_kernel::{Contact, ProjectId, StoreError};

use super::{Holder, insert_token};
use crate::customer_data::{bound, owner};
use crate::database::{Abort, Database, on_each};
use crate::decode;
use crate::schema::one_time_codes;
use crate::statement::Statement;

#[async_trait]
impl CodeRepository for Database {
    async fn replace(&self, project: ProjectId, contact: &Contact, code: NewCode) -> Result<(), StoreError> {
        let contact = contact.clone();
        self.write(move |connection| {
            let state = (
                one_time_codes::fingerprint.eq(&code.fingerprint),
                one_time_codes::attempts_left.eq(i32::from(code.attempts)),
                one_time_codes::expires_at.eq(code.expires_at.naive_utc()),
                one_time_codes::consumed_at.eq(None::<chrono::NaiveDateTime>),
                one_time_codes::created_at.eq(code.created_at.naive_utc()),
            );
            let key = (one_time_codes::project_id.eq(project.get()), one_time_codes::contact.eq(contact.as_str()));
            on_each!(connection, concrete => {
                diesel::insert_into(one_time_codes::table)
                    .values((key, state))
                    .on_conflict((one_time_codes::project_id, one_time_codes::contact))
                    .do_update()
                    .set(state)
                    .execute(concrete)
            })?;
            Ok::<_, Abort<StoreError>>(())
        })
        .await
    }

    async fn redeem(&self, redemption: CodeRedemption) -> Result<RedeemOutcome, StoreError> {
        self.write(move |connection| {
            let (project, contact) = (redemption.project_id, &redemption.contact);
            let now = redemption.token.created_at.naive_utc();
            let Some(customer) = bound(connection, project, contact)? else {
                return Ok(match owner(connection, project, contact, None)? {
                    ContactOwner::NoCustomer => RedeemOutcome::UnknownContact,
                    ContactOwner::One(_) | ContactOwner::Several { .. } => RedeemOutcome::NoValidCode,
                });
            };
            // The fingerprint is keyed, so comparing it in the statement reveals nothing about the code.
            let live = || {
                Statement::new(" WHERE project_id = ")
                    .value(project.get())
                    .sql(" AND contact = ")
                    .value(contact.as_str())
                    .sql(" AND consumed_at IS NULL AND attempts_left > 0 AND expires_at > ")
                    .value(now)
            };
            // Diesel would prepare its own updates again on each call.
            let used = Statement::new("UPDATE one_time_codes SET consumed_at = ").value(now).then(live());
            let used = used.sql(" AND fingerprint = ").value(redemption.fingerprint.as_str()).run(connection)?;
            if used == 1 {
                let customer = decode::id(customer)?;
                let holder = Holder::Customer(project, redemption.application_id, customer);
                let token = insert_token(connection, &holder, &redemption.token)?;
                return Ok(RedeemOutcome::SignedIn { counterparty_id: customer, token_id: decode::id(token)? });
            }
            let counted = Statement::new("UPDATE one_time_codes SET attempts_left = attempts_left - 1").then(live());
            let counted = counted.run(connection)?;
            Ok(if counted == 1 { RedeemOutcome::WrongCode } else { RedeemOutcome::NoValidCode })
        })
        .await
    }
}
