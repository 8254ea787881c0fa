//! Pictures of persons: requirements for the file, and its key in records.

use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_content::model::FileType;
use kontor_kernel::{FileId, FileKey, StoreError};

use crate::database::AnyConnection;
use crate::schema::files;

/// State of a file that can be shown.
pub(crate) const READY: &str = "ready";

/// Returns `true` if a file may be the picture of a person of this project.
pub(crate) fn is_avatar(connection: &mut AnyConnection, project: i64, file: FileId) -> Result<bool, QueryError> {
    let avatar = files::table
        .find(file.get())
        .filter(files::project_id.eq(project))
        .filter(files::file_type_id.eq(FileType::Avatar.id()))
        .filter(files::state.eq(READY));
    diesel::select(exists(avatar)).get_result(connection)
}

/// Decodes the stored key of a picture.
pub(crate) fn avatar_key(key: Option<&str>) -> Result<Option<FileKey>, StoreError> {
    key.map(FileKey::parse).transpose().map_err(StoreError::corrupt)
}
