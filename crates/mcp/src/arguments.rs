//! Arguments of a tool, and the request that they make.

use actix_web::http::Method;
use bytes::Bytes;
use form_urlencoded::Serializer;
use kontor_kernel::Violations;
use serde_json::{Map, Value, json};

use crate::api::{ApiBody, ApiRequest, Headers};
use crate::protocol::with;

/// Name of the argument with the idempotency key.
pub const KEY: &str = "idempotency_key";
/// Name of the argument with the hash of the preview that the call is for.
pub const PREVIEW_HASH: &str = "preview_hash";
/// Name of the argument with the version of the record that the call is for.
pub const TAG: &str = "etag";
/// Name of the argument that asks for a preview.
pub const DRY_RUN: &str = "dry_run";
/// Boundary of the parts of a form. No part may contain it.
const BOUNDARY: &str = "kontor-mcp-5b1f7c2e";

/// Form of the body of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// No body.
    None,
    /// JSON object.
    Json,
    /// Multipart form with a table.
    Table,
}

/// Place of an argument in the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Placeholder of the path.
    Path(&'static str),
    /// Parameter of the query string.
    Query(String),
    /// Field of the body.
    Body,
    /// Text of the table.
    Table,
    /// Beside the request: a flag that asks for its rehearsal.
    Rehearsal,
}

/// Argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Name.
    pub name: &'static str,
    /// Place in the request.
    pub place: Place,
    /// JSON Schema.
    pub schema: Value,
    /// `true` if a call without it is refused.
    pub is_required: bool,
}

impl Argument {
    /// Returns the name in the request.
    pub fn sent_as(&self) -> &str {
        match &self.place {
            Place::Path(placeholder) => placeholder,
            Place::Query(name) => name,
            Place::Body | Place::Rehearsal => self.name,
            Place::Table => "file",
        }
    }
}

/// Arguments of a tool with the operation that takes them.
#[derive(Debug)]
pub struct Arguments {
    /// Method.
    pub method: Method,
    /// Path template.
    pub path: String,
    /// Form of the body.
    pub form: Form,
    /// `true` if the operation takes an idempotency key.
    pub takes_key: bool,
    /// `true` if the operation takes the version of its record.
    pub takes_tag: bool,
    /// Arguments, except for those that become headers.
    pub arguments: Vec<Argument>,
}

/// Parts of a request while it is made.
struct Parts {
    path: String,
    query: Serializer<'static, String>,
    body: Map<String, Value>,
    table: Option<String>,
}

impl Arguments {
    /// Returns `true` if a preview names the key of the call: the operation has one, and takes a key.
    pub fn names_key(&self) -> bool {
        self.takes_key && self.arguments.iter().any(|argument| argument.name == DRY_RUN)
    }

    /// Returns `true` if the preview is a rehearsal: the operation has no dry run of its own.
    pub fn is_rehearsed(&self) -> bool {
        self.arguments.iter().any(|argument| argument.place == Place::Rehearsal)
    }

    /// Returns the names of the arguments that become headers.
    fn headers(&self) -> impl Iterator<Item = &'static str> {
        let all = [(KEY, self.takes_key), (PREVIEW_HASH, self.names_key()), (TAG, self.takes_tag)];
        all.into_iter().filter_map(|(name, is_taken)| is_taken.then_some(name))
    }

    /// Returns the JSON Schema of the arguments.
    pub fn schema(&self) -> Value {
        let own = self.arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema.clone()));
        let headers = self.headers().map(|name| (name.to_owned(), json!({ "type": "string" })));
        let properties: Map<String, Value> = own.chain(headers).collect();
        let required = self.arguments.iter().filter(|argument| argument.is_required).map(|argument| argument.name);
        let required: Vec<&str> = required.collect();
        let schema = json!({ "type": "object", "properties": properties });
        if required.is_empty() { schema } else { with(schema, "required", json!(required)) }
    }

    /// Makes the request. Unknown, missing and unfit arguments are named together; the API checks the values.
    pub fn request(&self, given: &Map<String, Value>) -> Result<ApiRequest, Violations> {
        let mut wrong = Violations::default();
        let is_known = |name: &str| {
            self.headers().any(|header| header == name) || self.arguments.iter().any(|argument| argument.name == name)
        };
        for name in given.keys().filter(|name| !is_known(name)) {
            wrong.add(name.as_str(), "is not an argument of this tool");
        }
        let query = Serializer::new(String::new());
        let mut parts = Parts { path: self.path.clone(), query, body: Map::new(), table: None };
        for argument in &self.arguments {
            match given.get(argument.name) {
                Some(value) => {
                    wrong.check(argument.name, parts.put(argument, value, self.form));
                }
                None if argument.is_required => wrong.add(argument.name, "is required"),
                None => {}
            }
        }
        let mut header = |name: &str| {
            let value = given.get(name).filter(|value| !value.is_null());
            let text = value.map(|value| value.as_str().map(str::to_owned).ok_or("must be a string")).transpose();
            wrong.check(name, text).flatten()
        };
        let headers =
            Headers { idempotency_key: header(KEY), preview_hash: header(PREVIEW_HASH), if_match: header(TAG) };
        wrong.into_result()?;
        Ok(parts.into_request(self, headers))
    }
}

