//! Branches: the legal entities of a project and their units.

use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_organization::model::{Branch, BranchChange, BranchDraft};
use kontor_organization::{BranchHistory, BranchService};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::table::{Cell, Column, Table, TableAnswer, TableRequest, list_params};
use kontor_web::endpoints::handlers;
use kontor_web::envelope::{Answer, answer, list, one};
use kontor_web::wire::{self, InputErrors, NonNullPatch, Patch, into_domain};
use kontor_web::{HistoryList, PageQuery, PathId, Query, SignedInStaff};

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

/// Registers the table, whose path is outside the prefix of the other routes.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    config.service(list_branches_table);
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

#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
struct ChangedBranch {
    #[deserr(default)]
    #[schema(value_type = Option<wire::Name>, nullable = false)]
    name: NonNullPatch<wire::Name>,
    /// Taxpayer number (INN): 10 digits for a company, 12 for an entrepreneur.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Inn>)]
    inn: Patch<wire::Inn>,
    /// Only with an INN of 10 digits.
    #[deserr(default)]
    #[schema(value_type = Option<wire::Kpp>)]
    kpp: Patch<wire::Kpp>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Line500>)]
    address: Patch<wire::Line500>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Phone>)]
    phone: Patch<wire::Phone>,
    #[deserr(default)]
    #[schema(value_type = Option<wire::Email>)]
    email: Patch<wire::Email>,
}

into_domain!(ChangedBranch => BranchChange { name, inn, kpp, address, phone, email });

/// List the history of a branch
///
/// Newest first.
#[utoipa::path(tag = "Businesses", params(PageQuery), responses((status = 200, body = HistoryList)))]
#[get("/api/branches/{id}/history")]
pub(super) async fn list_branch_history(
    staff: SignedInStaff,
    service: Data<BranchHistory>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.page(&staff, id.parse()?, page).await?)
}

/// List branches as a table
#[utoipa::path(tag = "Businesses", params(BranchParams), responses((status = 200, body = TableAnswer)))]
#[get("/api/tables/branches")]
async fn list_branches_table(
    staff: SignedInStaff,
    service: Data<BranchService>,
    asked: TableRequest,
) -> Answer<TableAnswer> {
    Ok(Json(TABLE.render(&service.page(&staff, TABLE.listing(asked, 15)?).await?)))
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
