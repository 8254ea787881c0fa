//! The ports of access control.

mod accounts;
mod codes;
mod forget;
mod phones;
mod staff;
mod tokens;

pub(crate) use forget::forget_customer;

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::{Device, NewToken};
use kontor_kernel::{ApplicationId, CounterpartyId, ProjectId, UserId};

use crate::database::AnyConnection;
use crate::schema::access_tokens;

/// The two kinds of tokens, as the column `guard` spells them.
mod guard {
    pub(super) const USER: &str = "user";
    pub(super) const COUNTERPARTY: &str = "counterparty";
}

/// Who gets a token.
enum Holder {
    Staff(ProjectId, UserId),
    Customer(ProjectId, ApplicationId, CounterpartyId),
}

fn insert_token(connection: &mut AnyConnection, holder: &Holder, token: &NewToken) -> Result<i64, QueryError> {
    let (guard, subject, project, application) = match holder {
        Holder::Staff(project, user) => (guard::USER, user.get(), project, None),
        Holder::Customer(project, application, customer) => {
            (guard::COUNTERPARTY, customer.get(), project, Some(application.get()))
        }
    };
    diesel::insert_into(access_tokens::table)
        .values((
            access_tokens::guard.eq(guard),
            access_tokens::subject_id.eq(subject),
            access_tokens::project_id.eq(project.get()),
            access_tokens::application_id.eq(application),
            access_tokens::device.eq(token.device.as_ref().map(Device::as_str)),
            access_tokens::fingerprint.eq(&token.fingerprint),
            access_tokens::created_at.eq(token.created_at.naive_utc()),
            access_tokens::last_used_at.eq(token.created_at.naive_utc()),
            access_tokens::expires_at.eq(token.expires_at.naive_utc()),
        ))
        .returning(access_tokens::id)
        .get_result(connection)
}
