//! Uploaded files: multipart bodies, received into a temporary file of bounded size.

use std::collections::BTreeMap;
use std::io::Write;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest, dev::Payload, web};
use futures_util::StreamExt;
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

impl Upload {
    /// Reads the body. A handler calls it after it knows that the caller may upload at all.
    pub async fn receive(mut self) -> Result<Received, ApiError> {
        let mut file = None;
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
                file = Some(save(&mut part, self.limit).await?);
            }
        }
        let file = file.ok_or_else(|| ApiError::invalid("file", "is required"))?;
        Ok(Received { file, texts })
    }
}

fn too_large() -> ApiError {
    ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The file is too large.".to_owned())
}

async fn save(part: &mut Field, limit: u64) -> Result<NamedTempFile, ApiError> {
    let mut file = NamedTempFile::new().map_err(|error| ApiError::internal(&error))?;
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
    Ok(file)
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
