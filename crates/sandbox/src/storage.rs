//! A bucket with the S3 protocol in path style: objects, listings, multipart uploads, ranges of objects, signed
//! requests.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use actix_web::http::header::{ACCEPT_RANGES, CONTENT_RANGE, ETAG, Header as _, LAST_MODIFIED, Range};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::from_fn;
use actix_web::web::{self, Bytes, Data, Path, PayloadConfig, Query, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use kontor_html::escape;
use kontor_kernel::hex;
use ring::digest::{SHA256, digest};
use ring::hmac::{self, HMAC_SHA256, Key};
use serde_json::{Value, json};

use crate::faults;
use crate::state::{SandboxConfig, SandboxState, lock};

/// Maximum size of all objects and parts together, in bytes.
const MAX_BYTES: usize = 512 * 1024 * 1024;
/// Minimum size of every part of an upload except the last, in bytes.
const MIN_PART_BYTES: usize = 5 * 1024 * 1024;

/// Access data of the bucket.
pub struct Account {
    pub bucket: String,
    pub region: String,
    pub access_key: String,
    pub secret_key: String,
}

/// The objects of the bucket.
pub struct Storage {
    pub account: Account,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    objects: BTreeMap<String, Bytes>,
    uploads: HashMap<String, Upload>,
}

/// An incomplete multipart upload.
struct Upload {
    key: String,
    parts: BTreeMap<u32, Bytes>,
}

/// Reason why the bucket refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NoSuchUpload,
    InvalidPart,
    EntityTooSmall,
    Full,
}

/// Returns the `ETag` of the content.
pub fn etag(content: &[u8]) -> String {
    let mut mark = hex(digest(&SHA256, content).as_ref());
    mark.truncate(32);
    format!("\"{mark}\"")
}

impl Contents {
    fn has_room_for(&self, more: usize) -> bool {
        let parts = self.uploads.values().flat_map(|upload| upload.parts.values());
        let used: usize = self.objects.values().chain(parts).map(Bytes::len).sum();
        used.saturating_add(more) <= MAX_BYTES
    }
}

impl Storage {
    pub fn new(config: &SandboxConfig) -> Self {
        let account = Account {
            bucket: config.bucket.clone(),
            region: config.bucket_region.clone(),
            access_key: config.bucket_access_key.clone(),
            secret_key: config.bucket_secret_key.clone(),
        };
        Self { account, contents: Mutex::default() }
    }

    pub fn put(&self, key: &str, content: Bytes) -> Result<(), Refusal> {
        let mut contents = lock(&self.contents);
        if !contents.has_room_for(content.len()) {
            return Err(Refusal::Full);
        }
        contents.objects.insert(key.to_owned(), content);
        Ok(())
    }

    pub fn get(&self, key: &str) -> Option<Bytes> {
        lock(&self.contents).objects.get(key).cloned()
    }

    /// Returns the keys with this prefix and the sizes of their objects, in the order of the keys.
    pub fn list(&self, prefix: &str) -> Vec<(String, usize)> {
        let contents = lock(&self.contents);
        let found = contents.objects.iter().filter(|(key, _)| key.starts_with(prefix));
        found.map(|(key, content)| (key.clone(), content.len())).collect()
    }

    pub fn delete(&self, key: &str) {
        lock(&self.contents).objects.remove(key);
    }

    pub fn begin(&self, id: &str, key: &str) {
        let upload = Upload { key: key.to_owned(), parts: BTreeMap::new() };
        lock(&self.contents).uploads.insert(id.to_owned(), upload);
    }

    pub fn put_part(&self, id: &str, key: &str, number: u32, content: Bytes) -> Result<(), Refusal> {
        let mut contents = lock(&self.contents);
        if !contents.has_room_for(content.len()) {
            return Err(Refusal::Full);
        }
        let upload = contents.uploads.get_mut(id).filter(|upload| upload.key == key);
        upload.ok_or(Refusal::NoSuchUpload)?.parts.insert(number, content);
        Ok(())
    }

