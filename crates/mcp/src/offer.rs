//! Tool with its operation: permissions, arguments and schemas.

use actix_web::http::Method;
use kontor_kernel::Permission;
use kontor_web::policy::{Access, Policy};
use serde_json::{Map, Value, json};

use crate::arguments::{Argument, Arguments, DRY_RUN, Form, Place};
use crate::schema::{Description, described, object_of, texts_of};
use crate::tools::{Class, Tool};

/// Field of a result that says that the call waits for approval.
pub const PENDING: &str = "pending_approval";

/// Tool that does not fit the API.
#[derive(Debug, thiserror::Error)]
#[error("the tool {tool}: {reason}")]
pub struct ToolMismatch {
    tool: &'static str,
    reason: String,
}

impl ToolMismatch {
    /// Creates the error of a resource that the API does not have.
    pub fn resource(path: &'static str) -> Self {
        Self { tool: "resources/read", reason: format!("agents have no operation GET {path}") }
    }
}

/// Tool as it is offered.
pub struct Offer {
    /// Declaration.
    pub tool: Tool,
    /// Permissions of the operation.
    pub permissions: &'static [Permission],
    /// Arguments.
    pub arguments: Arguments,
    /// Entry of the list of tools.
    pub listed: Value,
}

/// Returns the permissions of an operation, if employees and agents may call it.
pub fn permissions_of(policies: &[&'static Policy], operation: &str) -> Option<&'static [Permission]> {
    let (method, path) = operation.split_once(' ')?;
    let policy = policies.iter().find(|policy| policy.method.as_str() == method && policy.path == path)?;
    match policy.access {
        Access::Staff(permissions) => Some(permissions),
        _ => None,
    }
}

impl Offer {
    /// Combines a tool with its operation.
    pub fn of(tool: &Tool, api: Description<'_>, policies: &[&'static Policy]) -> Result<Self, ToolMismatch> {
        let mismatch = |reason: &str| ToolMismatch { tool: tool.name, reason: reason.to_owned() };
        let permissions = permissions_of(policies, tool.operation);
        let permissions = permissions.ok_or_else(|| mismatch("agents have no such operation"))?;
        let (method, path) = tool.operation.split_once(' ').ok_or_else(|| mismatch("no method"))?;
        let operation = api.operation(method, path).ok_or_else(|| mismatch("the operation is not described"))?;
        let verb = method.parse().map_err(|_| mismatch("the method is not valid"))?;
        let arguments = arguments(tool, api, operation, (verb, path)).map_err(|reason| mismatch(&reason))?;
        let listed = json!({
            "name": tool.name,
            "description": tool.about,
            "inputSchema": arguments.schema(),
            "outputSchema": output(tool, api, operation),
            "annotations": annotations(tool.class, method),
        });
        Ok(Self { tool: *tool, permissions, arguments, listed })
    }
}

/// Returns the hints for clients. They decide nothing here. The defaults of the protocol are left out, because the list
/// must stay short: a tool writes, is destructive and is not idempotent.
fn annotations(class: Class, method: &str) -> Value {
    let hints = match class {
        Class::Read => [("readOnlyHint", Some(true)), ("idempotentHint", None)],
        Class::Write => [("destructiveHint", Some(false)), ("idempotentHint", (method != "POST").then_some(true))],
        Class::Money | Class::Destructive => {
            [("destructiveHint", None), ("idempotentHint", (method != "POST").then_some(true))]
        }
    };
    let hints = hints.into_iter().filter_map(|(name, hint)| Some((name.to_owned(), Value::Bool(hint?))));
    Value::Object(hints.collect())
}

/// Returns the body of an operation: its form and schema.
fn body(api: Description<'_>, operation: &Map<String, Value>) -> (Form, Map<String, Value>) {
    let content = operation.get("requestBody").and_then(|body| body.get("content"));
    let schema = |kind: &str| content?.get(kind)?.get("schema").map(|schema| api.flat(schema));
    match (schema("application/json"), schema("multipart/form-data")) {
        (Some(body), _) => (Form::Json, body),
        (None, Some(body)) => (Form::Table, body),
        (None, None) => (Form::None, Map::new()),
    }
}

/// Finds every argument of a tool in the operation, the form of its body, and the headers that it takes. All that the
/// operation requires must be an argument.
fn arguments(
    tool: &Tool,
    api: Description<'_>,
    operation: &Map<String, Value>,
    (method, path): (Method, &str),
) -> Result<Arguments, String> {
    let (form, body) = body(api, operation);
    let parameters: Vec<&Value> = api.parameters(operation).collect();
    let named = |name: &str, place: &str| {
        let is_named = |parameter: &&&Value| parameter["name"] == name && parameter["in"] == place;
        parameters.iter().find(is_named).copied()
    };
    let mut found = Vec::new();
    for &(name, placeholder) in tool.ids {
        let parameter = named(placeholder, "path").ok_or_else(|| format!("no placeholder {placeholder}"))?;
        let schema = json!({ "type": parameter.pointer("/schema/type") });
        found.push(Argument { name, place: Place::Path(placeholder), schema, is_required: true });
    }
    let takes = |header: &str| tool.class != Class::Read && form != Form::Table && named(header, "header").is_some();
    let (takes_key, takes_tag) = (takes("Idempotency-Key"), method != Method::POST && takes("If-Match"));
    let previews = form == Form::Table || named(DRY_RUN, "query").is_some();
    for name in tool.takes.iter().copied().chain(previews.then_some(DRY_RUN)) {
        found.push(argument(name, api, (form, &body), named)?);
    }
    if tool.class != Class::Read && !previews {
        let schema = json!({ "type": "boolean" });
        found.push(Argument { name: DRY_RUN, place: Place::Rehearsal, schema, is_required: false });
    }
    let is_argument = |name: &str| found.iter().any(|argument| argument.sent_as() == name);
    let paths = parameters.iter().filter(|parameter| parameter["required"] == true);
    let required = paths.filter_map(|parameter| parameter["name"].as_str()).chain(texts_of(&body, "required"));
    let missing = required.filter(|name| !is_argument(name)).collect::<Vec<_>>().join(", ");
    if !missing.is_empty() {
        return Err(format!("the operation requires {missing}"));
    }
    Ok(Arguments { method, path: path.to_owned(), form, takes_key, takes_tag, arguments: found })
}

/// Finds a field of the body or a parameter of the query string.
fn argument<'a>(
    name: &'static str,
    api: Description<'_>,
    (form, body): (Form, &Map<String, Value>),
    named: impl Fn(&str, &str) -> Option<&'a Value>,
) -> Result<Argument, String> {
    if form == Form::Table && name == "csv" {
        let schema = json!({ "type": "string", "description": "Table as CSV with a header row." });
        return Ok(Argument { name, place: Place::Table, schema, is_required: true });
    }
    if form == Form::Table && name == DRY_RUN {
        return Ok(Argument { name, place: Place::Body, schema: json!({ "type": "boolean" }), is_required: false });
    }
    if let Some((_, field)) = object_of(body, "properties").find(|(field, _)| *field == name) {
        let is_required = texts_of(body, "required").any(|required| required == name);
        return Ok(Argument { name, place: Place::Body, schema: api.input(field).into(), is_required });
    }
    let list = format!("{name}[]");
    let (parameter, sent_as) = match (named(name, "query"), named(&list, "query")) {
        (Some(parameter), _) => (parameter, name.to_owned()),
        (None, Some(parameter)) => (parameter, list),
        (None, None) => return Err(format!("the operation has no field {name}")),
    };
    let mut schema = api.input(&parameter["schema"]);
    if name == DRY_RUN {
        schema.remove("description");
    } else {
        schema.extend(parameter["description"].as_str().and_then(described));
    }
    let is_required = parameter["required"] == true;
    Ok(Argument { name, place: Place::Query(sent_as), schema: schema.into(), is_required })
}

/// Returns the schema of results: one alternative per form of a successful response, and the pending approval.
fn output(tool: &Tool, api: Description<'_>, operation: &Map<String, Value>) -> Value {
    let mut alternatives: Vec<Map<String, Value>> = Vec::new();
    for (_, response) in object_of(operation, "responses").filter(|(status, _)| status.starts_with('2')) {
        let body = response.pointer("/content/application~1json/schema").unwrap_or(&Value::Null);
        let outline = api.outline(body, tool.shows);
        if !alternatives.contains(&outline) {
            alternatives.push(outline);
        }
    }
    if tool.class != Class::Read {
        alternatives.push([("required".to_owned(), json!([PENDING]))].into_iter().collect());
    }
    let mut schema = Map::new();
    match <[_; 1]>::try_from(alternatives) {
        Ok([only]) => schema.extend(only),
        Err(several) => {
            schema.insert("anyOf".to_owned(), json!(several));
        }
    }
    schema.insert("type".to_owned(), json!("object"));
    Value::Object(schema)
}
