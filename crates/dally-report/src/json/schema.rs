//! The JSON schema of all documents, generated from the types.

use dally_core::report::Batch;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{RunDocument, TraceDocument};

/// What [`Batch`] writes.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct BatchDocument {
    /// `dally-batch`
    format: &'static str,
    /// The version of this form.
    version: u32,
    #[serde(flatten)]
    batch: Batch,
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.schema.json");

fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let documents = [
        generator.subschema_for::<RunDocument<'_>>(),
        generator.subschema_for::<TraceDocument<'_>>(),
        generator.subschema_for::<BatchDocument>(),
    ];
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What Dally writes as JSON: docs/json.md",
        "oneOf": documents,
        "$defs": generator.take_definitions(true),
    })
}

/// `INSTA_UPDATE=always` writes the file.
#[test]
fn the_schema_is_the_one_of_the_types() {
    let generated = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        std::fs::write(FILE, &generated).unwrap();
    }
    let written = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(generated == written, "docs/json.schema.json is not that of the types: write it anew");
}

#[test]
fn every_field_is_described() {
    fn walk(value: &Value, path: &str, undescribed: &mut Vec<String>) {
        for (name, field) in value["properties"].as_object().into_iter().flatten() {
            // A variant is described by its only field.
            let described = [field, value].iter().any(|of| of.get("description").is_some());
            if !described && field.get("const").is_none() {
                undescribed.push(format!("{path}.{name}"));
            }
        }
        let inner = value.as_object().map(|fields| fields.iter().collect::<Vec<_>>());
        for (name, inner) in inner.into_iter().flatten() {
            walk(inner, &format!("{path}.{name}"), undescribed);
        }
        for inner in value.as_array().into_iter().flatten() {
            walk(inner, path, undescribed);
        }
    }
    let mut undescribed = Vec::new();
    walk(&schema(), "", &mut undescribed);
    assert_eq!(undescribed, Vec::<String>::new());
}
