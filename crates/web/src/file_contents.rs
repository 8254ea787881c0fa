//! Contents of files: `/files/{key}`, outside of `/api`, where browsers load images from. The first request for a
//! smaller copy of a picture, `/files/{key}?w=320`, creates it and stores it beside the content.

use std::ops::Range as Part;
use std::sync::Arc;
use std::time::Duration;

use actix_web::http::header::{
    ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_RANGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, Charset,
    ContentDisposition, DispositionParam, DispositionType, ETAG, EntityTag, ExtendedValue, Header as _, IfNoneMatch,
    IfRange, Range, VARY, X_CONTENT_TYPE_OPTIONS,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Bytes, Data, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, ResponseError as _};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kontor_content::model::{FileKey, MediaType, PictureWidth, StoredFile, UnknownPictureWidth};
use kontor_content::ports::ResizedPicture;
use kontor_content::{FileRefusal, FileService, FoundFile};
use kontor_kernel::{Permission, Resource};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::ApiError;
use super::policy::Access;
use super::records::Picture;
use super::request_services::Service;
use super::scopes::{Admitted, admit};
use super::upload::blocking;
use crate::Settings;

/// Access needed for files that are not public.
const STAFF: Access = Access::Staff(&[Permission::view(Resource::Files)]);

/// Returns the public URL of a file content.
pub fn url_of(key: &FileKey, config: &Settings) -> String {
    format!("{}/files/{key}", config.public_url.trim_end_matches('/'))
}

/// Returns the picture of a person, if any.
pub fn avatar(key: Option<&FileKey>, config: &Settings) -> Option<Picture> {
    key.map(|key| Picture { url: url_of(key, config) })
}

/// File name of the placeholder image.
const PLACEHOLDER: &str = "placeholder.svg";
const PLACEHOLDER_SVG: &str = concat!(
    r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3" width="400" height="300" role="img" aria-label="No picture">"##,
    r##"<path fill="#e5e7eb" d="M0 0h4v3H0z"/><path fill="#9ca3af" d="M.8 2.4 1.7 1.2l.6.8.4-.5.7.9z"/></svg>"##,
);

/// Returns the URL of the placeholder image.
pub fn placeholder_url(config: &Settings) -> String {
    format!("{}/files/{PLACEHOLDER}", config.public_url.trim_end_matches('/'))
}

async fn placeholder() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "image/svg+xml"))
        .insert_header((CACHE_CONTROL, "public, max-age=86400"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(PLACEHOLDER_SVG)
}

/// `GET`, `HEAD /files/{key}`
pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::resource(format!("/files/{PLACEHOLDER}"))
            .route(web::get().to(placeholder))
            .route(web::head().to(placeholder))
            .default_service(web::to(wrong_method)),
    );
    config.service(
        web::resource("/files/{key}")
            .route(web::get().to(serve))
            .route(web::head().to(serve))
            .default_service(web::to(wrong_method)),
    );
}

async fn wrong_method() -> HttpResponse {
    let message = "The method is not allowed here.".to_owned();
    let mut answer = ApiError::Message(StatusCode::METHOD_NOT_ALLOWED, message).error_response();
    answer.headers_mut().insert(ALLOW, actix_web::http::header::HeaderValue::from_static("GET, HEAD"));
    answer
}

/// Range of a content that a request selects.
#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    Part(Part<u64>),
    /// Range that begins beyond the end.
    Unsatisfiable,
}

/// Reads the requested range. Several ranges and malformed ones select the whole content, as HTTP allows.
fn requested_range(request: &HttpRequest, tag: &EntityTag, length: u64) -> RequestedRange {
    if request.method() != Method::GET {
        return RequestedRange::Whole;
    }
    let other_version = match IfRange::parse(request) {
        Ok(IfRange::EntityTag(known)) => !known.strong_eq(tag),
        Ok(IfRange::Date(_)) => true,
        Err(_) => false,
    };
    match Range::parse(request) {
        Ok(Range::Bytes(ranges)) if !other_version => match ranges.as_slice() {
            [one] => match one.to_satisfiable_range(length) {
                Some((first, last)) => RequestedRange::Part(first..last.saturating_add(1)),
                None => RequestedRange::Unsatisfiable,
            },
            _ => RequestedRange::Whole,
        },
        _ => RequestedRange::Whole,
    }
}

/// Returns the requested width of a smaller copy, if any.
fn width_of(request: &HttpRequest) -> Result<Option<PictureWidth>, ApiError> {
    let query = form_urlencoded::parse(request.query_string().as_bytes());
    let widths: Vec<_> = query.filter(|(name, _)| name == "w").map(|(_, text)| PictureWidth::parse(&text)).collect();
    match widths.as_slice() {
        [] => Ok(None),
        [Ok(width)] => Ok(Some(*width)),
        _ => Err(ApiError::invalid("w", UnknownPictureWidth)),
    }
}

