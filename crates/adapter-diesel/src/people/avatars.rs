//! Pictures of persons: which files may be one, and how a record tells it.

use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::result::Error as QueryError;
use kontor_content::model::FileType;
use kontor_kernel::{FileId, FileKey, StoreError};

use crate::database::AnyConnection;
use crate::schema::files;

/// The state of a file that is shown.
pub(crate) const READY: &str = "ready";

/// Whether a file may be the picture of a person of this project.
pub(crate) fn is_avatar(connection: &mut AnyConnection, project: i64, file: FileId) -> Result<bool, QueryError> {
    let avatar = files::table
        .find(file.get())
        .filter(files::project_id.eq(project))
        .filter(files::file_type_id.eq(FileType::Avatar.id()))
        .filter(files::state.eq(READY));
    diesel::select(exists(avatar)).get_result(connection)
}

/// The key of a picture as it is stored.
pub(crate) fn avatar_key(key: Option<&str>) -> Result<Option<FileKey>, StoreError> {
    key.map(FileKey::parse).transpose().map_err(StoreError::corrupt)
}
