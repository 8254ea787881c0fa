//! Implementations of the access control ports.

mod access_requests;
mod agent_actions;
mod agents;
mod approval_mails;
mod callback;
mod employees;
mod introspection;
mod permissions;
mod phones;
mod registry;
mod sessions;
mod staff;
mod tokens;

pub(crate) use agent_actions::{try_to_read as try_to_read_calls, try_to_read_policies};
pub(crate) use approval_mails::APPROVAL_MAILS;
pub(crate) use employees::try_to_read;
pub(crate) use staff::REQUESTS as PASSWORD_REQUESTS;

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_auth::model::{Device, NewToken};
use kontor_kernel::{ApplicationId, CounterpartyId, ProjectId, UserId};

use crate::customer_data::{EMPLOYEE, guard};
use crate::database::{AnyConnection, Topic, on_each};
use crate::schema::access_tokens;
use crate::time_codec::Moment;

/// Value of `users.kind` and `roles.kind` for agents.
const AGENT: &str = "agent";

/// Owner of a new token.
enum Holder {
    Staff(ProjectId, UserId),
    Customer(ProjectId, ApplicationId, CounterpartyId),
}

/// Ends every token of an employee or agent. These tokens are never cached.
fn end_staff_tokens(connection: &mut AnyConnection, project: i64, user: UserId) -> Result<(), QueryError> {
    let tokens = access_tokens::table
        .filter(access_tokens::project_id.eq(project))
        .filter(access_tokens::guard.eq(guard::USER))
        .filter(access_tokens::subject_id.eq(user.get()));
    connection.declare_unchanged(Topic::Access);
    diesel::delete(tokens).execute(connection)?;
    Ok(())
}

/// Stores a token. A customer's token is stored together with the session it starts.
fn insert_token(connection: &mut AnyConnection, holder: &Holder, token: &NewToken) -> Result<i64, QueryError> {
    let (guard, subject, project, application) = match holder {
        Holder::Staff(project, user) => (guard::USER, user.get(), project, None),
        Holder::Customer(project, application, customer) => {
            (guard::COUNTERPARTY, customer.get(), project, Some(application.get()))
        }
    };
    let (created_at, expires_at) = (Moment(token.created_at.naive_utc()), Moment(token.expires_at.naive_utc()));
    let row = (
        access_tokens::guard.eq(guard),
        access_tokens::subject_id.eq(subject),
        access_tokens::project_id.eq(project.get()),
        access_tokens::application_id.eq(application),
        access_tokens::device.eq(token.device.as_ref().map(Device::as_str)),
        access_tokens::fingerprint.eq(&token.fingerprint),
        access_tokens::created_at.eq(created_at),
        access_tokens::last_used_at.eq(created_at),
        access_tokens::expires_at.eq(expires_at),
    );
    let into = diesel::insert_into(access_tokens::table).values(row).returning(access_tokens::id);
    let id = on_each!(connection, concrete => into.get_result(concrete))?;
    if let Holder::Customer(project, application, customer) = holder {
        sessions::open(connection, (*project, *application, *customer), id, token.created_at.naive_utc())?;
    }
    Ok(id)
}
