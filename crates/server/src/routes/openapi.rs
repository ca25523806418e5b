//! The OpenAPI document, made from the table of routes.

use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use segue_core::api::Problem;
use segue_core::model::TokenScope;
use segue_core::rules::scope::RouteRight;
use serde_json::{Map, Value, json};

use super::description::{DescribedAnswer, OperationDraft, SCHEMAS, SchemaSet};
use super::table::{EnvironmentPlace, RouteEntry};
use crate::wiring::VERSION;

/// Errors that a route can have, with the status of each.
const FAILURES: [(&str, &str); 9] = [
    ("400", "the request is wrong"),
    ("401", "the request shows no valid token"),
    ("403", "the token does not allow this"),
    ("404", "there is no such object"),
    ("409", "the state of an object does not allow this"),
    ("422", "a setting is wrong, or an idempotency key was used for another request"),
    ("429", "too many requests in a short time"),
    ("500", "the daemon failed"),
    ("503", "the daemon or an agent cannot be reached now"),
];

/// The answer of `GET /v1/openapi.json`.
#[derive(Debug)]
pub(crate) struct OpenApiAnswer(Bytes);

pub(crate) async fn openapi() -> OpenApiAnswer {
    static DOCUMENT: OnceLock<Bytes> = OnceLock::new();
    OpenApiAnswer(DOCUMENT.get_or_init(|| Bytes::from(document())).clone())
}

impl IntoResponse for OpenApiAnswer {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, "application/json")], self.0).into_response()
    }
}

impl DescribedAnswer for OpenApiAnswer {
    fn describe(draft: &mut OperationDraft<'_>) {
        let content = json!({ "application/json": { "schema": { "type": "object" } } });
        draft.respond(200, "an OpenAPI 3.1 document", &content);
    }
}

/// Returns the OpenAPI document of all routes.
pub(crate) fn document() -> String {
    let table = super::declarations::table();
    let mut schemas = SchemaSet::default();
    let mut paths: Map<String, Value> = Map::new();
    let mut requests = Vec::new();
    for entry in table.entries() {
        let mut draft = OperationDraft::new(&mut schemas, entry.path);
        (entry.describe)(&mut draft);
        let (inputs, operation) = operation(entry, draft);
        requests.push(inputs);
        let path = paths.entry(entry.path.to_owned()).or_insert_with(|| json!({}));
        path[entry.method.as_str().to_lowercase()] = operation;
    }
    let problem = schemas.answers.subschema_for::<Problem>().to_value();
    let mut components = schemas.answers.take_definitions(true);
    let renamed = add_requests(&mut components, schemas.requests.take_definitions(true));
    for (entry, mut inputs) in table.entries().iter().zip(requests) {
        rename(&mut inputs, &renamed);
        let method = entry.method.as_str().to_lowercase();
        let operation = paths.get_mut(entry.path).and_then(|it| it.get_mut(&method));
        if let (Some(Value::Object(operation)), Value::Object(inputs)) = (operation, inputs) {
            operation.extend(inputs);
        }
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": info(),
        "servers": [{ "url": "http://127.0.0.1:4747", "description": "`segue serve`" }],
        "tags": tags(table.entries()),
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": responses(&problem),
            "parameters": { "IdempotencyKey": idempotency_key() },
            "securitySchemes": { "token": security_scheme(), "browser": browser_scheme() },
        },
    });
    let mut text = format!("{document:#}");
    text.push('\n');
    text
}

/// Returns the parts of an operation that describe the request, and all others.
fn operation(entry: &RouteEntry, draft: OperationDraft<'_>) -> (Value, Value) {
    let scope = entry.scope_word();
    let mut inputs = Map::new();
    if !draft.parameters.is_empty() {
        inputs.insert("parameters".to_owned(), Value::Array(draft.parameters));
    }
    if let Some(body) = draft.body {
        inputs.insert("requestBody".to_owned(), body);
    }
    let mut responses = draft.responses;
    for (status, _) in FAILURES {
        let failure = json!({ "$ref": format!("#/components/responses/Problem{status}") });
        responses.insert(status.to_owned(), failure);
    }
    let operation = json!({
        "operationId": entry.about.id,
        "summary": entry.about.summary,
        "description": details(entry, draft.can_be_repeated),
        "tags": [entry.tag],
        "security": security(entry.right),
        "x-segue-scope": scope,
        "responses": responses,
    });
    (Value::Object(inputs), operation)
}

fn details(entry: &RouteEntry, can_be_repeated: bool) -> String {
    let right = match entry.right {
        RouteRight::Scope(scope) => format!("Needs a token of the scope `{}`.", scope.word()),
        RouteRight::Local => {
            "Only for programs on the machine of the daemon, over its Unix socket.".to_owned()
        }
        RouteRight::Signed => "Needs no token: the request is signed.".to_owned(),
        RouteRight::Public => "Needs no token.".to_owned(),
        RouteRight::Browser => "Only for a browser that has logged in.".to_owned(),
    };
    let environment = match entry.environment {
        EnvironmentPlace::Nowhere => "",
        EnvironmentPlace::Caller | EnvironmentPlace::Top => {
            " Agents get the environment of the user's login shell."
        }
    };
    let repeated = if can_be_repeated {
        " A request that is repeated with the same `Idempotency-Key` is carried out once."
    } else {
        ""
    };
    format!("{right}{environment}{repeated}")
}

