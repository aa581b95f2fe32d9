//! Whether documents are what `docs/json.schema.json` says.

use serde_json::Value;

/// The document in a text. It fails where the document is not what the schema says, or has a field
/// that the schema does not know. Of JSON schema, it knows what the generator of the file uses.
#[track_caller]
pub fn document(text: &str) -> Value {
    let document: Value = serde_json::from_str(text).unwrap();
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/json.schema.json")).unwrap();
    if let Err(why) = (Schema { definitions: &schema["$defs"] }).fits(&schema, &document, &[]) {
        panic!("{why}");
    }
    document
}

struct Schema<'a> {
    definitions: &'a Value,
}

impl Schema<'_> {
    /// `around` are the fields that the schemas say which this one is an alternative in.
    fn fits(&self, schema: &Value, value: &Value, around: &[&Value]) -> Result<(), String> {
        let within = [around, &[&schema["properties"]]].concat();
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.strip_prefix("#/$defs/").unwrap();
            self.fits(&self.definitions[name], value, &within)?;
        }
        for several in ["oneOf", "anyOf"] {
            if let Some(cases) = schema[several].as_array() {
                let fit = |case| self.fits(case, value, &within);
                let wrong: Vec<String> = cases.iter().filter_map(|case| fit(case).err()).collect();
                if wrong.len() == cases.len() {
                    return Err(wrong.join("; "));
                }
            }
        }
        if let Some(constant) = schema.get("const").filter(|&constant| constant != value) {
            return Err(format!("{value} is not {constant}"));
        }
        let is = |name: &str| match name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            _ => panic!("the schema has a type `{name}`"),
        };
        let types = match &schema["type"] {
            Value::String(name) => is(name),
            Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
            _ => true,
        };
        if !types {
            return Err(format!("{value} is not of type {}", schema["type"]));
        }
        match value {
            Value::Object(fields) => self.fields_fit(schema, fields, around),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(place, item)| {
                let prefix = schema["prefixItems"].get(place);
                self.fits(prefix.unwrap_or(&schema["items"]), item, &[])
            }),
            _ => Ok(()),
        }
    }

    fn fields_fit(
        &self,
        schema: &Value,
        fields: &serde_json::Map<String, Value>,
        around: &[&Value],
    ) -> Result<(), String> {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !fields.contains_key(name.as_str().unwrap()) {
                return Err(format!("{name} is missing"));
            }
        }
        // An alternative or another definition has said already what the other fields are.
        let has_cases = ["$ref", "oneOf", "anyOf"].iter().any(|key| schema.get(key).is_some());
        for (name, value) in fields {
            let field = schema["properties"].get(name).or(schema.get("additionalProperties"));
            let elsewhere = has_cases || around.iter().any(|fields| fields.get(name).is_some());
            match field {
                Some(field) => {
                    self.fits(field, value, &[]).map_err(|why| format!("{name}: {why}"))?;
                }
                None if elsewhere => {}
                None => return Err(format!("`{name}` is not in the schema")),
            }
        }
        Ok(())
    }
}
