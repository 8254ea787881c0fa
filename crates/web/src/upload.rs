//! File uploads: multipart bodies, received into a temporary file of bounded size.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use actix_multipart::{Field, Multipart, MultipartError};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::CONTENT_LENGTH;
use actix_web::{FromRequest, HttpMessage, HttpRequest, web};
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use kontor_kernel::{Line, StoreError, Violations};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt;

use super::ApiError;
use super::body_buffer::{BodyTimeLimits, TimeLimitedBody, is_late, too_late};
use super::policy::Endpoint;
use super::scopes::{SignedInStaff, reauthenticate_staff};
use crate::Settings;

/// Maximum length of a text part, in bytes.
const MAX_TEXT_LENGTH: usize = 1024;
/// Maximum length of the part `columns`, in bytes.
const MAX_COLUMNS_BYTES: usize = 32 << 10;
/// Maximum number of parts of a body.
const MAX_PARTS: usize = 20;
/// Maximum size of a body without its file, in bytes.
const MAX_BODY_WITHOUT_FILE: u64 = 64 << 10;
/// Maximum number of characters of an unknown part's name in an error.
const MAX_NAME_LENGTH: usize = 100;

/// Multipart body that is not read yet.
pub struct Upload {
    request: HttpRequest,
    parts: Multipart,
    limit: u64,
    announced: Option<u64>,
}

/// Received upload.
pub struct Received {
    /// Part `file`. Dropping the value deletes it.
    pub file: NamedTempFile,
    /// File name given by the sender.
    pub file_name: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// Other parts.
    pub texts: Texts,
}

/// Text parts beside a file. Each is known and occurs once.
#[derive(Default)]
pub struct Texts {
    values: BTreeMap<String, String>,
    /// Errors of the parts themselves. Readers of the values add theirs.
    pub violations: Violations,
}

impl Texts {
    /// Returns the trimmed text of a part.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|text| text.trim())
    }

    fn take(&mut self, known: &[&str], name: String, text: String) {
        if name.is_empty() {
            self.violations.add("body", "has a part without a `name`");
        } else if !known.contains(&name.as_str()) {
            self.violations.add(name.chars().take(MAX_NAME_LENGTH).collect::<String>(), "is not a known field");
        } else if self.values.insert(name.clone(), text).is_some() {
            self.violations.add(name, "must be sent only once");
        }
    }
}

impl FromRequest for Upload {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let limit = request.app_data::<web::Data<Settings>>().map_or(0, |config| config.upload_limit);
        let announced = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let streamed = |endpoint: &Arc<Endpoint>| endpoint.policy.streamed;
        debug_assert!(
            request.extensions().get().is_some_and(streamed),
            "its row says that its body is read by the handler"
        );
        let parts = Multipart::new(request.headers(), TimeLimitedBody::new(payload.take(), BodyTimeLimits::FILES));
        std::future::ready(Ok(Self { request: request.clone(), parts, limit, announced }))
    }
}

/// Received parts, complete or not.
pub struct Parts<F> {
    /// Part `file`.
    pub file: Option<F>,
    /// File name given by the sender.
    pub file_name: Option<String>,
    /// Size in bytes.
    pub size: u64,
    /// Other parts.
    pub texts: Texts,
}

