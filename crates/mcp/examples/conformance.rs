//! Server with the tools, resources and prompts that the official conformance suite asks for.
//!
//! Versions, messages, headers, errors and methods are those of the product; only the content is a fixture. Some calls
//! notify or ask the client before they end. They are answered with a stream of events, which no tool of Kontor needs.
//!
//! usage: conformance PORT SECONDS

use std::collections::HashMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::http::header::ORIGIN;
use actix_web::rt;
use actix_web::rt::time::{sleep, timeout};
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use futures_util::stream;
use kontor_mcp::http::{is_own_origin, response};
use kontor_mcp::protocol::{
    Failure, INTERNAL_ERROR, INVALID_PARAMS, ProtocolVersion, Request, client_capabilities, input_required, meta, with,
};
use kontor_mcp::server::answer;
use kontor_mcp::{Content, Reply, Stop};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// Time that a client may take to answer a question.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two notifications.
const PAUSE: Duration = Duration::from_millis(50);
/// Tool that asks only what the client can answer.
const ADAPTABLE: &str = "test_input_required_result_capabilities";
/// Picture of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// Sound without a sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Name, description and text argument of each tool.
const TOOLS: &[(&str, &str, Option<&str>)] = &[
    ("test_simple_text", "Returns a text.", None),
    ("test_image_content", "Returns a picture.", None),
    ("test_audio_content", "Returns a sound.", None),
    ("test_embedded_resource", "Returns a resource.", None),
    ("test_multiple_content_types", "Returns a text, a picture and a resource.", None),
    ("test_error_handling", "Fails.", None),
    ("test_tool_with_logging", "Sends three log messages.", None),
    ("test_logging_tool", "Sends three log messages.", None),
    ("test_tool_with_progress", "Reports progress three times.", None),
    ("test_sampling", "Asks the model of the client.", Some("prompt")),
    ("test_missing_capability", "Asks the model of the client.", None),
    ("test_elicitation", "Asks the user for a name and an address.", Some("message")),
    ("test_streaming_elicitation", "Asks the user for a name.", None),
    ("test_elicitation_sep1034_defaults", "Asks the user in a form with default values.", None),
    ("test_elicitation_sep1330_enums", "Asks the user in a form with choices.", None),
    ("test_input_required_result_elicitation", "Asks the user for a name.", None),
    ("test_input_required_result_sampling", "Asks the model of the client.", None),
    ("test_input_required_result_list_roots", "Asks the client for its roots.", None),
    ("test_input_required_result_request_state", "Asks the user to confirm.", None),
    ("test_input_required_result_multiple_inputs", "Asks the user, the model and the client at once.", None),
    ("test_input_required_result_multi_round", "Asks the user twice.", None),
    ("test_input_required_result_tampered_state", "Asks the user to confirm.", None),
    (ADAPTABLE, "Asks the user or the model, as the client can.", None),
];

/// Event of the response to a message.
enum Event {
    /// Message to the client before the reply.
    Message(Value),
    /// Reply, which is the last event.
    Reply(Reply),
}

/// Calls that wait for the response of a client, by the id of their question.
#[derive(Default)]
struct Waiting {
    asked: AtomicU64,
    calls: Mutex<HashMap<u64, oneshot::Sender<Value>>>,
}

impl Waiting {
    fn calls(&self) -> MutexGuard<'_, HashMap<u64, oneshot::Sender<Value>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call. Returns the id of its question, and the response.
    fn add(&self) -> (u64, oneshot::Receiver<Value>) {
        let id = self.asked.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.calls().insert(id, sender);
        (id, receiver)
    }

    /// Hands a response to its call. Returns `false` if the message is no such response.
    fn resume(&self, body: &[u8]) -> bool {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        if message.get("method").is_some() {
            return false;
        }
        let call = message.get("id").and_then(Value::as_u64).and_then(|id| self.calls().remove(&id));
        call.is_some_and(|call| call.send(message).is_ok())
    }
}

/// Content of the suite for one message.
struct Fixture {
    events: UnboundedSender<Event>,
    waiting: Data<Waiting>,
}

