//! Parsing of control requests, with errors that name the field.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, ResponseError};
use serde_json::{Map, Value};

use crate::server;

/// Reason why a control request is rejected.
#[derive(Debug, PartialEq, Eq)]
pub enum Wrong {
    /// 400: not JSON, or not an object.
    Malformed(String),
    /// 422: a field is wrong; the text begins with its name.
    Field(String),
    /// 404: there is no such object.
    Unknown(&'static str),
    /// 409: the object's state does not allow it.
    Conflict(String),
}

impl Wrong {
    pub fn field(name: &str, problem: impl fmt::Display) -> Self {
        Self::Field(format!("{name}: {problem}"))
    }

    /// Combines several field errors into one.
    pub fn all(wrong: &[Self]) -> Self {
        Self::Field(wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }

    /// Prefixes the error with the name of the outer field.
    #[must_use]
    pub fn within(self, name: &str) -> Self {
        match self {
            Self::Field(text) => Self::Field(format!("{name}.{text}")),
            other => other,
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(text) | Self::Field(text) | Self::Conflict(text) => f.write_str(text),
            Self::Unknown(what) => write!(f, "there is no such {what}"),
        }
    }
}

impl ResponseError for Wrong {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Field(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unknown(_) => StatusCode::NOT_FOUND,
            Self::Conflict(_) => StatusCode::CONFLICT,
        }
    }

    fn error_response(&self) -> HttpResponse {
        server::message(self.status_code(), &self.to_string())
    }
}

/// The fields of a control request.
pub struct Input(Map<String, Value>);

impl Input {
    /// Reads a JSON object that has no other fields than `known`. An empty body is an empty object.
    pub fn read(body: &[u8], known: &[&str]) -> Result<Self, Wrong> {
        Self::of(Self::loose(body)?.0, known)
    }

    /// Reads a JSON object that may have any fields; [`Input::unknown`] returns an error for each unknown one.
    pub fn loose(body: &[u8]) -> Result<Self, Wrong> {
        if body.trim_ascii().is_empty() {
            return Ok(Self(Map::new()));
        }
        let value =
            serde_json::from_slice(body).map_err(|error| Wrong::Malformed(format!("malformed JSON: {error}")))?;
        let Value::Object(fields) = value else { return Err(Wrong::Malformed("a JSON object is expected".to_owned())) };
        Ok(Self(fields))
    }

    /// Returns an error for each field that is not in `known`.
    pub fn unknown(&self, known: &[&str]) -> Vec<Wrong> {
        let unexpected = self.0.keys().filter(|name| !known.contains(&name.as_str()));
        unexpected.map(|name| Wrong::field(name, format!("unknown field; known are {}", known.join(", ")))).collect()
    }

    fn of(fields: Map<String, Value>, known: &[&str]) -> Result<Self, Wrong> {
        let input = Self(fields);
        match input.unknown(known).into_iter().next() {
            Some(wrong) => Err(wrong),
            None => Ok(input),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Returns `true` if the field is present and not null.
    pub fn is_given(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns `true` if the field is present, even as null.
    pub fn mentions(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>, Wrong> {
        self.get(name).map(|value| value.as_str().ok_or_else(|| Wrong::field(name, "must be a text"))).transpose()
    }

    pub fn flag(&self, name: &str) -> Result<Option<bool>, Wrong> {
        self.get(name)
            .map(|value| value.as_bool().ok_or_else(|| Wrong::field(name, "must be true or false")))
            .transpose()
    }

    /// Reads a whole number between `least` and `most`.
    pub fn whole(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, Wrong> {
        self.get(name)
            .map(|value| {
                value
                    .as_u64()
                    .filter(|number| (least..=most).contains(number))
                    .ok_or_else(|| Wrong::field(name, format!("must be a whole number between {least} and {most}")))
            })
            .transpose()
    }

    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>, Wrong> {
        let read = |value: &Value| {
            let texts = value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        };
        self.get(name).map(|value| read(value).ok_or_else(|| Wrong::field(name, "must be a list of texts"))).transpose()
    }

    /// Reads a list of objects that have no other fields than `known`.
    pub fn objects(&self, name: &str, known: &[&str]) -> Result<Option<Vec<Self>>, Wrong> {
        let wrong = || Wrong::field(name, "must be a list of objects");
        let read = |(number, value): (usize, &Value)| {
            let fields = value.as_object().ok_or_else(wrong)?;
            Self::of(fields.clone(), known).map_err(|wrong| wrong.within(&format!("{name}[{number}]")))
        };
        self.get(name)
            .map(|value| value.as_array().ok_or_else(wrong)?.iter().enumerate().map(read).collect())
            .transpose()
    }

    /// Reads a string that is one of `names` and returns the value it names.
    pub fn one_of<T>(&self, name: &str, names: &[&str], find: impl Fn(&str) -> Option<T>) -> Result<Option<T>, Wrong> {
        let wrong = || Wrong::field(name, format!("must be one of {}", names.join(", ")));
        self.get(name).map(|value| value.as_str().and_then(&find).ok_or_else(wrong)).transpose()
    }
}

/// Returns an error if a required field is absent.
pub fn required<T>(name: &str, value: Option<T>) -> Result<T, Wrong> {
    value.ok_or_else(|| Wrong::field(name, "is required"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_name_the_field() {
        let wrong = |body: &str| {
            Input::read(body.as_bytes(), &["times"]).and_then(|input| input.whole("times", 1, 9)).unwrap_err()
        };
        assert!(matches!(wrong("{"), Wrong::Malformed(_)));
        assert!(matches!(wrong("[]"), Wrong::Malformed(_)));
        assert!(wrong(r#"{"time":1}"#).to_string().starts_with("time: unknown field"));
        for body in [r#"{"times":0}"#, r#"{"times":10}"#, r#"{"times":"1"}"#, r#"{"times":1.5}"#] {
            assert!(wrong(body).to_string().starts_with("times: must be"), "{body}");
        }
    }
}
