//! Employees of the project.

use actix_web::get;
use actix_web::web::Data;
use kontor_auth::StaffDirectory;
use kontor_auth::model::EmployeeSummary;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_actix_web::service_config::ServiceConfig;

use super::directory_query::EmployeeQuery;
use super::employee_record::EmployeeRecord;
use kontor_web::Settings;
use kontor_web::envelope::{Answer, answer, list};
use kontor_web::{Query, SignedInStaff};

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
    directory: Data<StaffDirectory>,
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
            directory: Data<StaffDirectory>,
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