impl Upload {
    /// Sets another size limit of the file, in bytes.
    #[must_use]
    pub fn up_to(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// Lowers the size limit of the file to this many bytes, unless it is lower already.
    #[must_use]
    pub fn within(self, limit: u64) -> Self {
        Self { limit: self.limit.min(limit), ..self }
    }

    /// Returns `true` if the announced length implies a file larger than this.
    pub fn announces_more_than(&self, bytes: u64) -> bool {
        self.announced.is_some_and(|announced| announced > bytes.saturating_add(MAX_BODY_WITHOUT_FILE))
    }

    /// Reads the file and the parts with these names. The handler calls it after a permission check. The caller is
    /// authenticated again after the transfer, so that access revoked in the meantime takes effect.
    pub async fn receive(self, staff: &mut SignedInStaff, known: &[&str]) -> Result<Received, ApiError> {
        let named = || -> io::Result<_> {
            let file = NamedTempFile::new()?;
            let handle = file.reopen()?;
            Ok((file, handle))
        };
        let Parts { file, file_name, size, mut texts } = self.parts(staff, known, named).await?;
        let Some(file) = file else {
            texts.violations.add("file", "is required");
            return Err(texts.violations.into());
        };
        Ok(Received { file, file_name: file_name.as_deref().and_then(safe_file_name), size, texts })
    }

    /// Reads the body into an unnamed file, which cannot outlive the process. The caller reports a missing file
    /// together with its other errors.
    pub async fn receive_unnamed(self, staff: &mut SignedInStaff, known: &[&str]) -> Result<Parts<File>, ApiError> {
        let unnamed = || -> io::Result<_> {
            let file = tempfile::tempfile()?;
            let handle = file.try_clone()?;
            Ok((file, handle))
        };
        self.parts(staff, known, unnamed).await
    }

    async fn parts<F: Send + 'static>(
        mut self,
        staff: &mut SignedInStaff,
        known: &[&str],
        open: fn() -> io::Result<(F, File)>,
    ) -> Result<Parts<F>, ApiError> {
        let (mut file, mut file_name, mut size) = (None, None, 0);
        let mut texts = Texts::default();
        let mut count = 0;
        while let Some(part) = self.parts.next().await {
            let mut part = part.map_err(refused)?;
            let name = part.name().unwrap_or_default().to_owned();
            count += 1;
            if count > MAX_PARTS {
                return Err(ApiError::invalid("body", format!("must have at most {MAX_PARTS} parts")));
            }
            if name != "file" {
                let text = text(&name, &mut part).await?;
                texts.take(known, name, text);
            } else if file.is_some() {
                return Err(ApiError::invalid("file", "must be one file"));
            } else {
                let disposition = part.content_disposition();
                file_name = disposition.and_then(|disposition| disposition.get_filename().map(str::to_owned));
                let (opened, handle) = blocking(open).await?.map_err(temporary_storage_failed)?;
                size = save(&mut part, self.limit, handle).await?;
                file = Some(opened);
            }
        }
        *staff = reauthenticate_staff(&self.request).await?;
        Ok(Parts { file, file_name, size, texts })
    }
}

/// Returns the error of temporary storage that is full or fails.
fn temporary_storage_failed(error: io::Error) -> ApiError {
    StoreError::Unavailable(format!("a temporary file: {error}")).into()
}

fn too_large() -> ApiError {
    ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The file is too large.".to_owned())
}

/// Returns a readable file name without its path, which would reveal the sender's directories.
fn safe_file_name(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    Line::<255>::parse(name).ok().map(Into::into)
}

/// Writes on the thread pool for blocking work, so that other requests of this thread continue. Returns the size.
async fn save(
    content: &mut (impl Stream<Item = Result<Bytes, MultipartError>> + Unpin),
    limit: u64,
    file: File,
) -> Result<u64, ApiError> {
    let mut file = tokio::fs::File::from_std(file);
    let mut size: u64 = 0;
    while let Some(chunk) = content.next().await {
        let chunk = chunk.map_err(refused)?;
        size = size.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
        if size > limit {
            return Err(too_large());
        }
        file.write_all(&chunk).await.map_err(temporary_storage_failed)?;
    }
    file.flush().await.map_err(temporary_storage_failed)?;
    Ok(size)
}

async fn text(name: &str, part: &mut Field) -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    let longest = if name == "columns" { MAX_COLUMNS_BYTES } else { MAX_TEXT_LENGTH };
    while let Some(chunk) = part.next().await {
        bytes.extend_from_slice(&chunk.map_err(refused)?);
        if bytes.len() > longest {
            return Err(ApiError::invalid(name, format!("must have at most {longest} bytes")));
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
        MultipartError::Payload(error) if is_late(&error) => too_late(),
        error => ApiError::bad_request(format!("The body could not be read: {error}")),
    }
}

/// Runs blocking work on the thread pool for it.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    web::block(work).await.map_err(|error| ApiError::internal(&error))
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use futures_util::stream;

    use super::*;

    #[tokio::test]
    async fn a_slow_disk_holds_up_no_other_request() {
        let (mut reader, writer) = io::pipe().unwrap();
        // Nothing reads the pipe for a while, and its buffer is smaller than a mebibyte.
        let disk = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            let mut content = Vec::new();
            reader.read_to_end(&mut content).map(|_| content.len())
        });
        let mut content = stream::iter((0..64).map(|_| Ok(Bytes::from(vec![b'x'; 16 << 10]))));
        let saved = save(&mut content, 1 << 20, File::from(OwnedFd::from(writer)));
        let mut others = 0;
        let size = tokio::select! {
            size = saved => size.unwrap(),
            () = async { for _ in 0..10_000 { tokio::time::sleep(Duration::from_millis(10)).await; others += 1; } } => 0,
        };
        assert_eq!((size, disk.join().unwrap().unwrap()), (1 << 20, 1 << 20));
        assert!(others >= 5, "{others} turns of others");
        let mut content = stream::iter([Ok(Bytes::from(vec![b'x'; 101]))]);
        let refused = save(&mut content, 100, tempfile::tempfile().unwrap()).await;
        assert!(matches!(refused, Err(ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, _))));
    }
}
