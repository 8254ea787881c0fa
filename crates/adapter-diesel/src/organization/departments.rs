use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{BranchId, DepartmentId, ProjectId, StoreError};
use kontor_organization::DepartmentError;
use kontor_organization::model::{Department, DepartmentDraft, DepartmentPatch};
use kontor_organization::ports::DepartmentRepository;

use crate::database::{Abort, AnyConnection, Database, found, on_reference};
use crate::schema::{branches, departments};
use crate::stored;

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
        id: stored::id(row.id)?,
        project_id: stored::id(row.project_id)?,
        name: stored::text(&row.name)?,
        description: stored::optional_text(row.description.as_deref())?,
        branch: branch.map(|(id, name)| Ok::<_, StoreError>((stored::id(id)?, stored::text(&name)?))).transpose()?,
        created_at: stored::moment(row.created_at),
        updated_at: stored::moment(row.updated_at),
    })
}

/// Departments with the names of their branches, ready to be narrowed.
macro_rules! with_branches {
    () => {
        departments::table
            .left_join(branches::table.on(branches::id.nullable().eq(departments::branch_id)))
            .select((DepartmentRow::as_select(), branches::name.nullable()))
    };
}

fn load<R>(connection: &mut AnyConnection, id: DepartmentId) -> Result<Option<Department>, Abort<R>> {
    let row = with_branches!().filter(departments::id.eq(id.get())).first(connection).optional()?;
    Ok(row.map(department).transpose()?)
}

fn require_branch(
    connection: &mut AnyConnection,
    project: ProjectId,
    branch: Option<BranchId>,
) -> Result<(), Abort<DepartmentError>> {
    let Some(branch) = branch else { return Ok(()) };
    let own = branches::table.find(branch.get()).filter(branches::project_id.eq(project.get()));
    if found!(connection, own)? { Ok(()) } else { Err(Abort::Refused(DepartmentError::UnknownBranch)) }
}

#[async_trait]
impl DepartmentRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Department>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<(DepartmentRow, Option<String>)> = with_branches!()
                .filter(departments::project_id.eq(project.get()))
                .order(departments::id)
                .load(connection)?;
            rows.into_iter().map(|row| department(row).map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn find(&self, id: DepartmentId) -> Result<Option<Department>, StoreError> {
        self.read(move |connection| load(connection, id)).await
    }

    async fn insert(
        &self,
        project: ProjectId,
        draft: DepartmentDraft,
        at: DateTime<Utc>,
    ) -> Result<Department, DepartmentError> {
        self.write(move |connection| {
            require_branch(connection, project, draft.branch_id)?;
            let id: i64 = diesel::insert_into(departments::table)
                .values((
                    departments::project_id.eq(project.get()),
                    departments::branch_id.eq(draft.branch_id.map(BranchId::get)),
                    departments::name.eq(draft.name.as_str()),
                    departments::description.eq(draft.description.as_deref()),
                    departments::created_at.eq(at.naive_utc()),
                    departments::updated_at.eq(at.naive_utc()),
                ))
                .returning(departments::id)
                .get_result(connection)?;
            load(connection, stored::id(id)?)?.ok_or(Abort::Refused(DepartmentError::NotFound))
        })
        .await
    }

    async fn update(
        &self,
        project: ProjectId,
        id: DepartmentId,
        patch: DepartmentPatch,
        at: DateTime<Utc>,
    ) -> Result<Department, DepartmentError> {
        self.write(move |connection| {
            require_branch(connection, project, patch.branch_id.flatten())?;
            let own = departments::table.find(id.get()).filter(departments::project_id.eq(project.get()));
            let description = patch.description.as_ref().map(|text| text.as_deref());
            let written = diesel::update(own)
                .set((
                    patch.name.as_ref().map(|name| departments::name.eq(name.as_str())),
                    description.map(|text| departments::description.eq(text)),
                    patch.branch_id.map(|branch| departments::branch_id.eq(branch.map(BranchId::get))),
                    departments::updated_at.eq(at.naive_utc()),
                ))
                .execute(connection)?;
            if written == 0 {
                return Err(Abort::Refused(DepartmentError::NotFound));
            }
            load(connection, id)?.ok_or(Abort::Refused(DepartmentError::NotFound))
        })
        .await
    }

    async fn delete(&self, project: ProjectId, id: DepartmentId) -> Result<(), DepartmentError> {
        self.write(move |connection| {
            let own = departments::table.find(id.get()).filter(departments::project_id.eq(project.get()));
            // Nothing but employees refers to a department.
            match diesel::delete(own).execute(connection).map_err(on_reference(DepartmentError::Staffed))? {
                0 => Err(Abort::Refused(DepartmentError::NotFound)),
                _ => Ok(()),
            }
        })
        .await
    }
}
