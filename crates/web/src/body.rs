//! Request bodies and query strings. All wrong fields are reported together.

use std::borrow::Cow;
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;

use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest, dev::Payload};
use deserr::Deserr;
use kontor_kernel::Violations;
use serde_json::{Map, Value};
use utoipa::{IntoParams, PartialSchema};

use super::ApiError;
use super::as_read::{blank_to_null, ids_of_objects};
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_and_single_values_are_told_apart() {
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
}
