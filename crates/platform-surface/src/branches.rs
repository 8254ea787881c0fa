//! Branches: the legal entities of a project and their units.

use actix_web::web::{Data, Json, Path};
use actix_web::{delete, get, post, put};
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::listing::Sort;
use kontor_organization::BranchService;
use kontor_organization::model::{Branch, BranchChange, BranchDraft};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use crate::table::{Asked, Cell, Column, Table, TableAnswer, list_params};
use kontor_web::envelope::{Answer, Created, answer, created, list, one};
use kontor_web::records::Message;
use kontor_web::wire::{self, InputErrors, NonNullPatch, Patch};
use kontor_web::{Body, HistoryList, PageQuery, PathId, Query, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config
        .service(list_branches)
        .service(create_branch)
        .service(show_branch)
        .service(update_branch)
        .service(delete_branch)
        .service(branch_history);
}

/// Registers the table, whose path is outside the prefix of the other routes.
pub(super) fn table_routes(config: &mut ServiceConfig<'_>) {
    config.service(branches_table);
}

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

list!(BranchList { branches: [BranchRecord], branches_count });
one!(OneBranch { branch: BranchRecord });

/// List branches
///
/// Returns every branch of the project.
#[utoipa::path(tag = "Businesses", responses((status = 200, body = BranchList)))]
#[get("/api/branches")]
async fn list_branches(staff: SignedInStaff, service: Data<BranchService>) -> Answer<BranchList> {
    answer(service.list(&staff).await?)
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

impl From<NewBranch> for BranchDraft {
    fn from(new: NewBranch) -> Self {
        Self {
            name: new.name.0,
            inn: new.inn.map(|inn| inn.0),
            kpp: new.kpp.map(|kpp| kpp.0),
            address: new.address.map(|address| address.0),
            phone: new.phone.map(|phone| phone.0),
            email: new.email.map(|email| email.0),
        }
    }
}

/// Create a branch
#[utoipa::path(tag = "Businesses", request_body = NewBranch, responses((status = 201, body = OneBranch)))]
#[post("/api/branches")]
async fn create_branch(
    staff: SignedInStaff,
    service: Data<BranchService>,
    body: Body<NewBranch>,
) -> Created<OneBranch> {
    created(service.create(&staff, body.0.into()).await?)
}

/// Get a branch
#[utoipa::path(tag = "Businesses", responses((status = 200, body = OneBranch)))]
#[get("/api/branches/{id}")]
async fn show_branch(staff: SignedInStaff, service: Data<BranchService>, id: Path<PathId>) -> Answer<OneBranch> {
    answer(service.read(&staff, id.parse()?).await?)
}

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

impl From<ChangedBranch> for BranchChange {
    fn from(changed: ChangedBranch) -> Self {
        Self {
            name: changed.name.into(),
            inn: changed.inn.into(),
            kpp: changed.kpp.into(),
            address: changed.address.into(),
            phone: changed.phone.into(),
            email: changed.email.into(),
        }
    }
}

/// Update a branch
///
/// Fields that are not sent keep their values.
#[utoipa::path(tag = "Businesses", request_body = ChangedBranch, responses((status = 200, body = OneBranch)))]
#[put("/api/branches/{id}")]
async fn update_branch(
    staff: SignedInStaff,
    service: Data<BranchService>,
    id: Path<PathId>,
    body: Body<ChangedBranch>,
) -> Answer<OneBranch> {
    answer(service.update(&staff, id.parse()?, body.0.into()).await?)
}

/// Delete a branch
///
/// The branch must not be used by other records. Its bank accounts are deleted with it.
#[utoipa::path(
    tag = "Businesses",
    responses((status = 200, body = Message), (status = 422, description = "Other records use the branch.")),
)]
#[delete("/api/branches/{id}")]
async fn delete_branch(staff: SignedInStaff, service: Data<BranchService>, id: Path<PathId>) -> Answer<Message> {
    service.delete(&staff, id.parse()?).await?;
    answer(Message::new("The branch was deleted."))
}

/// List the history of a branch
///
/// Newest first.
#[utoipa::path(tag = "Businesses", params(PageQuery), responses((status = 200, body = HistoryList)))]
#[get("/api/branches/{id}/history")]
async fn branch_history(
    staff: SignedInStaff,
    service: Data<BranchService>,
    id: Path<PathId>,
    query: Query<PageQuery>,
) -> Answer<HistoryList> {
    let page = query.0.page()?;
    answer(service.history(&staff, id.parse()?, page).await?)
}

/// List branches as a table
#[utoipa::path(tag = "Businesses", params(BranchParams), responses((status = 200, body = TableAnswer)))]
#[get("/api/tables/branches")]
async fn branches_table(staff: SignedInStaff, service: Data<BranchService>, asked: Asked) -> Answer<TableAnswer> {
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
