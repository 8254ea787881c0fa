//! Contents of files: `/files/{key}`, outside of `/api`, where browsers load images from.

use std::ops::Range as Part;

use actix_web::http::header::{
    ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_RANGE, CONTENT_TYPE, EntityTag, Header as _, IfRange, Range,
    X_CONTENT_TYPE_OPTIONS,
};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Data, Path, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse, ResponseError as _};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kontor_content::model::{FileKey, PictureWidth, StoredFile, UnknownPictureWidth};
use kontor_content::{FileService, FoundFile};
use kontor_kernel::{Permission, Resource};

use super::ApiError;
use super::content_headers::{disposition, framed, is_known};
use super::policy::Access;
use super::records::Picture;
use super::request_services::Service;
use super::resized_pictures::{self, ResizeQueue};
use super::scopes::{Admitted, admit};
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
        Some(width) => resized_pictures::serve(&request, service, &queue, file, width).await,
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
        return Ok(answer.streaming(stream::empty::<Result<web::Bytes, std::io::Error>>()));
    }
    let pieces = service.content(&file, part).await?;
    Ok(answer.streaming(pieces.map_err(std::io::Error::other).boxed()))
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
}
