//! Diagnostics as JSON.

use serde::Serialize;

use super::{Diagnostic, Severity};
use crate::source::{Sources, Span};

/// A diagnostic as JSON. Lines and columns count from 1, columns in characters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Report {
    /// `error` or `warning`.
    pub severity: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where; left out if it concerns the project as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The text under the caret; left out if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Other places that matter; left out if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// How to correct it; left out if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A range of a file, from its first character to the one after its last.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Place {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// Another place that matters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Related {
    pub place: Place,
    pub message: String,
}

impl Report {
    /// The report of one diagnostic.
    pub fn new(diagnostic: &Diagnostic, sources: &Sources) -> Report {
        let related = diagnostic.related.iter().map(|(span, message)| Related {
            place: Place::new(*span, sources),
            message: message.clone(),
        });
        Report {
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: diagnostic.message.clone(),
            place: diagnostic.span.map(|span| Place::new(span, sources)),
            label: diagnostic.label.clone(),
            related: related.collect(),
            hint: diagnostic.hint.clone(),
        }
    }

    /// The reports of all diagnostics, sorted by place.
    pub fn all(diagnostics: &[Diagnostic], sources: &Sources) -> Vec<Report> {
        let mut sorted = diagnostics.to_vec();
        super::sort(&mut sorted);
        sorted.iter().map(|diagnostic| Report::new(diagnostic, sources)).collect()
    }
}

impl Place {
    fn new(span: Span, sources: &Sources) -> Place {
        let start = sources.location(span);
        let end = sources.location(Span { start: span.end, ..span });
        Place {
            file: start.file,
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}
