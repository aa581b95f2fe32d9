//! Errors and warnings: for people as text with source lines ([`render`]), for programs as JSON
//! ([`Report`]).

mod json;
mod text;

use crate::source::Span;

pub use json::{Place, Related, Report};
pub use text::{render, summary};

/// An error or a warning, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Whether it prevents the project from being run.
    pub severity: Severity,
    /// What is wrong, in one line: starts in lower case, names in backticks, no full stop.
    pub message: String,
    /// Where; `None` if it concerns the project as a whole.
    pub span: Option<Span>,
    /// The text under the caret; may be empty.
    pub label: String,
    /// Other places that matter, such as the first declaration of a name.
    pub related: Vec<(Span, String)>,
    /// How to correct it, if that is known.
    pub hint: Option<String>,
}

/// Whether a diagnostic prevents the project from being run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The project cannot be run.
    Error,
    /// The project can be run, but hardly as intended.
    Warning,
}

impl Diagnostic {
    /// A diagnostic that concerns the project as a whole.
    pub fn new(severity: Severity, message: impl Into<String>) -> Diagnostic {
        let (message, label) = (message.into(), String::new());
        Diagnostic { severity, message, span: None, label, related: Vec::new(), hint: None }
    }

    /// Whether the project can be run nevertheless.
    pub fn is_warning(&self) -> bool {
        self.severity == Severity::Warning
    }

    /// Adds a text under the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds another place that matters.
    #[must_use]
    pub fn also(mut self, span: Span, what: impl Into<String>) -> Diagnostic {
        self.related.push((span, what.into()));
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }
}

/// An error at this place.
pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic { span: Some(span), ..Diagnostic::new(Severity::Error, message) }
}

/// A warning at this place.
pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic { span: Some(span), ..Diagnostic::new(Severity::Warning, message) }
}

/// Sorts by place: files in their order, diagnostics without a place at the end.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.is_none(), diagnostic.span));
}
