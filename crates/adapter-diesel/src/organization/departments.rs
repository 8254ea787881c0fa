use chrono::NaiveDateTime;
use diesel::prelude::*;
use kontor_kernel::{BranchId, ProjectScoped, Stamp, StoreError};
use kontor_organization::DepartmentRefusal;
use kontor_organization::model::Department;

use super::require_branch;
use crate::database::{Abort, AnyConnection, on_reference};
use crate::decode;
use crate::records::{self, DeletableRecord, Inserted, RepositoryRecord, StoredRecord, Written};
use crate::schema::{branches, departments, keyed, referred};
use crate::unreadable;

#[derive(Queryable, Selectable)]
#[diesel(table_name = departments)]
struct DepartmentRow {
    id: i64,
    project_id: i64,
    branch_id: Option<i64>,
    name: String,
    description: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

fn department((row, branch): (DepartmentRow, Option<String>)) -> Result<Department, StoreError> {
    let branch = row.branch_id.zip(branch);
    Ok(Department {
        id: decode::id(row.id)?,
        name: decode::text(&row.name)?,
        description: decode::optional_text(row.description.as_deref())?,
        branch: branch.map(|(id, name)| Ok::<_, StoreError>((decode::id(id)?, decode::text(&name)?))).transpose()?,
        created_at: decode::moment(row.created_at),
        updated_at: decode::moment(row.updated_at),
    })
}

/// Departments with the names of their branches; callers add filters.
macro_rules! with_branches {
    () => {
        departments::table
            .left_join(referred!(branches, departments::branch_id))
            .select((DepartmentRow::as_select(), branches::name.nullable()))
    };
}

impl StoredRecord for Department {
    const TABLE: &'static str = "departments";

    fn load<R>(connection: &mut AnyConnection, id: i64) -> Result<Option<ProjectScoped<Self>>, Abort<R>> {
        let row: Option<(DepartmentRow, Option<String>)> =
            with_branches!().filter(departments::id.eq(id)).first(connection).optional()?;
        Ok(row.map(|row| records::of_project(row.0.project_id, department(row))).transpose()?)
    }
}

impl RepositoryRecord for Department {
    fn of_project(connection: &mut AnyConnection, project: i64) -> Result<Vec<Self>, Abort<StoreError>> {
        let rows: Vec<(DepartmentRow, Option<String>)> =
            with_branches!().filter(departments::project_id.eq(project)).order(departments::id).load(connection)?;
        Ok(unreadable::rows("departments", rows, |row| row.0.id, department)?)
    }

    fn insert(connection: &mut AnyConnection, stamp: &Stamp, draft: &Self::Draft) -> Inserted<Self> {
        require_branch(connection, stamp, draft.branch_id, DepartmentRefusal::UnknownBranch)?;
        Ok(diesel::insert_into(departments::table)
            .values((
                departments::project_id.eq(stamp.project_id.get()),
                departments::branch_id.eq(draft.branch_id.map(BranchId::get)),
                departments::name.eq(draft.name.as_str()),
                departments::description.eq(draft.description.as_deref()),
                departments::created_at.eq(stamp.at.naive_utc()),
                departments::updated_at.eq(stamp.at.naive_utc()),
            ))
            .returning(departments::id)
            .get_result(connection)?)
    }

    fn update(connection: &mut AnyConnection, stamp: &Stamp, before: &Self, change: &Self::Change) -> Written<Self> {
        let branch = change.branch_id.set_value().copied();
        require_branch(connection, stamp, branch, DepartmentRefusal::UnknownBranch)?;
        Ok(diesel::update(keyed!(departments, before.id.get(), stamp.project_id))
            .set((
                change.name.as_set().map(|name| departments::name.eq(name.as_str())),
                change.description.as_set().map(|text| departments::description.eq(text.as_deref())),
                change.branch_id.as_set().map(|id| departments::branch_id.eq(id.map(BranchId::get))),
                departments::version.eq(departments::version + 1),
                departments::updated_at.eq(stamp.at.naive_utc()),
            ))
            .execute(connection)?)
    }
}

impl DeletableRecord for Department {
    fn delete(connection: &mut AnyConnection, stamp: &Stamp, before: &Self) -> Written<Self> {
        // Only employees refer to departments.
        diesel::delete(keyed!(departments, before.id.get(), stamp.project_id))
            .execute(connection)
            .map_err(on_reference(DepartmentRefusal::HasEmployees))
    }
}