/// Returns `true` if a value asks for a preview.
pub fn is_set(value: &Value) -> bool {
    [json!(true), json!(1), json!("1")].contains(value)
}

/// Returns `true` if a value asks for a preview or for the call itself.
fn is_flag(value: &Value) -> bool {
    is_set(value) || [json!(null), json!(false), json!(0), json!("0")].contains(value)
}

/// Returns the text of a value in a path, a query string or a form.
fn text(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(flag) => Ok(u8::from(*flag).to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err("must be one value"),
    }
}

/// Returns a text that may be a part of a form.
fn part(text: String) -> Result<String, &'static str> {
    if text.contains(BOUNDARY) { Err("must not contain the boundary of a form") } else { Ok(text) }
}

impl Parts {
    fn put(&mut self, argument: &Argument, value: &Value, form: Form) -> Result<(), &'static str> {
        match (&argument.place, value) {
            (Place::Path(placeholder), _) => {
                let id = value.as_i64().or_else(|| value.as_str()?.parse().ok()).ok_or("must be a whole number")?;
                self.path = self.path.replace(&format!("{{{placeholder}}}"), &id.to_string());
            }
            // As if it were not sent: a query string has no `null`.
            (Place::Query(_), Value::Null) => {}
            (Place::Query(name), Value::Array(values)) if name.ends_with("[]") => {
                for value in values {
                    self.query.append_pair(name, &text(value)?);
                }
            }
            (Place::Query(name), _) => {
                self.query.append_pair(name, &text(value)?);
            }
            (Place::Body, Value::Null) if form == Form::Table => {}
            (Place::Body, _) if form == Form::Table => {
                self.body.insert(argument.name.to_owned(), part(text(value)?)?.into());
            }
            (Place::Body, _) => {
                self.body.insert(argument.name.to_owned(), value.clone());
            }
            // Another value must not turn a preview into the call.
            (Place::Rehearsal, _) => {
                is_flag(value).then_some(()).ok_or("must be a boolean")?;
            }
            (Place::Table, _) => self.table = Some(part(value.as_str().ok_or("must be a string")?.to_owned())?),
        }
        Ok(())
    }

    fn into_request(mut self, arguments: &Arguments, headers: Headers) -> ApiRequest {
        let query = self.query.finish();
        let path = if query.is_empty() { self.path } else { format!("{}?{query}", self.path) };
        let body = match arguments.form {
            Form::None => None,
            Form::Json => {
                let bytes = Bytes::from(Value::Object(self.body).to_string());
                Some(ApiBody { content_type: "application/json".to_owned(), bytes })
            }
            Form::Table => Some(table(&self.table.unwrap_or_default(), &self.body)),
        };
        ApiRequest { method: arguments.method.clone(), path, headers, body, is_rehearsal: false }
    }
}

/// Returns a multipart form with a table and texts.
fn table(csv: &str, texts: &Map<String, Value>) -> ApiBody {
    let texts = texts.iter().filter_map(|(name, text)| Some((format!("name=\"{name}\"\r\n"), text.as_str()?)));
    let file = "name=\"file\"; filename=\"table.csv\"\r\nContent-Type: text/csv\r\n".to_owned();
    let parts = texts.chain([(file, csv)]);
    let parts =
        parts.map(|(head, text)| format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n{text}\r\n"));
    let body = parts.chain([format!("--{BOUNDARY}--\r\n")]).collect::<String>();
    ApiBody { content_type: format!("multipart/form-data; boundary={BOUNDARY}"), bytes: Bytes::from(body) }
}
