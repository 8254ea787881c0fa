//! Ports of mails about calls of agents that wait for approval.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kontor_kernel::{Email, SendError, StoreError};

use crate::approval_mails::{ApprovalMail, WaitingCall};

/// Queue of employees who get a mail about calls that wait for approval. The commit that stores a proposal fills it:
/// each employee of the project who is not banned, has an address and may approve calls. The first proposal since the
/// last mail is mailed after [`APPROVAL_MAIL_DELAY`](crate::APPROVAL_MAIL_DELAY), the later ones with it.
///
/// After [`StoreError::OutcomeUnknown`], callers do nothing: the mail is leased again when its lease has expired.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApprovalMailQueue: Send + Sync {
    /// Leases the mail that has been due longest. Under concurrent calls one gets it, until the lease expires. An
    /// unreadable mail is put aside and does not block others.
    async fn lease(
        &self,
        owner: &str,
        at: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<ApprovalMail>, StoreError>;

    /// Settles this number of proposals and releases the mail, unless the lease has passed to another worker. The next
    /// mail to the employee is not sent before `next`.
    async fn release(
        &self,
        mail: &ApprovalMail,
        owner: &str,
        settled: i64,
        next: DateTime<Utc>,
    ) -> Result<(), StoreError>;
}

/// Sends mails about calls that wait for approval.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ApprovalMailSender: Send + Sync {
    /// Sends one mail about these calls; there is at least one. `inbox` is the address of their list.
    async fn email_approvals(&self, to: &Email, calls: &[WaitingCall], inbox: Option<String>) -> Result<(), SendError>;
}
