//! Employees of the project.

use actix_web::get;
use actix_web::web::Data;
use deserr::Deserr;
use kontor_auth::StaffDirectory;
use kontor_auth::model::{EmployeeFilter, EmployeeSummary};
use kontor_kernel::{PageRequest, Violations};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_actix_web::service_config::ServiceConfig;

use super::employee_record::EmployeeRecord;
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::paging::{PageNumber, PageSize, page_of};
use kontor_web::wire::{self, InputErrors};
use kontor_web::{Query, Service, Settings, SignedInStaff};

pub(super) fn routes(config: &mut ServiceConfig<'_>) {
    config.service(list_users).service(list_managers).service(list_responsible_users);
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UserList {
    users: Vec<EmployeeRecord>,
    /// Number of employees on all pages.
    users_count: u64,
}

/// List employees
///
/// Returns full records, 100 per page by default.
#[utoipa::path(tag = "Staff", params(EmployeeQuery), responses((status = 200, body = UserList)))]
#[get("/api/users")]
async fn list_users(
    staff: SignedInStaff,
    directory: Service<StaffDirectory>,
    config: Data<Settings>,
    query: Query<EmployeeQuery>,
) -> Answer<UserList> {
    let (filter, page) = query.0.checked()?;
    let found = directory.employees(&staff, filter, page).await?;
    let users = found.items.into_iter().map(|employee| EmployeeRecord::of(employee, &config)).collect();
    answer(UserList { users_count: found.total, users })
}

/// Short record of an employee, for selection lists.
#[derive(Serialize, ToSchema)]
struct ColleagueRecord {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    /// Full name in one line.
    name: String,
}

impl From<EmployeeSummary> for ColleagueRecord {
    fn from(colleague: EmployeeSummary) -> Self {
        Self {
            id: colleague.id.get(),
            name: colleague.name(),
            first_name: colleague.first_name.into(),
            last_name: colleague.last_name.into(),
            middle_name: colleague.middle_name.map(Into::into),
        }
    }
}

/// Defines the lists of colleagues, which differ only in path and keys.
macro_rules! colleague_lists {
    ($($list:ident { $items:ident, $count:ident } = $handler:ident, $path:literal, $summary:literal;)+) => {$(
        list!($list { $items: [ColleagueRecord], $count of all });

        #[utoipa::path(
            tag = "Staff",
            summary = $summary,
            description = "Employees who are not banned, by name, up to 100 a page.",
            params(EmployeeQuery),
            responses((status = 200, body = $list)),
        )]
        #[get($path)]
        async fn $handler(
            staff: SignedInStaff,
            directory: Service<StaffDirectory>,
            query: Query<EmployeeQuery>,
        ) -> Answer<$list> {
            let (filter, page) = query.0.checked()?;
            answer(directory.colleagues(&staff, filter, page).await?)
        }
    )+};
}

colleague_lists! {
    ManagerList { managers, managers_count } = list_managers, "/api/managers",
        "List employees who can be a customer's manager";
    ResponsibleUserList { responsible_users, responsible_users_count } = list_responsible_users,
        "/api/responsible_users", "List employees who can be responsible for a record";
}

/// Search and page of a list of employees.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EmployeeQuery {
    /// Words of the names, the login, the phone or the e-mail address, in any case and order.
    #[deserr(default)]
    #[param(inline)]
    query: Option<wire::Name>,
    #[deserr(default)]
    #[param(inline)]
    page: Option<PageNumber>,
    #[deserr(default)]
    #[param(inline)]
    per_page: Option<PageSize>,
}

impl EmployeeQuery {
    /// Returns the filter and the page.
    fn checked(self) -> Result<(EmployeeFilter, PageRequest), Violations> {
        let page = page_of(self.page.as_ref(), self.per_page.as_ref(), 100)?;
        Ok((EmployeeFilter { query: self.query.map(|query| query.0), active: false }, page))
    }
}
