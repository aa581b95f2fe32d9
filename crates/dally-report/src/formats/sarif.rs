//! SARIF 2.1.0, which code scanners read: a result for each finding, with a fingerprint of its cause.

use dally_core::BugKind;
use serde_json::{Value, json};

use super::{Outcome, brief};
use crate::json::visible;

/// The document.
///
/// ```
/// use dally_core::Report;
/// use dally_report::formats::{Outcome, sarif};
///
/// let report = Report::new("pool", "");
/// let document = sarif(&[Outcome::new("pool", &report, Vec::new())]);
/// assert!(document.contains(r#""version": "2.1.0""#));
/// ```
pub fn sarif(outcomes: &[Outcome<'_>]) -> String {
    let mut kinds: Vec<BugKind> = Vec::new();
    let mut results = Vec::new();
    let mut notifications = Vec::new();
    for outcome in outcomes {
        for (finding, about) in outcome.findings() {
            let kind = finding.bug.kind();
            let rule = kinds.iter().position(|known| *known == kind).unwrap_or_else(|| {
                kinds.push(kind);
                kinds.len() - 1
            });
            let (headline, more) = brief(finding, about);
            let mut result = json!({
                "ruleId": kind.name(),
                "ruleIndex": rule,
                "level": "error",
                "message": { "text": format!("{headline}\n{more}") },
                "partialFingerprints": {
                    "dallyCause/v1": format!("{}:{}", outcome.name, finding.bug.cause()),
                },
                "properties": { "program": outcome.name },
            });
            if let Some(at) = &finding.bug.location {
                result["locations"] = json!([{ "physicalLocation": {
                    "artifactLocation": { "uri": uri(&at.file) },
                    "region": { "startLine": at.line.max(1), "startColumn": at.column.max(1) },
                } }]);
            }
            results.push(result);
        }
        if let Some(error) = &outcome.error {
            let text = format!("{}: {error}", outcome.name);
            notifications.push(json!({ "level": "error", "message": { "text": text } }));
        }
    }
    let rules: Vec<Value> = kinds.iter().map(|kind| json!({ "id": kind.name() })).collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Dally",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": notifications.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    // A document of values with string keys has no errors.
    visible(&serde_json::to_string_pretty(&document).unwrap_or_default()) + "\n"
}

/// A path as a reference: with `/`, and all else in `%`.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    match out.starts_with('/') {
        true => format!("file://{out}"),
        false => out,
    }
}