    /// Assembles an object from the named parts.
    pub fn complete(&self, id: &str, key: &str, named: &[(u32, String)]) -> Result<Bytes, Refusal> {
        let mut contents = lock(&self.contents);
        let upload = contents.uploads.get(id).filter(|upload| upload.key == key).ok_or(Refusal::NoSuchUpload)?;
        let mut content = Vec::new();
        for (place, (number, mark)) in named.iter().enumerate() {
            let part = upload.parts.get(number).filter(|part| etag(part) == *mark).ok_or(Refusal::InvalidPart)?;
            if place + 1 < named.len() && part.len() < MIN_PART_BYTES {
                return Err(Refusal::EntityTooSmall);
            }
            content.extend_from_slice(part);
        }
        let content = Bytes::from(content);
        contents.uploads.remove(id);
        contents.objects.insert(key.to_owned(), content.clone());
        Ok(content)
    }

    pub fn abort(&self, id: &str) -> Result<(), Refusal> {
        lock(&self.contents).uploads.remove(id).map(drop).ok_or(Refusal::NoSuchUpload)
    }

    /// Returns the contents of the bucket, for developers and tests.
    pub fn view(&self) -> Value {
        let contents = lock(&self.contents);
        let objects: Vec<Value> =
            contents.objects.iter().map(|(key, content)| json!({ "key": key, "size": content.len() })).collect();
        json!({ "objects": objects, "uploads": contents.uploads.len() })
    }
}

const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;
const OBJECT_TIME: &str = "Thu, 01 Jan 2026 00:00:00 GMT";
/// The same time in a listing.
const LISTED_TIME: &str = "2026-01-01T00:00:00.000Z";

/// `/s3/{bucket}` and `/s3/{bucket}/{key}`
pub fn routes(config: &mut ServiceConfig) {
    config.service(web::resource("/s3/{bucket}").wrap(from_fn(faults::storage)).default_service(web::to(serve_bucket)));
    config.service(
        web::resource("/s3/{bucket}/{key:.+}")
            .app_data(PayloadConfig::new(MAX_BODY_BYTES))
            .wrap(from_fn(faults::storage))
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
    sandbox_state: Data<SandboxState>,
    place: Path<(String, String)>,
    query: Query<HashMap<String, String>>,
    body: Bytes,
) -> HttpResponse {
    let storage = &sandbox_state.storage;
    if let Err(why) = check_signature(&call, &body, &storage.account) {
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
        (&Method::POST, None) if query.contains_key("uploads") => Ok(begin(&sandbox_state, &bucket, &key)),
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
    sandbox_state: Data<SandboxState>,
    bucket: Path<String>,
    query: Query<HashMap<String, String>>,
    body: Bytes,
) -> HttpResponse {
    let storage = &sandbox_state.storage;
    if let Err(why) = check_signature(&call, &body, &storage.account) {
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

fn begin(sandbox_state: &SandboxState, bucket: &str, key: &str) -> HttpResponse {
    let id = sandbox_state.chance.id();
    sandbox_state.storage.begin(&id, key);
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

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// Reason why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureError {
    /// No signature, or an unreadable one.
    Missing,
    /// The access key is unknown.
    UnknownKey,
    /// The request is signed with another key, or the signature is of another request.
    Wrong,
    /// The body is not the one that was signed.
    OtherBody,
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |text, byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => text + &char::from(byte).to_string(),
        byte => text + &format!("%{byte:02X}"),
    })
}

fn header<'a>(call: &'a HttpRequest, name: &str) -> Option<&'a str> {
    call.headers().get(name)?.to_str().ok()
}

/// Returns the value after `name=` among the comma-separated parts of the header.
fn part<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let parts = header.strip_prefix(ALGORITHM)?.split(',');
    parts.map(str::trim).find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

fn canonical_query(call: &HttpRequest) -> Option<String> {
    let pairs = Query::<Vec<(String, String)>>::from_query(call.query_string()).ok()?.into_inner();
    let mut pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.sort_unstable();
    Some(pairs.join("&"))
}

fn canonical_headers(call: &HttpRequest, names: &str) -> String {
    names.split(';').fold(String::new(), |text, name| {
        let values: Vec<String> = call
            .headers()
            .get_all(name)
            .filter_map(|value| value.to_str().ok())
            .map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        text + &format!("{name}:{}\n", values.join(","))
    })
}

