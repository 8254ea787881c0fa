//! Uploaded files: multipart bodies, received into a temporary file of bounded size.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest, dev::Payload, web};
use futures_util::StreamExt;
use kontor_kernel::Line;
use tempfile::NamedTempFile;

use super::ApiError;
use crate::config::Config;

/// The longest text beside a file, in bytes.
const LONGEST_TEXT: usize = 1024;
/// The most parts of a body.
const MOST_PARTS: usize = 20;

/// A multipart body that is not read yet.
pub struct Upload {
    parts: Multipart,
    limit: u64,
}

/// What came.
pub struct Received {
    /// The part `file`. It disappears with the value.
    pub file: NamedTempFile,
    /// What the sender calls it.
    pub file_name: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// The other parts.
    pub texts: BTreeMap<String, String>,
}

impl FromRequest for Upload {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let limit = request.app_data::<web::Data<Config>>().map_or(0, |config| config.upload_limit);
        std::future::ready(Ok(Self { parts: Multipart::new(request.headers(), payload.take()), limit }))
    }
}

/// What came, whether it is enough or not.
pub struct Parts<F> {
    /// The part `file`.
    pub file: Option<F>,
    /// What its sender calls it.
    pub file_name: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// The other parts.
    pub texts: BTreeMap<String, String>,
}

impl Upload {
    /// With another limit of the file, in bytes.
    #[must_use]
    pub fn up_to(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Reads the body. A handler calls it after it knows that the caller may upload at all.
    pub async fn receive(self) -> Result<Received, ApiError> {
        let Parts { file, file_name, size, texts } = self.parts(NamedTempFile::new).await?;
        let file = file.ok_or_else(|| ApiError::invalid("file", "is required"))?;
        Ok(Received { file, file_name: file_name.as_deref().and_then(plain_name), size, texts })
    }

    /// Reads the body into a file that has no name, so that nothing of it outlives the process. That the file is missing
    /// is the caller's to say, together with what else is wrong.
    pub async fn receive_unnamed(self) -> Result<Parts<File>, ApiError> {
        self.parts(tempfile::tempfile).await
    }

    async fn parts<F: Write>(mut self, open: impl Fn() -> std::io::Result<F>) -> Result<Parts<F>, ApiError> {
        let (mut file, mut file_name, mut size) = (None, None, 0);
        let mut texts = BTreeMap::new();
        let mut count = 0;
        while let Some(part) = self.parts.next().await {
            let mut part = part.map_err(refused)?;
            let name = part.name().unwrap_or_default().to_owned();
            count += 1;
            if count > MOST_PARTS {
                return Err(ApiError::invalid("body", format!("must have at most {MOST_PARTS} parts")));
            }
            if name != "file" {
                texts.insert(name.clone(), text(&name, &mut part).await?);
            } else if file.is_some() {
                return Err(ApiError::invalid("file", "must be one file"));
            } else {
                let disposition = part.content_disposition();
                file_name = disposition.and_then(|disposition| disposition.get_filename().map(str::to_owned));
                let mut opened = open().map_err(|error| ApiError::internal(&error))?;
                size = save(&mut part, self.limit, &mut opened).await?;
                file = Some(opened);
            }
        }
        Ok(Parts { file, file_name, size, texts })
    }
}

fn too_large() -> ApiError {
    ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The file is too large.".to_owned())
}

/// What people read as the name of a file; a path before it tells of the sender's machine.
fn plain_name(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    Line::<255>::parse(name).ok().map(Into::into)
}

/// Returns the size.
async fn save(part: &mut Field, limit: u64, file: &mut impl Write) -> Result<u64, ApiError> {
    let mut size: u64 = 0;
    while let Some(chunk) = part.next().await {
        let chunk = chunk.map_err(refused)?;
        size = size.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if size > limit {
            return Err(too_large());
        }
        file.write_all(&chunk).map_err(|error| ApiError::internal(&error))?;
    }
    file.flush().map_err(|error| ApiError::internal(&error))?;
    Ok(size)
}

async fn text(name: &str, part: &mut Field) -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = part.next().await {
        bytes.extend_from_slice(&chunk.map_err(refused)?);
        if bytes.len() > LONGEST_TEXT {
            return Err(ApiError::invalid(name, format!("must have at most {LONGEST_TEXT} bytes")));
        }
    }
    String::from_utf8(bytes).map_err(|_| ApiError::invalid(name, "must be UTF-8 text"))
}

fn refused(error: MultipartError) -> ApiError {
    match error {
        MultipartError::ContentTypeMissing
        | MultipartError::ContentTypeParse
        | MultipartError::ContentTypeIncompatible => {
            let message = "The body must be multipart/form-data with a part `file`.".to_owned();
            ApiError::Message(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
        }
        error => ApiError::bad_request(format!("The body could not be read: {error}")),
    }
}