impl Content for Fixture {
    fn about(&self) -> Value {
        json!({ "name": "kontor-conformance", "version": env!("CARGO_PKG_VERSION") })
    }

    fn instructions(&self) -> &'static str {
        "Tools, resources and prompts of the conformance suite."
    }

    fn capabilities(&self, version: ProtocolVersion) -> Value {
        let resources = if version == ProtocolVersion::Legacy { json!({ "subscribe": true }) } else { json!({}) };
        json!({ "tools": {}, "resources": resources, "prompts": {}, "completions": {}, "logging": {} })
    }

    fn tools(&self) -> Vec<Value> {
        let listed = |(name, about, argument): &(&str, &str, Option<&str>)| {
            let schema = match argument {
                Some(argument) => {
                    json!({ "type": "object", "properties": { *argument: { "type": "string" } }, "required": [argument] })
                }
                None => json!({ "type": "object" }),
            };
            json!({ "name": name, "description": about, "inputSchema": schema })
        };
        TOOLS.iter().map(listed).collect()
    }

    fn resources(&self) -> Vec<Value> {
        let listed = |name: &str, kind: &str| {
            let about = format!("Resource {name} of the suite.");
            json!({ "uri": format!("test://{name}"), "name": name, "description": about, "mimeType": kind })
        };
        vec![
            listed("static-text", "text/plain"),
            listed("static-binary", "image/png"),
            listed("watched-resource", "text/plain"),
        ]
    }

    fn templates(&self) -> Vec<Value> {
        vec![json!({
            "uriTemplate": "test://template/{id}/data",
            "name": "template",
            "description": "Resource of an id.",
            "mimeType": "application/json",
        })]
    }

    fn prompts(&self) -> Vec<Value> {
        let listed = |name: &str, about: &str, arguments: &[&str]| {
            let argument = |name: &&str| json!({ "name": name, "required": true });
            let arguments: Vec<Value> = arguments.iter().map(argument).collect();
            json!({ "name": name, "description": about, "arguments": arguments })
        };
        vec![
            listed("test_simple_prompt", "Prompt without arguments.", &[]),
            listed("test_prompt_with_arguments", "Prompt with two arguments.", &["arg1", "arg2"]),
            listed("test_prompt_with_embedded_resource", "Prompt with a resource.", &["resourceUri"]),
            listed("test_prompt_with_image", "Prompt with a picture.", &[]),
            listed("test_input_required_result_prompt", "Prompt that asks the user.", &[]),
        ]
    }

    async fn call(&self, request: &Request) -> Result<Value, Stop> {
        if let Some(result) = fixed(request.text("name")) {
            return Ok(result);
        }
        match request.text("name") {
            "test_tool_with_logging" | "test_logging_tool" => Ok(self.log(request).await),
            "test_tool_with_progress" => Ok(self.progress(request).await),
            name => {
                let rounds = rounds(name, request);
                if rounds.is_empty() {
                    return Err(Failure::of(INVALID_PARAMS, format!("Unknown tool: {name}")).into());
                }
                self.ask(&rounds, request).await
            }
        }
    }

    async fn read(&self, request: &Request) -> Result<Value, Stop> {
        let uri = request.text("uri");
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri, id) {
            ("test://static-text", _) => json!({ "mimeType": "text/plain", "text": "Text of the static resource." }),
            ("test://watched-resource", _) => json!({ "mimeType": "text/plain", "text": "Text that may change." }),
            ("test://static-binary", _) => json!({ "mimeType": "image/png", "blob": PNG }),
            (_, Some(id)) => json!({ "mimeType": "application/json", "text": json!({ "id": id }).to_string() }),
            _ => return Err(Failure::unknown_resource(request.version, uri).into()),
        };
        Ok(json!({ "contents": [with_uri(content, uri)] }))
    }

    fn prompt(&self, request: &Request) -> Result<Value, Stop> {
        let contents = match request.text("name") {
            "test_simple_prompt" => vec![words("This is a simple prompt.")],
            "test_prompt_with_arguments" => {
                let (first, second) = (argument(request, "arg1"), argument(request, "arg2"));
                vec![words(&format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
            }
            "test_prompt_with_embedded_resource" => {
                vec![embedded(argument(request, "resourceUri")), words("Process the resource.")]
            }
            "test_prompt_with_image" => vec![picture(), words("Describe the picture.")],
            "test_input_required_result_prompt" if request.version == ProtocolVersion::Modern => {
                let question = form("Which context should the prompt use?", json!({ "context": { "type": "string" } }));
                if let Some(open) = open(&[json!({ "user_context": question })], request)? {
                    return Ok(open);
                }
                vec![words(&format!("Prompt with answers: {}", answers(request)))]
            }
            name => return Err(Failure::of(INVALID_PARAMS, format!("Unknown prompt: {name}")).into()),
        };
        let message = |content: Value| json!({ "role": "user", "content": content });
        Ok(json!({ "messages": contents.into_iter().map(message).collect::<Vec<_>>() }))
    }

    fn other(&self, request: &Request) -> Result<Value, Stop> {
        match (request.version, request.method.as_str()) {
            (_, "completion/complete") => Ok(json!({ "completion": { "values": [], "total": 0, "hasMore": false } })),
            // Without sessions, neither a level nor a subscription outlives its request.
            (ProtocolVersion::Legacy, "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe") => {
                Ok(json!({}))
            }
            (version, method) => Err(Failure::unknown_method(version, method).into()),
        }
    }
}

impl Fixture {
    fn send(&self, event: Event) {
        // A client that is gone needs no event.
        drop(self.events.send(event));
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Event::Message(json!({ "jsonrpc": "2.0", "method": method, "params": params })));
    }

    /// Logs in three steps. A client of 2026-07-28 gets messages only if it names a level.
    async fn log(&self, request: &Request) -> Value {
        let is_wanted = request.version == ProtocolVersion::Legacy || meta(&request.params, "logLevel").is_some();
        for step in ["started", "processing data", "completed"] {
            if is_wanted {
                self.notify("notifications/message", json!({ "level": "info", "data": format!("Tool: {step}") }));
            }
            sleep(PAUSE).await;
        }
        text("The tool has logged.")
    }

    /// Reports progress in three steps, if the client wants it.
    async fn progress(&self, request: &Request) -> Value {
        let token = request.params.get("_meta").and_then(|meta| meta.get("progressToken"));
        for progress in [0, 50, 100] {
            if let Some(token) = token {
                let params = json!({ "progressToken": token, "progress": progress, "total": 100 });
                self.notify("notifications/progress", params);
            }
            sleep(PAUSE).await;
        }
        text("The tool has reported its progress.")
    }

    /// Asks the client all questions: in 2026-07-28 by the result, in 2025-11-25 by requests of the server.
    async fn ask(&self, rounds: &[Value], request: &Request) -> Result<Value, Stop> {
        if request.version == ProtocolVersion::Modern {
            let open = open(rounds, request)?;
            return Ok(open.unwrap_or_else(|| text(&format!("state-ok, answers: {}", answers(request)))));
        }
        let mut answers = Map::new();
        for (key, question) in rounds.iter().filter_map(Value::as_object).flatten() {
            answers.insert(key.clone(), self.answer_of(question).await?);
        }
        Ok(text(&format!("Answers: {}", Value::Object(answers))))
    }

    /// Sends a request to the client and returns its result.
    async fn answer_of(&self, question: &Value) -> Result<Value, Stop> {
        let (id, response) = self.waiting.add();
        let (method, params) = (&question["method"], &question["params"]);
        self.send(Event::Message(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })));
        let response = timeout(PATIENCE, response).await.ok().and_then(Result::ok);
        let result = response.and_then(|mut response| response.get_mut("result").map(Value::take));
        result.ok_or_else(|| Failure::of(INTERNAL_ERROR, "The client gave no result.").into())
    }
}

