//! Requests of the bucket.

use std::collections::HashMap;

use actix_web::http::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, Header as _, LAST_MODIFIED, Range};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, Path, PayloadConfig, Query, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};

use kontor_html::escape;

use super::signature::{self, SignatureError};
use super::{Refusal, Storage, etag};
use crate::fault_middleware;
use crate::state::World;

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
const OBJECT_TIME: &str = "Thu, 01 Jan 2026 00:00:00 GMT";
/// The same time in a listing.
const LISTED_TIME: &str = "2026-01-01T00:00:00.000Z";

/// `/s3/{bucket}` and `/s3/{bucket}/{key}`
pub fn routes(config: &mut ServiceConfig) {
    config.service(
        web::resource("/s3/{bucket}").wrap(from_fn(fault_middleware::storage)).default_service(web::to(serve_bucket)),
    );
    config.service(
        web::resource("/s3/{bucket}/{key:.+}")
            .app_data(PayloadConfig::new(MAX_BODY_BYTES))
            .wrap(from_fn(fault_middleware::storage))
            .default_service(web::to(serve)),
    );
}

fn xml(status: StatusCode, text: &str) -> HttpResponse {
    let text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{text}");
    HttpResponse::build(status).content_type("application/xml").body(text)
}

fn error(status: StatusCode, code: &str) -> HttpResponse {
    xml(status, &format!("<Error><Code>{code}</Code><Message>{code}</Message></Error>"))
}

/// Returns the response to a request hit by an internal error.
pub fn internal_error() -> HttpResponse {
    error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError")
}

/// Returns the response to a request hit by a `refuse` fault.
pub fn denied() -> HttpResponse {
    error(StatusCode::FORBIDDEN, "AccessDenied")
}

fn refused(refusal: Refusal) -> HttpResponse {
    match refusal {
        Refusal::NoSuchUpload => error(StatusCode::NOT_FOUND, "NoSuchUpload"),
        Refusal::InvalidPart => error(StatusCode::BAD_REQUEST, "InvalidPart"),
        Refusal::EntityTooSmall => error(StatusCode::BAD_REQUEST, "EntityTooSmall"),
        Refusal::Full => error(StatusCode::INSUFFICIENT_STORAGE, "QuotaExceeded"),
    }
}

fn unsigned(why: SignatureError) -> HttpResponse {
    match why {
        SignatureError::Missing => error(StatusCode::FORBIDDEN, "AccessDenied"),
        SignatureError::UnknownKey => error(StatusCode::FORBIDDEN, "InvalidAccessKeyId"),
        SignatureError::Wrong => error(StatusCode::FORBIDDEN, "SignatureDoesNotMatch"),
        SignatureError::OtherBody => error(StatusCode::BAD_REQUEST, "XAmzContentSHA256Mismatch"),
    }
}

