//! JSON schemas of tool parameters, in the form that every provider of models accepts.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Keys of a schema that say nothing to a model.
const NOISE: [&str; 3] = ["$schema", "title", "format"];

/// Returns the schema of a tool's parameters. It has no references and no types that are lists:
/// some providers refuse both.
pub(crate) fn parameters<P: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<P>();
    let mut schema = schema.to_value();
    simplify(&mut schema);
    let mut schema = match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    schema.remove("description");
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(parts) => parts.iter_mut().for_each(simplify),
        Value::Object(object) => simplify_object(object),
        _ => {}
    }
}

fn simplify_object(object: &mut Map<String, Value>) {
    for key in NOISE {
        // A property may have such a name. Then its value is a schema.
        if object.get(key).is_some_and(Value::is_string) {
            object.remove(key);
        }
    }
    remove_null(object);
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Object(items)) = object.get_mut("items") {
        // The property that has the list is described already.
        items.remove("description");
    }
    object.values_mut().for_each(simplify);
}

/// Removes `null` from an optional value: the caller leaves the parameter out instead.
fn remove_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get("type") {
        let kept: Vec<Value> = types.iter().filter(|it| *it != "null").cloned().collect();
        if let [only] = kept.as_slice() {
            object.insert("type".to_owned(), only.clone());
        }
    }
    if let Some(Value::Array(words)) = object.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    let is_null = |part: &Value| part.get("type").is_some_and(|it| it == "null");
    let parts = match object.get("anyOf") {
        Some(Value::Array(parts)) => parts.clone(),
        _ => return,
    };
    let mut kept: Vec<Value> = parts.iter().filter(|part| !is_null(part)).cloned().collect();
    if let (1, Some(Value::Object(only))) = (kept.len(), kept.pop()) {
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}
