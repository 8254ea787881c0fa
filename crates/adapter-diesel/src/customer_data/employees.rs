use diesel::prelude::*;
use kontor_kernel::{ProjectId, UserId};

use crate::database::{AnyConnection, found};
use crate::schema::users;

/// Kind of the users who are employees, not agents.
pub(crate) const EMPLOYEE: &str = "employee";

/// Returns `true` if the user is an employee of the project.
pub(crate) fn is_employee(connection: &mut AnyConnection, project: ProjectId, id: UserId) -> QueryResult<bool> {
    let own = users::table
        .filter(users::id.eq(id.get()))
        .filter(users::project_id.eq(project.get()))
        .filter(users::kind.eq(EMPLOYEE));
    found!(connection, own)
}
