use async_trait::async_trait;
use diesel::prelude::*;
use kontor_auth::model::{Employee, EmployeeFilter, EmployeeSearchText, EmployeeSummary};
use kontor_auth::ports::DirectoryRepository;
use kontor_kernel::{Page, PageRequest, ProjectId, StoreError};

use super::{EMPLOYEE, agent_records, employees};
use crate::database::{Abort, AnyConnection, Backend, Database};
use crate::decode;
use crate::schema::users;
use crate::unreadable;

fn staff(project: ProjectId, filter: &EmployeeFilter) -> users::BoxedQuery<'static, Backend> {
    let all = users::table
        .filter(users::project_id.eq(project.get()))
        .filter(users::kind.eq(EMPLOYEE))
        .order(users::id)
        .into_boxed();
    if filter.active { all.filter(users::is_banned.eq(false)) } else { all }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct SearchedRow {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
    login: String,
    phone: Option<String>,
    email: String,
}

impl SearchedRow {
    fn searched(&self) -> EmployeeSearchText {
        let always = [&self.last_name, &self.first_name, &self.login, &self.email].map(String::as_str);
        EmployeeSearchText::new(always.into_iter().chain(self.middle_name.as_deref()).chain(self.phone.as_deref()))
    }
}

/// Returns the number of employees and the ids of those on the page. The values to compare are case-folded here,
/// because the databases disagree about letters outside ASCII. A project has few employees.
fn page_of(
    connection: &mut AnyConnection,
    project: ProjectId,
    filter: &EmployeeFilter,
    page: PageRequest,
) -> Result<(u64, Vec<i64>), Abort<StoreError>> {
    let Some(query) = &filter.query else {
        let unordered = users::table.filter(users::project_id.eq(project.get())).filter(users::kind.eq(EMPLOYEE));
        let total: i64 = if filter.active {
            unordered.filter(users::is_banned.eq(false)).count().get_result(connection)?
        } else {
            unordered.count().get_result(connection)?
        };
        let ids =
            staff(project, filter).limit(page.limit()).offset(page.offset()).select(users::id).load(connection)?;
        return Ok((decode::count(total)?, ids));
    };
    let rows: Vec<SearchedRow> = staff(project, filter).select(SearchedRow::as_select()).load(connection)?;
    let ids: Vec<i64> = rows.iter().filter(|row| row.searched().has(query)).map(|row| row.id).collect();
    let total = u64::try_from(ids.len()).map_err(StoreError::corrupt)?;
    let before = usize::try_from(page.offset()).map_err(StoreError::corrupt)?;
    let size = usize::try_from(page.limit()).map_err(StoreError::corrupt)?;
    Ok((total, ids.into_iter().skip(before).take(size).collect()))
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
struct ColleagueRow {
    id: i64,
    first_name: String,
    last_name: String,
    middle_name: Option<String>,
}

impl TryFrom<ColleagueRow> for EmployeeSummary {
    type Error = StoreError;

    fn try_from(row: ColleagueRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: decode::id(row.id)?,
            first_name: decode::text(&row.first_name)?,
            last_name: decode::text(&row.last_name)?,
            middle_name: decode::optional_text(row.middle_name.as_deref())?,
        })
    }
}

/// Loads employees and agents to check that their rows can be decoded.
pub(crate) fn try_to_read(connection: &mut AnyConnection, ids: &[i64]) -> Result<Vec<()>, Abort<StoreError>> {
    let present = users::table.filter(users::id.eq_any(ids.to_vec())).filter(users::deleted_at.is_null());
    let kinds: Vec<(i64, String)> = present.select((users::id, users::kind)).load(connection)?;
    let (employees, agents): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|(_, kind)| kind == EMPLOYEE);
    let numbers = |users: Vec<(i64, String)>| users.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    employees::load::<StoreError>(connection, &numbers(employees))?;
    agent_records::load::<StoreError>(connection, &numbers(agents))?;
    Ok(Vec::new())
}

#[async_trait]
impl DirectoryRepository for Database {
    async fn employees(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<Employee>, StoreError> {
        self.snapshot(move |connection| {
            let (total, ids) = page_of(connection, project, &filter, page)?;
            Ok(Page { items: unreadable::records(connection, "users", &ids, employees::load)?, total, request: page })
        })
        .await
    }

    async fn colleagues(
        &self,
        project: ProjectId,
        filter: EmployeeFilter,
        page: PageRequest,
    ) -> Result<Page<EmployeeSummary>, StoreError> {
        self.snapshot(move |connection| {
            let (total, ids) = page_of(connection, project, &filter, page)?;
            let rows: Vec<ColleagueRow> = users::table
                .filter(users::id.eq_any(ids))
                .order(users::id)
                .select(ColleagueRow::as_select())
                .load(connection)?;
            let items = unreadable::rows("users", rows, |row| row.id, EmployeeSummary::try_from)?;
            Ok::<_, Abort<StoreError>>(Page { items, total, request: page })
        })
        .await
    }
}