/// Checks the signature of a request with this body.
fn check_signature(call: &HttpRequest, body: &[u8], account: &Account) -> Result<(), SignatureError> {
    let authorization = header(call, "authorization").ok_or(SignatureError::Missing)?;
    let signed = || {
        let credential = part(authorization, "Credential")?;
        Some((credential, part(authorization, "SignedHeaders")?, part(authorization, "Signature")?))
    };
    let (credential, names, signature) = signed().ok_or(SignatureError::Missing)?;
    let (access_key, scope) = credential.split_once('/').ok_or(SignatureError::Missing)?;
    if access_key != account.access_key {
        return Err(SignatureError::UnknownKey);
    }
    let date = scope.split('/').next().unwrap_or_default();
    let moment = header(call, "x-amz-date").filter(|moment| moment.starts_with(date)).ok_or(SignatureError::Missing)?;
    if scope != format!("{date}/{}/s3/aws4_request", account.region) {
        return Err(SignatureError::Wrong);
    }
    let content = header(call, "x-amz-content-sha256").ok_or(SignatureError::Missing)?;
    let query = canonical_query(call).ok_or(SignatureError::Missing)?;
    let request =
        [call.method().as_str(), call.uri().path(), &query, &canonical_headers(call, names), names, content].join("\n");
    let text = [ALGORITHM, moment, scope, &sha256(request.as_bytes())].join("\n");
    let secret = format!("AWS4{}", account.secret_key);
    let key = scope.split('/').fold(secret.into_bytes(), |key, word| {
        hmac::sign(&Key::new(HMAC_SHA256, &key), word.as_bytes()).as_ref().to_vec()
    });
    if hex(hmac::sign(&Key::new(HMAC_SHA256, &key), text.as_bytes()).as_ref()) != signature {
        return Err(SignatureError::Wrong);
    }
    let same = content == "UNSIGNED-PAYLOAD" || content == sha256(body);
    if same { Ok(()) } else { Err(SignatureError::OtherBody) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage() -> Storage {
        let clock = std::sync::Arc::new(kontor_kernel::FixedClock::at(chrono::DateTime::UNIX_EPOCH));
        Storage::new(&SandboxConfig::new(clock))
    }

    #[test]
    fn an_upload_is_made_of_the_parts_that_are_named() {
        let storage = storage();
        let (large, small) = (Bytes::from(vec![1; MIN_PART_BYTES]), Bytes::from_static(b"end"));
        storage.begin("u", "k");
        storage.put_part("u", "k", 1, large.clone()).unwrap();
        storage.put_part("u", "k", 2, small.clone()).unwrap();
        assert_eq!(storage.put_part("u", "other", 3, small.clone()), Err(Refusal::NoSuchUpload));
        let (one, two) = ((1, etag(&large)), (2, etag(&small)));
        assert_eq!(storage.complete("u", "k", &[two.clone(), one.clone()]), Err(Refusal::EntityTooSmall));
        assert_eq!(storage.complete("u", "k", &[(1, etag(&small))]), Err(Refusal::InvalidPart));
        assert_eq!(storage.complete("u", "k", &[one, two]).unwrap().len(), MIN_PART_BYTES + 3);
        assert_eq!(storage.abort("u"), Err(Refusal::NoSuchUpload));
        storage.delete("k");
        assert_eq!(storage.view(), json!({ "objects": [], "uploads": 0 }));
    }

    #[test]
    fn named_parts_are_read() {
        let text = "<CompleteMultipartUpload><Part><ETag>&quot;a&quot;</ETag><PartNumber>1</PartNumber></Part>\
            <Part><PartNumber>2</PartNumber><ETag>\"b\"</ETag></Part></CompleteMultipartUpload>";
        assert_eq!(parts(text), Some(vec![(1, "\"a\"".to_owned()), (2, "\"b\"".to_owned())]));
        assert_eq!(parts("<Part><PartNumber>x</PartNumber></Part>"), None);
    }
}
