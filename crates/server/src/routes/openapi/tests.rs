use std::collections::BTreeSet;

use super::*;

fn parsed() -> Value {
    serde_json::from_str(&document()).unwrap()
}

#[test]
fn checked_in_document_is_the_one_that_the_routes_describe() {
    let checked_in = include_str!("../../../../../docs/openapi.json");
    assert!(document() == checked_in, "docs/openapi.json differs: run `make docs`");
}

#[test]
fn every_operation_has_an_own_id_and_a_summary_without_a_full_stop() {
    let table = super::super::declarations::table();
    let ids: BTreeSet<&str> = table.entries().iter().map(|it| it.about.id).collect();
    assert_eq!(ids.len(), table.entries().len());
    for entry in table.entries() {
        let summary = entry.about.summary;
        assert!(summary.starts_with(char::is_uppercase), "{}: `{summary}`", entry.path);
        assert!(!summary.ends_with('.'), "{}: `{summary}`", entry.path);
        assert!(!entry.tag.is_empty(), "{}", entry.path);
    }
}

#[test]
fn every_schema_has_a_description() {
    let document = parsed();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let without: Vec<&String> = schemas
        .iter()
        .filter(|(_, schema)| schema["description"].as_str().is_none_or(str::is_empty))
        .map(|(name, _)| name)
        .collect();
    assert!(without.is_empty(), "types without a doc comment: {without:?}");
}

#[test]
fn every_reference_has_a_target() {
    fn check(value: &Value, document: &Value) {
        match value {
            Value::Array(all) => all.iter().for_each(|it| check(it, document)),
            Value::Object(fields) => {
                if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
                    let pointer = target.strip_prefix('#').unwrap();
                    assert!(document.pointer(pointer).is_some(), "{target}");
                }
                fields.values().for_each(|it| check(it, document));
            }
            _ => {}
        }
    }
    let document = parsed();
    check(&document, &document);
}

#[test]
fn words_of_a_newer_daemon_are_allowed_where_a_client_keeps_them() {
    let document = parsed();
    let status = &document["components"]["schemas"]["SessionView"]["properties"]["status"];
    assert_eq!(status["type"], "string", "{status}");
    assert_eq!(status["x-extensible-enum"][0], "starting", "{status}");
    assert!(status.get("enum").is_none(), "{status}");
}

#[test]
fn environment_of_the_caller_is_no_part_of_a_request_from_a_network() {
    let document = parsed();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for (name, schema) in schemas {
        assert!(schema["properties"].get("environment").is_none(), "{name}");
        assert!(schema["properties"]["caller"].get("default").is_none(), "{name}");
    }
    let required = &document["components"]["schemas"]["RunRequest"]["required"];
    assert!(!required.to_string().contains("caller"), "{required}");
}