async fn serve(
    request: HttpRequest,
    service: Service<FileService>,
    queue: Data<ResizeQueue>,
    key: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let key = FileKey::parse(&key).map_err(|_| ApiError::not_found())?;
    let file = match service.find(key).await? {
        FoundFile::Public(file) => file,
        FoundFile::Private(file) => match admit(&request, STAFF).await? {
            Admitted::Staff(staff) => service.show(&staff, file)?,
            _ => return Err(ApiError::internal(&"a private file was requested by a caller who is not staff")),
        },
    };
    match width_of(&request)? {
        Some(width) => serve_copy(&request, service, &queue, file, width).await,
        None => serve_whole(&request, &service, file).await,
    }
}

async fn serve_whole(request: &HttpRequest, service: &FileService, file: StoredFile) -> Result<HttpResponse, ApiError> {
    let tag = EntityTag::new_strong(file.content.sha256.as_str().to_owned());
    if is_known(request, &tag) {
        return Ok(framed(HttpResponse::NotModified(), &file, &tag).finish());
    }
    let length = file.content.size;
    let (mut answer, part) = match requested_range(request, &tag, length) {
        RequestedRange::Whole => (HttpResponse::Ok(), 0..length),
        RequestedRange::Part(part) => {
            let mut answer = HttpResponse::PartialContent();
            let last = part.end.saturating_sub(1);
            answer.insert_header((CONTENT_RANGE, format!("bytes {}-{last}/{length}", part.start)));
            (answer, part)
        }
        RequestedRange::Unsatisfiable => {
            let mut answer = HttpResponse::RangeNotSatisfiable();
            answer.insert_header((CONTENT_RANGE, format!("bytes */{length}")));
            // Contains nothing of the file, so it needs no caching.
            return Ok(answer.insert_header((CACHE_CONTROL, "no-store")).finish());
        }
    };
    answer
        .insert_header((CONTENT_TYPE, file.media.mime()))
        .insert_header((ACCEPT_RANGES, "bytes"))
        .insert_header(disposition(&file.name, file.media))
        .no_chunking(part.end.saturating_sub(part.start));
    let mut answer = framed(answer, &file, &tag);
    if request.method() == Method::HEAD {
        return Ok(answer.streaming(stream::empty::<Result<Bytes, std::io::Error>>()));
    }
    let pieces = service.content(&file, part).await?;
    Ok(answer.streaming(pieces.map_err(std::io::Error::other).boxed()))
}

/// Number of requests that may wait while a copy is made: enough for one page of new pictures.
const MAX_WAITING: usize = 64;
/// Maximum waiting time of a request.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// Time after which a rejected caller may retry: by then the queue has moved on.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Queue of requests that make smaller copies. The process makes one at a time, so callers can exhaust neither memory
/// nor processors.
pub struct ResizeQueue {
    places: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    patience: Duration,
}

/// Exclusive right to make a copy, released on drop.
#[must_use]
struct ResizePermit {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl Default for ResizeQueue {
    fn default() -> Self {
        Self::new(MAX_WAITING, MAX_WAIT)
    }
}

impl ResizeQueue {
    fn new(places: usize, patience: Duration) -> Self {
        // One additional place for the request that is being processed.
        Self { places: Arc::new(Semaphore::new(places + 1)), turns: Arc::new(Semaphore::new(1)), patience }
    }

    /// Waits in order of arrival: `503` if the queue is full or the wait is too long.
    async fn enter(&self) -> Result<ResizePermit, ApiError> {
        let overloaded = || ApiError::Overloaded(RETRY_AFTER);
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| overloaded())?;
        match timeout(self.patience, Arc::clone(&self.turns).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(ResizePermit { _place: place, _turn: turn }),
            Ok(Err(closed)) => Err(ApiError::internal(&closed)),
            Err(_) => Err(overloaded()),
        }
    }
}

/// Responds with a picture of limited width. Range requests are not supported, because the copy is small.
pub(super) async fn serve_copy(
    request: &HttpRequest,
    service: Service<FileService>,
    queue: &ResizeQueue,
    file: StoredFile,
    width: PictureWidth,
) -> Result<HttpResponse, ApiError> {
    if !file.media.is_image() {
        return Err(FileRefusal::NotAPicture.into());
    }
    let tag = EntityTag::new_strong(format!("{}-w{}", file.content.sha256.as_str(), width.pixels()));
    if is_known(request, &tag) {
        return Ok(framed(HttpResponse::NotModified(), &file, &tag).finish());
    }
    let picture = match service.resized(&file, width).await? {
        Some(found) => found,
        None => make(service.into_inner(), queue, &file, width).await?,
    };
    let media = MediaType::Webp;
    let name = media.label(Some(&file.name)).unwrap_or_else(|_| file.name.clone());
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((CONTENT_TYPE, media.mime()))
        .insert_header(disposition(&name, media))
        .no_chunking(picture.size);
    let mut answer = framed(answer, &file, &tag);
    if request.method() == Method::HEAD {
        return Ok(answer.streaming(stream::empty::<Result<Bytes, std::io::Error>>()));
    }
    Ok(answer.streaming(picture.pieces.map_err(std::io::Error::other).boxed()))
}

