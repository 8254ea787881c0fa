//! Persons: employees, and the pictures of anyone.

use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_content::model::FileType;
use kontor_kernel::{FileId, FileKey, ProjectId, StoreError, UserId};

use crate::database::{AnyConnection, found};
use crate::schema::{files, users};

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

/// State of a file that can be shown.
pub(crate) const READY: &str = "ready";

/// Returns `true` if a file may be the picture of a person of this project.
pub(crate) fn is_avatar(connection: &mut AnyConnection, project: i64, file: FileId) -> Result<bool, QueryError> {
    let avatar = files::table
        .find(file.get())
        .filter(files::project_id.eq(project))
        .filter(files::file_type_id.eq(FileType::Avatar.id()))
        .filter(files::state.eq(READY));
    found!(connection, avatar)
}

/// Decodes the stored key of a picture.
pub(crate) fn avatar_key(key: Option<&str>) -> Result<Option<FileKey>, StoreError> {
    key.map(FileKey::parse).transpose().map_err(StoreError::corrupt)
}