fn security(right: RouteRight) -> Value {
    match right {
        RouteRight::Scope(scope) => json!([{ "token": [scope.word()] }]),
        RouteRight::Browser => json!([{ "browser": [] }]),
        RouteRight::Local | RouteRight::Signed | RouteRight::Public => json!([]),
    }
}

/// Adds the schemas of requests. Returns the names of those that differ from the schema of an answer
/// with the same name, and are renamed.
fn add_requests(
    components: &mut Map<String, Value>,
    requests: Map<String, Value>,
) -> Vec<(String, String)> {
    let requests: Map<String, Value> =
        requests.into_iter().map(|(name, schema)| (name, without_defaults(schema))).collect();
    let differs =
        |name: &String, schema: &Value| components.get(name).is_some_and(|answer| answer != schema);
    let renamed: Vec<(String, String)> = requests
        .iter()
        .filter(|(name, schema)| differs(name, schema))
        .map(|(name, _)| (name.clone(), format!("{name}Input")))
        .collect();
    for (name, mut schema) in requests {
        rename(&mut schema, &renamed);
        let other = renamed.iter().find(|(old, _)| *old == name).map(|(_, new)| new.clone());
        components.insert(other.unwrap_or(name), schema);
    }
    renamed
}

/// Removes the default values of fields. Some generators make a field with a default value required,
/// although a request may leave it out.
fn without_defaults(mut schema: Value) -> Value {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut) {
        if let Some(property) = property.as_object_mut() {
            property.remove("default");
        }
    }
    schema
}

/// Replaces references to renamed schemas.
fn rename(value: &mut Value, renamed: &[(String, String)]) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|it| rename(it, renamed)),
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref") {
                let name = target.strip_prefix(&format!("#{SCHEMAS}/"));
                let new = renamed.iter().find(|(old, _)| Some(old.as_str()) == name);
                if let Some((_, new)) = new {
                    *target = format!("#{SCHEMAS}/{new}");
                }
            }
            fields.values_mut().for_each(|it| rename(it, renamed));
        }
        _ => {}
    }
}

fn info() -> Value {
    json!({
        "title": "Segue",
        "version": VERSION,
        "summary": "Keeps coding agents' conversations alive",
        "description": "Sessions, messages, tasks, worktrees and events of a Segue daemon. \
            `docs/http.md` explains tokens, limits and how to listen. A field that is not required \
            may be missing, and a newer daemon may send further fields and further words.",
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    })
}

fn tags(entries: &[RouteEntry]) -> Value {
    let mut names: Vec<&str> = Vec::new();
    for entry in entries {
        if !names.contains(&entry.tag) {
            names.push(entry.tag);
        }
    }
    names.into_iter().map(|name| json!({ "name": name })).collect()
}

fn responses(problem: &Value) -> Value {
    let responses = FAILURES.map(|(status, description)| {
        let content = json!({ "application/problem+json": { "schema": problem } });
        let mut response = json!({ "description": description, "content": content });
        let header = match status {
            "401" => Some(("WWW-Authenticate", json!({ "type": "string" }))),
            "429" => Some(("Retry-After", json!({ "type": "integer", "minimum": 1 }))),
            _ => None,
        };
        if let Some((name, schema)) = header {
            response["headers"] = json!({ name: { "schema": schema } });
        }
        (format!("Problem{status}"), response)
    });
    Value::Object(responses.into_iter().collect())
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "description": "A text that the client chooses for this request, such as a UUID. If the \
            client repeats the request with the same text, for example after a broken connection, \
            it is carried out once and answered again.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 200 },
    })
}

fn security_scheme() -> Value {
    let lines: Vec<String> =
        TokenScope::ALL.iter().map(|scope| format!("`{}`", scope.word())).collect();
    json!({
        "type": "http",
        "scheme": "bearer",
        "description": format!(
            "A token of `segue token create`. Its scopes are some of {}. Each operation names the \
             scope that it needs.",
            lines.join(", ")
        ),
    })
}

fn browser_scheme() -> Value {
    json!({
        "type": "apiKey",
        "in": "cookie",
        "name": "segue_web",
        "description": "The login of a browser by `segue web`. It is accepted for all operations \
            that its scopes allow. With TLS, its name is `__Host-segue_web`. Each request also needs \
            the header `segue-page-key` with the key that `POST /v1/web/login` returned; a \
            WebSocket offers it as the subprotocol `segue.page-key.KEY` instead, beside \
            `segue.terminal`.",
    })
}

#[cfg(test)]
mod tests;