/// Makes a copy in turn, unless another request has made it in the meantime.
async fn make(
    service: Arc<FileService>,
    queue: &ResizeQueue,
    file: &StoredFile,
    width: PictureWidth,
) -> Result<ResizedPicture, ApiError> {
    let turn = queue.enter().await?;
    if let Some(found) = service.resized(file, width).await? {
        return Ok(found);
    }
    let file = Arc::new(file.clone());
    // The copy is finished and stored even if the caller disconnects, so a repeated request finds it.
    let made = tokio::spawn(async move {
        let _turn = turn;
        let content = service.whole(&file).await?;
        let (resizer, picture) = (service.clone(), file.clone());
        let copy = blocking(move || resizer.resize(&content, &picture, width)).await??;
        service.keep_resized(&file, width, copy.clone()).await?;
        Ok::<_, ApiError>(copy.into())
    });
    made.await.map_err(|error| ApiError::internal(&error))?
}

pub(super) fn is_known(request: &HttpRequest, tag: &EntityTag) -> bool {
    match IfNoneMatch::parse(request) {
        Ok(IfNoneMatch::Any) => true,
        Ok(IfNoneMatch::Items(known)) => known.iter().any(|known| known.weak_eq(tag)),
        Err(_) => false,
    }
}

/// Returns the file name as `filename*`, with an ASCII `filename` for old browsers.
pub(super) fn disposition(name: &str, media: MediaType) -> ContentDisposition {
    let plain = |sign: char| if sign.is_ascii_graphic() && !"\"\\%".contains(sign) || sign == ' ' { sign } else { '_' };
    let extended = ExtendedValue {
        charset: Charset::Ext("UTF-8".to_owned()),
        language_tag: None,
        value: name.as_bytes().to_vec(),
    };
    ContentDisposition {
        disposition: if media.is_image() { DispositionType::Inline } else { DispositionType::Attachment },
        parameters: vec![
            DispositionParam::Filename(name.chars().map(plain).collect()),
            DispositionParam::FilenameExt(extended),
        ],
    }
}

/// Adds the headers of every response about a file content. They set caching and forbid scripts in the content.
pub(super) fn framed(mut answer: HttpResponseBuilder, file: &StoredFile, tag: &EntityTag) -> HttpResponseBuilder {
    let keep = if file.file_type.is_public() { "public, max-age=31536000, immutable" } else { "private, no-cache" };
    answer
        .insert_header((ETAG, tag.to_string()))
        .insert_header((CACHE_CONTROL, keep))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"));
    if !file.file_type.is_public() {
        answer.insert_header((VARY, "Authorization"));
    }
    answer
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn of(headers: &[(&'static str, &str)]) -> RequestedRange {
        let request = headers.iter().fold(TestRequest::get(), |request, header| request.insert_header(*header));
        requested_range(&request.to_http_request(), &EntityTag::new_strong("now".to_owned()), 100)
    }

    #[test]
    fn one_part_is_given() {
        for (range, expected) in [
            ("bytes=0-0", RequestedRange::Part(0..1)),
            ("bytes=10-", RequestedRange::Part(10..100)),
            ("bytes=-10", RequestedRange::Part(90..100)),
            ("bytes=-1000", RequestedRange::Part(0..100)),
            ("bytes=90-1000", RequestedRange::Part(90..100)),
            ("bytes=100-", RequestedRange::Unsatisfiable),
            ("bytes=0-1,5-6", RequestedRange::Whole),
            ("bytes=x", RequestedRange::Whole),
            ("lines=1-2", RequestedRange::Whole),
        ] {
            assert_eq!(of(&[("range", range)]), expected, "{range}");
        }
        assert_eq!(of(&[]), RequestedRange::Whole);
    }

    #[test]
    fn a_part_is_of_the_version_that_is_known() {
        let part = ("range", "bytes=0-0");
        assert_eq!(of(&[part, ("if-range", "\"now\"")]), RequestedRange::Part(0..1));
        for other in ["\"then\"", "W/\"now\"", "Thu, 01 Jan 2026 00:00:00 GMT"] {
            assert_eq!(of(&[part, ("if-range", other)]), RequestedRange::Whole, "{other}");
        }
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_drops_disconnected_callers() {
        let queue = ResizeQueue::new(1, Duration::from_mins(1));
        let working = queue.enter().await.unwrap();
        let mut waiting = Box::pin(queue.enter());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert!(matches!(queue.enter().await, Err(ApiError::Overloaded(_))));
        drop(waiting);
        let mut waiting = Box::pin(queue.enter());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(working);
        assert!(waiting.await.is_ok());
    }

    #[tokio::test]
    async fn no_request_waits_forever() {
        let queue = ResizeQueue::new(1, Duration::ZERO);
        let _working = queue.enter().await.unwrap();
        assert!(matches!(queue.enter().await, Err(ApiError::Overloaded(wait)) if wait == RETRY_AFTER));
    }
}
