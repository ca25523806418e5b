//! Describes a route by the signature of its function. So the OpenAPI document cannot differ from
//! what the route reads and answers.

use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Uri};
use axum::{Extension, Json};
use schemars::JsonSchema;
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use super::ServedRoutes;
use super::browser::LoggedInBrowser;
use super::inputs::{PathValue, QueryValues};
use super::terminal::WebSocketUpgrade;
use super::{Admitted, App, ErrorResponse, PeerInfo, RequestIdHeader, RequestingProcess, Sent};

/// Where the schemas of the document are.
pub(super) const SCHEMAS: &str = "/components/schemas";

/// Collects the schemas of all routes. A type can have two schemas: a request may leave out fields
/// that an answer always has.
#[derive(Debug)]
pub(crate) struct SchemaSet {
    pub(super) requests: SchemaGenerator,
    pub(super) answers: SchemaGenerator,
}

impl Default for SchemaSet {
    fn default() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = SCHEMAS.into();
                settings.meta_schema = None;
            })
        };
        Self {
            requests: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }
}

/// What a route reads and answers.
#[derive(Debug)]
pub(crate) struct OperationDraft<'a> {
    pub(super) schemas: &'a mut SchemaSet,
    /// The path of the route, with the names of its parameters in braces.
    pub(super) path: &'static str,
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<Value>,
    /// The responses to requests that succeed, by their status.
    pub(super) responses: Map<String, Value>,
    pub(super) can_be_repeated: bool,
}

impl<'a> OperationDraft<'a> {
    pub(super) fn new(schemas: &'a mut SchemaSet, path: &'static str) -> Self {
        let (parameters, responses) = (Vec::new(), Map::new());
        Self { schemas, path, parameters, body: None, responses, can_be_repeated: false }
    }

    /// Adds a response with a body.
    pub(super) fn respond(&mut self, status: u16, description: &str, content: &Value) {
        let response = json!({ "description": description, "content": content });
        self.responses.insert(status.to_string(), response);
    }
}

/// A parameter of a route's function.
pub(crate) trait DescribedInput {
    fn describe(draft: &mut OperationDraft<'_>);
}

/// The result of a route's function.
pub(crate) trait DescribedAnswer {
    fn describe(draft: &mut OperationDraft<'_>);
}

/// The function of a route.
pub(crate) trait DescribedRoute<Inputs> {
    fn describe(draft: &mut OperationDraft<'_>);
}

macro_rules! describe_functions {
    ($(($($input:ident),*)),+ $(,)?) => {
        $(
            impl<Function, Output, Answer, $($input,)*> DescribedRoute<($($input,)*)> for Function
            where
                Function: FnOnce($($input,)*) -> Output,
                Output: Future<Output = Answer>,
                Answer: DescribedAnswer,
                $($input: DescribedInput,)*
            {
                fn describe(draft: &mut OperationDraft<'_>) {
                    $($input::describe(draft);)*
                    Answer::describe(draft);
                }
            }
        )+
    };
}

describe_functions!((), (A), (A, B), (A, B, C), (A, B, C, D), (A, B, C, D, E), (A, B, C, D, E, F));

/// Inputs that no client sends by itself.
macro_rules! invisible {
    ($($input:ty),+ $(,)?) => {
        $(
            impl DescribedInput for $input {
                fn describe(_draft: &mut OperationDraft<'_>) {}
            }
        )+
    };
}

invisible!(
    State<App>,
    Admitted,
    LoggedInBrowser,
    RequestingProcess,
    HeaderMap,
    Uri,
    ConnectInfo<PeerInfo>,
    Extension<ServedRoutes>,
    WebSocketUpgrade,
);

impl<T: JsonSchema> DescribedInput for Sent<T> {
    fn describe(draft: &mut OperationDraft<'_>) {
        let schema = draft.schemas.requests.subschema_for::<T>();
        let content = json!({ "application/json": { "schema": schema } });
        draft.body = Some(json!({ "required": true, "content": content }));
    }
}

/// A body that the route reads as bytes.
impl DescribedInput for Bytes {
    fn describe(draft: &mut OperationDraft<'_>) {
        let content = json!({ "application/json": { "schema": {} } });
        draft.body = Some(json!({ "required": true, "content": content }));
    }
}

impl<T: JsonSchema> DescribedInput for QueryValues<T> {
    fn describe(draft: &mut OperationDraft<'_>) {
        let schema = T::json_schema(&mut draft.schemas.requests);
        let required = schema.get("required").and_then(Value::as_array).cloned();
        let required = required.unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object).cloned();
        for (name, schema) in properties.unwrap_or_default() {
            let is_required = required.iter().any(|it| it == &json!(name));
            draft.parameters.push(parameter("query", &name, without_null(schema), is_required));
        }
    }
}

impl<T: JsonSchema> DescribedInput for PathValue<T> {
    fn describe(draft: &mut OperationDraft<'_>) {
        let schema = T::json_schema(&mut draft.schemas.requests).to_value();
        let names = draft.path.split('{').skip(1).filter_map(|it| it.split('}').next());
        for name in names {
            draft.parameters.push(parameter("path", name, schema.clone(), true));
        }
    }
}

impl DescribedInput for RequestIdHeader {
    fn describe(draft: &mut OperationDraft<'_>) {
        draft.can_be_repeated = true;
        draft.parameters.push(json!({ "$ref": "#/components/parameters/IdempotencyKey" }));
    }
}

/// Returns the schema of an optional field without its default value and without null, which no query
/// can contain.
fn without_null(mut schema: Value) -> Value {
    if let Some(fields) = schema.as_object_mut() {
        // Some generators make a parameter with a default value required.
        fields.remove("default");
    }
    let is_null = |it: &Value| *it == json!("null") || it["type"] == "null";
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|it| !is_null(it));
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(Value::Array(parts)) = schema.get_mut("anyOf") {
        parts.retain(|it| !is_null(it));
        if let [only] = parts.as_slice() {
            let only = only.clone();
            let mut fields = schema.as_object().cloned().unwrap_or_default();
            fields.remove("anyOf");
            fields.extend(only.as_object().cloned().unwrap_or_default());
            return Value::Object(fields);
        }
    }
    schema
}

/// Describes a parameter. Its schema may have the description of the field.
fn parameter(place: &str, name: &str, mut schema: Value, is_required: bool) -> Value {
    let description = schema.as_object_mut().and_then(|it| it.remove("description"));
    let mut parameter = json!({ "name": name, "in": place, "schema": schema });
    if is_required {
        parameter["required"] = json!(true);
    }
    if let Some(description) = description {
        parameter["description"] = description;
    }
    parameter
}

impl<T: JsonSchema> DescribedAnswer for Json<T> {
    fn describe(draft: &mut OperationDraft<'_>) {
        let schema = draft.schemas.answers.subschema_for::<T>();
        draft.respond(200, "OK", &json!({ "application/json": { "schema": schema } }));
    }
}

impl<T: DescribedAnswer> DescribedAnswer for std::result::Result<T, ErrorResponse> {
    fn describe(draft: &mut OperationDraft<'_>) {
        T::describe(draft);
    }
}