/// Returns the argument of a request, or an empty text without it.
fn argument<'a>(request: &'a Request, name: &str) -> &'a str {
    let given = request.params.get("arguments").and_then(|arguments| arguments.get(name)?.as_str());
    given.unwrap_or_default()
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn picture() -> Value {
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
}

fn with_uri(content: Value, uri: &str) -> Value {
    with(content, "uri", json!(uri))
}

fn embedded(uri: &str) -> Value {
    let resource = json!({ "mimeType": "text/plain", "text": "Text of an embedded resource." });
    json!({ "type": "resource", "resource": with_uri(resource, uri) })
}

fn text(text: &str) -> Value {
    json!({ "content": [words(text)] })
}

/// Returns the result of a tool that always has the same.
fn fixed(name: &str) -> Option<Value> {
    let result = match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => json!({ "content": [picture()] }),
        "test_audio_content" => json!({ "content": [{ "type": "audio", "data": WAV, "mimeType": "audio/wav" }] }),
        "test_embedded_resource" => json!({ "content": [embedded("test://embedded-resource")] }),
        "test_multiple_content_types" => {
            json!({ "content": [words("Several types:"), picture(), embedded("test://mixed-content-resource")] })
        }
        "test_error_handling" => json!({ "content": [words("This tool fails.")], "isError": true }),
        _ => return None,
    };
    Some(result)
}

