//! Accounts in banks: the records that answers and requests about them are made of, whoever has the account.

use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::{BankRequisite, BankRequisiteChange, BankRequisiteDraft};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::envelope::{list, one};
use crate::http::wire::{self, Given, InputErrors, Patch};

#[derive(Serialize, ToSchema)]
struct BankRequisiteRecord {
    id: i64,
    bik: String,
    bank_name: String,
    correspondent_account: Option<String>,
    account: String,
    comment: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<BankRequisite> for BankRequisiteRecord {
    fn from(requisite: BankRequisite) -> Self {
        let content = requisite.content;
        Self {
            id: requisite.id.get(),
            bik: content.bik.to_string(),
            bank_name: content.bank_name.into(),
            correspondent_account: content.correspondent_account.map(|account| account.to_string()),
            account: content.account.to_string(),
            comment: content.comment.map(Into::into),
            created_at: requisite.created_at,
            updated_at: requisite.updated_at,
        }
    }
}

one!(
    /// One account.
    pub(super) OneBankRequisite { bank_requisite: BankRequisiteRecord }
);
list!(
    /// Accounts of one owner.
    pub(super) BankRequisiteList { bank_requisites: [BankRequisiteRecord], bank_requisites_count }
);

/// An account to be noted.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewBankRequisite {
    bik: wire::Bik,
    bank_name: wire::Name,
    /// Of the bank with the central bank. Its check digit must fit the BIK.
    #[deserr(default)]
    correspondent_account: Option<wire::BankAccount>,
    /// Its check digit must fit the BIK.
    account: wire::BankAccount,
    #[deserr(default)]
    comment: Option<wire::Line500>,
}

impl From<NewBankRequisite> for BankRequisiteDraft {
    fn from(new: NewBankRequisite) -> Self {
        Self {
            bik: new.bik.0,
            bank_name: new.bank_name.0,
            correspondent_account: new.correspondent_account.map(|account| account.0),
            account: new.account.0,
            comment: new.comment.map(|comment| comment.0),
        }
    }
}

/// What is changed about an account.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct ChangedBankRequisite {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Bik>, nullable = false)]
    bik: Given<wire::Bik>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    bank_name: Given<wire::Name>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::BankAccount>)]
    correspondent_account: Patch<wire::BankAccount>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::BankAccount>, nullable = false)]
    account: Given<wire::BankAccount>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    comment: Patch<wire::Line500>,
}

impl From<ChangedBankRequisite> for BankRequisiteChange {
    fn from(changed: ChangedBankRequisite) -> Self {
        Self {
            bik: changed.bik.into(),
            bank_name: changed.bank_name.into(),
            correspondent_account: changed.correspondent_account.into(),
            account: changed.account.into(),
            comment: changed.comment.into(),
        }
    }
}
