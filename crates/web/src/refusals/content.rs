//! Responses to refusals of `kontor-content`.

use crate::ApiError;
use actix_web::http::StatusCode;
use kontor_content::model::TreeRefusal;
use kontor_content::{FileRefusal, PageRefusal, PartRefusal};

/// Errors shared by blocks, menu items and slides. Only the slug has different field names: it is the `identifier` of a block,
/// so each module maps it itself.
impl From<PartRefusal> for ApiError {
    fn from(refusal: PartRefusal) -> Self {
        match refusal {
            PartRefusal::Tree(TreeRefusal::UnknownParent) => {
                Self::invalid("parent_id", "must be the id of a record of the same application")
            }
            PartRefusal::Tree(TreeRefusal::Full) => Self::invalid("id", "has reached the maximum per application"),
            PartRefusal::Tree(refused) => Self::invalid("parent_id", refused),
            PartRefusal::CodeTaken => Self::invalid("code", "is already taken"),
            PartRefusal::SlugTaken => Self::invalid("slug", "is already taken"),
            PartRefusal::UnknownType => Self::invalid("block_type_id", "must be the id of a block type"),
            PartRefusal::HasChildren => Self::invalid("id", "has children"),
            PartRefusal::Period(refused) => Self::invalid("ends_at", refused),
        }
    }
}

impl From<FileRefusal> for ApiError {
    fn from(refusal: FileRefusal) -> Self {
        match refusal {
            FileRefusal::Content(refused) => Self::invalid("file", refused),
            FileRefusal::NotAPicture => Self::invalid("w", "must not be sent: the file is not a picture"),
            FileRefusal::Undecodable => Self::invalid("w", "must not be sent: the picture cannot be decoded"),
            FileRefusal::TooSlow => {
                Self::Message(StatusCode::SERVICE_UNAVAILABLE, "The file was not stored.".to_owned())
            }
            FileRefusal::Storage(failed) => {
                tracing::warn!(%failed, "the file storage failed");
                let message = "The file storage is unavailable. Try again later.".to_owned();
                Self::Message(StatusCode::SERVICE_UNAVAILABLE, message)
            }
        }
    }
}

impl From<PageRefusal> for ApiError {
    fn from(refusal: PageRefusal) -> Self {
        match refusal {
            PageRefusal::SlugTaken => Self::invalid("slug", "is already the slug of another page"),
            PageRefusal::UnknownType => Self::invalid("page_type_id", "must be the id of a page type"),
        }
    }
}