/// Returns the question that shows the user a form in which every field is required.
fn form(message: &str, fields: Value) -> Value {
    let required: Vec<&String> = fields.as_object().into_iter().flat_map(Map::keys).collect();
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
}

/// Returns the question to the model of the client.
fn sampling(text: &str) -> Value {
    let message = json!({ "role": "user", "content": words(text) });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

/// Returns the questions of a tool by round, each with its key; a tool that asks nothing has no round.
fn rounds(name: &str, request: &Request) -> Vec<Value> {
    let string = json!({ "type": "string" });
    let user_name = || form("What is your name?", json!({ "name": string }));
    let confirmation = || form("Please confirm.", json!({ "ok": { "type": "boolean" } }));
    let roots = json!({ "method": "roots/list", "params": {} });
    match name {
        "test_sampling" => vec![json!({ "answer": sampling(argument(request, "prompt")) })],
        "test_missing_capability" => vec![json!({ "answer": sampling("Say hello.") })],
        "test_elicitation" => {
            let fields = json!({ "username": string, "email": string });
            vec![json!({ "answer": form(argument(request, "message"), fields) })]
        }
        "test_elicitation_sep1034_defaults" => vec![json!({ "answer": form("Check the values.", defaults()) })],
        "test_elicitation_sep1330_enums" => vec![json!({ "answer": form("Choose.", choices()) })],
        "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
            vec![json!({ "user_name": user_name() })]
        }
        "test_input_required_result_sampling" => {
            vec![json!({ "capital_question": sampling("What is the capital of France?") })]
        }
        "test_input_required_result_list_roots" => vec![json!({ "client_roots": roots })],
        "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
            vec![json!({ "confirm": confirmation() })]
        }
        "test_input_required_result_multiple_inputs" => {
            let greeting = sampling("Generate a greeting.");
            vec![json!({ "user_name": user_name(), "greeting": greeting, "client_roots": roots })]
        }
        "test_input_required_result_multi_round" => {
            let color = form("What is your favorite color?", json!({ "color": string }));
            vec![json!({ "step1": user_name() }), json!({ "step2": color })]
        }
        ADAPTABLE => vec![json!({ "user_name": user_name(), "greeting": sampling("Generate a greeting.") })],
        _ => Vec::new(),
    }
}

fn defaults() -> Value {
    json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    })
}

fn choices() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([{ "const": "value1", "title": "First" }, { "const": "value2", "title": "Second" }]);
    json!({
        "untitledSingle": { "type": "string", "enum": options },
        "titledSingle": { "type": "string", "oneOf": titled },
        "legacyEnum": { "type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"] },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled } },
    })
}

/// Returns the answers that a request brings.
fn answers(request: &Request) -> Value {
    request.params.get("inputResponses").cloned().unwrap_or_default()
}

