//! Request bodies and query strings. All wrong fields are reported together. A body may have the shape of a record: an
//! object replaces its id, an empty text replaces `null`.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};
use deserr::Deserr;
use kontor_kernel::Violations;
use serde_json::{Map, Value};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{IntoParams, PartialSchema};

use super::ApiError;
use super::wire::{self, InputErrors, violations_of};

/// JSON body. Empty texts count as `null`, and a record may replace its id.
pub struct Body<T>(pub T);

impl<T: Deserr<InputErrors> + PartialSchema + 'static> FromRequest for Body<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let media = media_type(request);
        let is_json = media == "application/json" || (media.starts_with("application/") && media.ends_with("+json"));
        let bytes = Bytes::from_request(request, payload);
        Box::pin(async move {
            let bytes = bytes.await.map_err(|error| unreadable(&error))?;
            // An operation whose fields are all optional also accepts an absent body.
            let no_body = media.is_empty() && bytes.is_empty();
            if !is_json && !no_body {
                return Err(unsupported("application/json"));
            }
            let mut value = if bytes.is_empty() {
                Value::Object(Map::new())
            } else {
                serde_json::from_slice(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes))
                    .map_err(|error| ApiError::bad_request(format!("The body is not valid JSON: {error}")))?
            };
            blank_to_null(&mut value);
            ids_of_objects::<T>(&mut value);
            Ok(Self(violations_of(value)?))
        })
    }
}

/// Body of an HTML form, `application/x-www-form-urlencoded`.
pub struct Form<T>(pub T);

impl<T: Deserr<InputErrors> + 'static> FromRequest for Form<T> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let media = media_type(request);
        let bytes = Bytes::from_request(request, payload);
        Box::pin(async move {
            let bytes = bytes.await.map_err(|error| unreadable(&error))?;
            let no_body = media.is_empty() && bytes.is_empty();
            if media != FORM && !no_body {
                return Err(unsupported(FORM));
            }
            Ok(Self(fields(&bytes).and_then(violations_of)?))
        })
    }
}

/// UTF-8 byte order mark. Some programs write it before JSON.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

const FORM: &str = "application/x-www-form-urlencoded";

/// Returns the media type of the body in lower case, without parameters; empty if there is none.
fn media_type(request: &HttpRequest) -> String {
    let content_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Converts the error of a body that could not be read.
pub(super) fn unreadable(error: &actix_web::Error) -> ApiError {
    if error.as_response_error().status_code() == StatusCode::PAYLOAD_TOO_LARGE {
        ApiError::Message(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large.".to_owned())
    } else {
        ApiError::bad_request("The body could not be read.")
    }
}

/// Rejects a compressed body.
pub fn refuse_compressed(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_plain = |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"identity");
    if headers.get_all(CONTENT_ENCODING).all(is_plain) {
        return Ok(());
    }
    let message = "The body must not be compressed. Send it without `Content-Encoding`.".to_owned();
    Err(ApiError::Message(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

fn unsupported(expected: &str) -> ApiError {
    ApiError::Message(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("The body must be {expected}."))
}

/// Query string: `a=1`, `a[]=1&a[]=2` or `a[0]=1&a[1]=2`.
pub struct Query<T>(pub T);

impl<T: Deserr<InputErrors>> FromRequest for Query<T> {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        std::future::ready(
            fields(request.query_string().as_bytes()).and_then(violations_of).map(Self).map_err(ApiError::Invalid),
        )
    }
}

/// Query string of a list without pages. `page` and `per_page` are ignored, even if they are invalid.
pub struct Unpaged<T>(pub T);

impl<T: Deserr<InputErrors>> FromRequest for Unpaged<T> {
    type Error = ApiError;
    type Future = std::future::Ready<Result<Self, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let pairs = form_urlencoded::parse(request.query_string().as_bytes());
        let rest = pairs.filter(|(key, _)| !matches!(&**key, "page" | "per_page"));
        let read = collect_fields(rest).and_then(|fields| violations_of(Value::Object(fields)));
        std::future::ready(read.map(Self).map_err(ApiError::Invalid))
    }
}

/// Query of a write that supports a dry run.
#[derive(Deserr, IntoParams)]
#[deserr(error = InputErrors, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DryRun {
    /// `1` returns the result of the call without writing anything.
    #[deserr(default)]
    #[param(value_type = Option<bool>)]
    dry_run: Option<wire::Flag>,
}

impl DryRun {
    /// Returns `true` if the request is a dry run.
    pub fn is_set(&self) -> bool {
        self.dry_run.as_ref().is_some_and(|flag| flag.0)
    }
}

fn fields(pairs: &[u8]) -> Result<Value, Violations> {
    fields_of_pairs(pairs).map(Value::Object)
}

/// Returns the fields of a query string or form, each with its text or list of texts.
pub fn fields_of_pairs(pairs: &[u8]) -> Result<Map<String, Value>, Violations> {
    collect_fields(form_urlencoded::parse(pairs))
}

fn collect_fields<'a>(
    pairs: impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)>,
) -> Result<Map<String, Value>, Violations> {
    let mut fields = Map::new();
    let mut violations = Violations::default();
    let mut places = HashSet::new();
    for (key, value) in pairs {
        let numbered = list_index(&key);
        if numbered.is_some_and(|(list, place)| !places.insert((list.to_owned(), place))) {
            violations.add(key, "must be sent only once");
        } else if let Some(key) = key.strip_suffix("[]").or(numbered.map(|(list, _)| list)) {
            let list = fields.entry(key).or_insert_with(|| Value::Array(Vec::new()));
            match list {
                Value::Array(list) => list.push(Value::String(value.into_owned())),
                _ => violations.add(key, "must be sent either as one value or as a list"),
            }
        } else if fields.insert(key.clone().into_owned(), Value::String(value.into_owned())).is_some() {
            violations.add(key, "must be sent only once");
        }
    }
    violations.into_result().map(|()| fields)
}

