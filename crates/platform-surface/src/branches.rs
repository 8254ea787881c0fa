//! Branches: the legal entities of a project and their units.

use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_organization::model::{Branch, BranchChange, BranchDraft};
use kontor_organization::{BranchHistory, BranchService};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use crate::table::{Cell, Column, Table, list_params};
use kontor_web::HistoryList;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors, change_body, into_domain};

handlers! {
    fn table_routes; BranchService, "Businesses";

    /// List branches as a table
    table "/api/tables/branches" as list_branches_table(BranchParams) = page() -> TABLE;
}

handlers! {
    fn history_routes; BranchHistory, "Businesses";

    /// List the history of a branch
    ///
    /// Newest first.
    history "/api/branches/{id}/history" as list_branch_history = page(id, page) -> HistoryList;
}

handlers! {
    BranchService, "Businesses";

    /// List branches
    ///
    /// Returns every branch of the project.
    list "/api/branches" as list_branches -> BranchList;

    /// Create a branch
    create "/api/branches" as create_branch(NewBranch) -> BranchResponse;

    /// Get a branch
    read "/api/branches/{id}" as show_branch -> BranchResponse;

    /// Update a branch
    ///
    /// Fields that are not sent keep their values.
    update "/api/branches/{id}" as update_branch(ChangedBranch) -> BranchResponse;

    /// Delete a branch
    ///
    /// The branch must not be used by other records. Its bank accounts are deleted with it.
    delete "/api/branches/{id}" as delete_branch -> "The branch was deleted.",
        422 "Other records use the branch.";
}

list!(BranchList { branches: [BranchRecord], branches_count });
one!(BranchResponse { branch: BranchRecord });

#[derive(Serialize, ToSchema)]
struct BranchRecord {
    id: i64,
    name: String,
    inn: Option<String>,
    kpp: Option<String>,
    address: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Branch> for BranchRecord {
    fn from(branch: Branch) -> Self {
        Self {
            id: branch.id.get(),
            name: branch.name.into(),
            inn: branch.inn.map(Into::into),
            kpp: branch.kpp.map(Into::into),
            address: branch.address.map(Into::into),
            phone: branch.phone.map(|phone| phone.to_string()),
            email: branch.email.map(|email| email.to_string()),
            created_at: branch.created_at,
            updated_at: branch.updated_at,
        }
    }
}

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct NewBranch {
    name: wire::Name,
    /// Taxpayer number (INN): 10 digits for a company, 12 for an entrepreneur.
    #[deserr(default)]
    inn: Option<wire::Inn>,
    /// Only with an INN of 10 digits.
    #[deserr(default)]
    kpp: Option<wire::Kpp>,
    #[deserr(default)]
    address: Option<wire::Line500>,
    #[deserr(default)]
    phone: Option<wire::Phone>,
    #[deserr(default)]
    email: Option<wire::Email>,
}

into_domain!(NewBranch => BranchDraft { name, inn, kpp, address, phone, email });

change_body! {
    ChangedBranch => BranchChange {
        name: wire::Name,
        /// Taxpayer number (INN): 10 digits for a company, 12 for an entrepreneur.
        inn: wire::Inn | null,
        /// Only with an INN of 10 digits.
        kpp: wire::Kpp | null,
        address: wire::Line500 | null,
        phone: wire::Phone | null,
        email: wire::Email | null,
    }
}

const TABLE: Table<Branch> = Table {
    id: 42,
    resource: "branches",
    version: Some(|row| row.version.into()),
    columns: &[
        Column::new("id", "No.", |branch| Cell::plain(branch.id.get())),
        Column::with_icon("name", "Name", |branch| {
            Cell::linked(branch.name.as_str(), format!("/api/branches/{}", branch.id))
        }),
        Column::new("inn", "INN", |branch| Cell::plain(branch.inn.as_deref())),
        Column::new("kpp", "KPP", |branch| Cell::plain(branch.kpp.as_deref())),
        Column::new("address", "Address", |branch| Cell::plain(branch.address.as_deref())),
        Column::new("phone", "Phone", |branch| Cell::plain(branch.phone.as_deref())),
        Column::new("email", "E-mail", |branch| Cell::plain(branch.email.as_deref())),
        Column::new("created_at", "Created", |branch| Cell::moment(branch.created_at)),
        Column::new("updated_at", "Changed", |branch| Cell::moment(branch.updated_at)),
    ],
    sorts: &["id", "name", "created_at", "updated_at"],
    filters: &[],
    search: Some("A part of the name or of the INN."),
    period: Some("created_at"),
    order: Sort::ascending("id"),
};

list_params! {
    /// Query parameters of `GET /api/tables/branches`.
    BranchParams of TABLE
}