/// Returns the result that asks what is not answered yet, if anything.
///
/// The state names the round that was asked. A changed state names no round, or another one of the same tool.
fn open(rounds: &[Value], request: &Request) -> Result<Option<Value>, Stop> {
    let state = |round: usize| format!("round-{round}");
    let asked = match request.params.get("requestState") {
        None => Some(0),
        Some(given) => (0..rounds.len()).find(|round| *given == state(*round)),
    };
    let asked = asked.ok_or_else(|| Failure::of(INVALID_PARAMS, "The state is not valid."))?;
    let answers = answers(request);
    let is_answered = |questions: &Value| {
        let mut keys = questions.as_object().into_iter().flat_map(Map::keys);
        keys.all(|key| answers.get(key).is_some_and(Value::is_object))
    };
    let next = if rounds.get(asked).is_some_and(is_answered) { asked + 1 } else { asked };
    let Some(questions) = rounds.get(next) else {
        return Ok(None);
    };
    Ok(Some(input_required(&answerable(questions, request)?, &state(next))))
}

/// Returns the questions that the client can answer. One tool leaves the others out; the rest refuse the request.
fn answerable(questions: &Value, request: &Request) -> Result<Value, Stop> {
    let declared = client_capabilities(&request.params);
    let is_declared = |question: &Value| declared.is_some_and(|all| all.get(capability(question)).is_some());
    let questions = questions.as_object().cloned().unwrap_or_default();
    let (can, cannot): (Map<String, Value>, Map<String, Value>) =
        questions.into_iter().partition(|(_, question)| is_declared(question));
    if cannot.is_empty() || request.text("name") == ADAPTABLE {
        return Ok(can.into());
    }
    let required = cannot.values().map(|question| (capability(question).to_owned(), json!({})));
    Err(Failure::missing_capabilities(&Value::Object(required.collect())).into())
}

/// Returns the capability that answers a question: the first part of the method.
fn capability(question: &Value) -> &str {
    question["method"].as_str().and_then(|method| method.split('/').next()).unwrap_or_default()
}

/// `POST /mcp`
async fn serve(request: HttpRequest, body: Bytes, url: Data<String>, waiting: Data<Waiting>) -> HttpResponse {
    let origin = request.headers().get(ORIGIN);
    if origin.is_some_and(|origin| !origin.to_str().is_ok_and(|origin| is_own_origin(origin, &url))) {
        return HttpResponse::Forbidden().finish();
    }
    if waiting.resume(&body) {
        return HttpResponse::Accepted().finish();
    }
    let (events, mut received) = unbounded_channel();
    let headers = request.headers().clone();
    rt::spawn(async move {
        let fixture = Fixture { events, waiting };
        let reply = answer(&fixture, &headers, &body).await;
        fixture.send(Event::Reply(reply));
    });
    match received.recv().await {
        Some(Event::Reply(reply)) => response(reply.status, reply.body),
        Some(first) => streamed(first, received),
        None => HttpResponse::InternalServerError().finish(),
    }
}

/// Returns the response with a stream of events.
fn streamed(first: Event, received: UnboundedReceiver<Event>) -> HttpResponse {
    let events = stream::unfold((Some(first), received), |(first, mut received)| async move {
        let event = match first {
            Some(first) => first,
            None => received.recv().await?,
        };
        let message = match event {
            Event::Message(message) => message,
            Event::Reply(reply) => reply.body.unwrap_or_default(),
        };
        let line = Bytes::from(format!("data: {message}\n\n"));
        Some((Ok::<Bytes, Infallible>(line), (None, received)))
    });
    HttpResponse::Ok().content_type("text/event-stream").streaming(events)
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: conformance PORT SECONDS");
    let (port, seconds): (u16, u64) = (next()?.parse()?, next()?.parse()?);
    let url = Data::new(format!("http://127.0.0.1:{port}"));
    let waiting = Data::new(Waiting::default());
    let app = move || {
        let endpoint = web::resource("/mcp").route(web::post().to(serve));
        App::new().app_data(url.clone()).app_data(waiting.clone()).service(endpoint)
    };
    let server = HttpServer::new(app).workers(1).bind(("127.0.0.1", port))?.run();
    let handle = server.handle();
    rt::spawn(async move {
        sleep(Duration::from_secs(seconds)).await;
        handle.stop(false).await;
    });
    server.await?;
    Ok(())
}