/// Splits `a[0]` into list name and index, as some languages write lists. Only the order of arrival counts.
fn list_index(key: &str) -> Option<(&str, u16)> {
    let (list, place) = key.strip_suffix(']')?.split_once('[')?;
    Some((list, place.parse().ok()?))
}

/// Replaces blank texts by `null`.
pub fn blank_to_null(value: &mut Value) {
    match value {
        Value::String(text) if text.trim().is_empty() => *value = Value::Null,
        Value::Array(values) => values.iter_mut().for_each(blank_to_null),
        Value::Object(fields) => fields.values_mut().for_each(blank_to_null),
        _ => {}
    }
}

/// Field names of request bodies, by type. Cached, because building a schema costs more than reading a cart.
static FIELDS: RwLock<BTreeMap<TypeId, Arc<BTreeSet<String>>>> = RwLock::new(BTreeMap::new());

fn fields_of<T: PartialSchema + 'static>() -> Arc<BTreeSet<String>> {
    let known = FIELDS.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()).cloned();
    known.unwrap_or_else(|| {
        let fields = match T::schema() {
            RefOr::T(Schema::Object(schema)) => schema.properties.into_keys().collect(),
            _ => BTreeSet::new(),
        };
        let fields = Arc::new(fields);
        FIELDS.write().unwrap_or_else(PoisonError::into_inner).insert(TypeId::of::<T>(), Arc::clone(&fields));
        fields
    })
}

/// Adds `branch_id` for `branch: {"id": 3}`, and `tag_ids` for `tags: [{"id": 3}]`. A field that is already present
/// wins.
pub fn ids_of_objects<T: PartialSchema + 'static>(body: &mut Value) {
    let Value::Object(body) = body else { return };
    if !body.values().any(is_record_or_null) {
        return;
    }
    let fields = fields_of::<T>();
    let mut added = Map::new();
    for (field, value) in body.iter().filter(|(field, value)| is_record_or_null(value) && !fields.contains(*field)) {
        if let Some(target) = id_field(field, value).filter(|target| fields.contains(target))
            && !body.contains_key(&target)
        {
            added.insert(target, value.clone());
        }
    }
    body.extend(added);
}

/// Returns `true` for records, lists of records, and `null`.
fn is_record_or_null(value: &Value) -> bool {
    match value {
        Value::Null | Value::Object(_) => true,
        Value::Array(values) => values.iter().all(Value::is_object),
        _ => false,
    }
}

/// Returns the name of the id field that corresponds to a record field.
fn id_field(field: &str, value: &Value) -> Option<String> {
    if value.is_array() { Some(format!("{}_ids", field.strip_suffix('s')?)) } else { Some(format!("{field}_id")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use utoipa::ToSchema;

    use super::*;

    #[test]
    fn lists_and_single_values_are_distinguished() {
        assert_eq!(fields(b"a=1&b[]=2&b[]=3").unwrap(), json!({"a": "1", "b": ["2", "3"]}));
        assert_eq!(fields(b"q=%D1%81%D1%82%D0%BE%D0%BB").unwrap(), json!({"q": "стол"}));
        assert!(fields(b"a=1&a=2").is_err());
        assert!(fields(b"a=1&a[]=2").is_err());
        assert_eq!(fields(b"a[0]=1&a[1]=2&b%5B0%5D=3").unwrap(), json!({"a": ["1", "2"], "b": ["3"]}));
        for refused in ["a[0]=1&a[0]=2", "a=1&a[0]=2", "a[0]=1&a=2"] {
            assert!(fields(refused.as_bytes()).is_err(), "{refused}");
        }
        assert_eq!(fields(b"a[x]=1&a[-1]=2").unwrap(), json!({"a[x]": "1", "a[-1]": "2"}));
    }

    #[derive(Deserr, ToSchema)]
    #[expect(dead_code, reason = "its fields are what the schema is made of")]
    struct Fields {
        name: String,
        branch_id: Option<i64>,
        tag_ids: Vec<i64>,
        city: String,
        city_id: Option<i64>,
    }

    #[test]
    fn records_stand_for_their_ids() {
        let record = json!({ "id": 3, "name": "A" });
        for (body, added) in [
            (json!({ "branch": record }), json!({ "branch_id": record })),
            (json!({ "branch": null }), json!({ "branch_id": null })),
            (json!({ "branch": record, "branch_id": 4 }), json!({})),
            (json!({ "tags": [record] }), json!({ "tag_ids": [record] })),
            (json!({ "tags": [] }), json!({ "tag_ids": [] })),
            (json!({ "city": null, "country": record }), json!({})),
        ] {
            let (mut read, mut expected) = (body.clone(), body);
            ids_of_objects::<Fields>(&mut read);
            expected.as_object_mut().unwrap().extend(added.as_object().unwrap().clone());
            assert_eq!(read, expected);
        }
    }

    #[test]
    fn texts_of_blanks_are_none() {
        let mut body = json!({ "a": " \u{a0}", "b": [{ "c": "" }], "d": " x " });
        blank_to_null(&mut body);
        assert_eq!(body, json!({ "a": null, "b": [{ "c": null }], "d": " x " }));
    }
}