async fn serve(
    call: HttpRequest,
    world: Data<World>,
    place: Path<(String, String)>,
    query: Query<HashMap<String, String>>,
    body: Bytes,
) -> HttpResponse {
    let storage = &world.storage;
    if let Err(why) = signature::check(&call, &body, &storage.account) {
        return unsigned(why);
    }
    let (bucket, key) = place.into_inner();
    if bucket != storage.account.bucket {
        return error(StatusCode::NOT_FOUND, "NoSuchBucket");
    }
    let upload = query.get("uploadId").map(String::as_str);
    let outcome = match (call.method(), upload) {
        (&Method::GET | &Method::HEAD, None) => Ok(read(&call, storage, &key)),
        (&Method::PUT, None) => put(storage, &key, body),
        (&Method::PUT, Some(upload)) => put_part(storage, upload, &key, &query, body),
        (&Method::POST, None) if query.contains_key("uploads") => Ok(begin(&world, &bucket, &key)),
        (&Method::POST, Some(upload)) => complete(storage, upload, &key, &body),
        (&Method::DELETE, Some(upload)) => storage.abort(upload).map(|()| HttpResponse::NoContent().finish()),
        (&Method::DELETE, None) => {
            storage.delete(&key);
            Ok(HttpResponse::NoContent().finish())
        }
        _ => Ok(error(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed")),
    };
    outcome.unwrap_or_else(refused)
}

async fn serve_bucket(
    call: HttpRequest,
    world: Data<World>,
    bucket: Path<String>,
    query: Query<HashMap<String, String>>,
    body: Bytes,
) -> HttpResponse {
    let storage = &world.storage;
    if let Err(why) = signature::check(&call, &body, &storage.account) {
        return unsigned(why);
    }
    if *bucket != storage.account.bucket {
        return error(StatusCode::NOT_FOUND, "NoSuchBucket");
    }
    if call.method() != Method::GET || query.get("list-type").is_none_or(|version| version != "2") {
        return error(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed");
    }
    let prefix = query.get("prefix").map_or("", String::as_str);
    let objects = storage.list(prefix).into_iter().fold(String::new(), |text, (key, size)| {
        let (key, time) = (escape(&key), LISTED_TIME);
        text + &format!("<Contents><Key>{key}</Key><LastModified>{time}</LastModified><Size>{size}</Size></Contents>")
    });
    xml(StatusCode::OK, &format!("<ListBucketResult>{objects}</ListBucketResult>"))
}

fn put(storage: &Storage, key: &str, body: Bytes) -> Result<HttpResponse, Refusal> {
    let mark = etag(&body);
    storage.put(key, body)?;
    Ok(HttpResponse::Ok().insert_header((ETAG, mark)).finish())
}

fn put_part(
    storage: &Storage,
    upload: &str,
    key: &str,
    query: &HashMap<String, String>,
    body: Bytes,
) -> Result<HttpResponse, Refusal> {
    let number = query.get("partNumber").and_then(|number| number.parse().ok()).ok_or(Refusal::InvalidPart)?;
    let mark = etag(&body);
    storage.put_part(upload, key, number, body)?;
    Ok(HttpResponse::Ok().insert_header((ETAG, mark)).finish())
}

fn begin(world: &World, bucket: &str, key: &str) -> HttpResponse {
    let id = world.chance.id();
    world.storage.begin(&id, key);
    let (bucket, key) = (escape(bucket), escape(key));
    let text = format!(
        "<InitiateMultipartUploadResult><Bucket>{bucket}</Bucket><Key>{key}</Key><UploadId>{id}</UploadId>\
         </InitiateMultipartUploadResult>"
    );
    xml(StatusCode::OK, &text)
}

fn complete(storage: &Storage, upload: &str, key: &str, body: &[u8]) -> Result<HttpResponse, Refusal> {
    let named = parts(&String::from_utf8_lossy(body)).ok_or(Refusal::InvalidPart)?;
    let content = storage.complete(upload, key, &named)?;
    let (key, mark) = (escape(key), escape(&etag(&content)));
    let text =
        format!("<CompleteMultipartUploadResult><Key>{key}</Key><ETag>{mark}</ETag></CompleteMultipartUploadResult>");
    Ok(xml(StatusCode::OK, &text))
}

/// Reads the parts that a request names.
fn parts(text: &str) -> Option<Vec<(u32, String)>> {
    let inside = |text: &str, name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        let (value, _) = rest.split_once(&format!("</{name}>"))?;
        Some(value.replace("&quot;", "\""))
    };
    let named = text.split("<Part>").skip(1);
    named.map(|part| Some((inside(part, "PartNumber")?.parse().ok()?, inside(part, "ETag")?))).collect()
}

fn read(call: &HttpRequest, storage: &Storage, key: &str) -> HttpResponse {
    let Some(content) = storage.get(key) else { return error(StatusCode::NOT_FOUND, "NoSuchKey") };
    let mark = etag(&content);
    let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
    let asked = match Range::parse(call) {
        Ok(Range::Bytes(ranges)) => ranges.first().map(|range| range.to_satisfiable_range(length)),
        _ => None,
    };
    let mut answer = match asked {
        Some(Some(_)) => HttpResponse::PartialContent(),
        Some(None) => return error(StatusCode::RANGE_NOT_SATISFIABLE, "InvalidRange"),
        None => HttpResponse::Ok(),
    };
    answer
        .insert_header((ETAG, mark))
        .insert_header((LAST_MODIFIED, OBJECT_TIME))
        .insert_header((ACCEPT_RANGES, "bytes"))
        .content_type("application/octet-stream");
    let Some(Some((first, last))) = asked else { return answer.body(content) };
    answer.insert_header((CONTENT_RANGE, format!("bytes {first}-{last}/{length}")));
    let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
    let end = place(last).saturating_add(1).min(content.len());
    answer.body(content.slice(place(first).min(end)..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_parts_are_read() {
        let text = "<CompleteMultipartUpload><Part><ETag>&quot;a&quot;</ETag><PartNumber>1</PartNumber></Part>\
            <Part><PartNumber>2</PartNumber><ETag>\"b\"</ETag></Part></CompleteMultipartUpload>";
        assert_eq!(parts(text), Some(vec![(1, "\"a\"".to_owned()), (2, "\"b\"".to_owned())]));
        assert_eq!(parts("<Part><PartNumber>x</PartNumber></Part>"), None);
    }
}
