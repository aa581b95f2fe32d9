//! What is wrong with a project: for people as text with source lines ([`render`]), for programs
//! as JSON ([`Report`]).

mod json;
mod text;

use crate::source::Span;

pub use json::{Place, Related, Report};
pub use text::{render, summary};

/// One thing that is wrong, or doubtful, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Whether the project can be run all the same.
    pub severity: Severity,
    /// What is wrong, in one line: starts in lower case, names in backticks, no full stop.
    pub message: String,
    /// Where; `None` if it concerns the project as a whole.
    pub span: Option<Span>,
    /// What to say under the caret; may be empty.
    pub label: String,
    /// Other places that matter, such as the first declaration of a name.
    pub related: Vec<(Span, String)>,
    /// What to do about it, if that is known.
    pub hint: Option<String>,
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The project cannot be run.
    Error,
    /// It can, but hardly as intended.
    Warning,
}

impl Diagnostic {
    /// An error at this place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            label: String::new(),
            related: Vec::new(),
            hint: None,
        }
    }

    /// A warning at this place.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Whether the project can be run all the same.
    pub fn is_warning(&self) -> bool {
        self.severity == Severity::Warning
    }

    /// The same with this under its caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// The same with another place that matters.
    #[must_use]
    pub fn also(mut self, span: Span, what: impl Into<String>) -> Diagnostic {
        self.related.push((span, what.into()));
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }
}

/// Sorts by place: files in their order, what concerns the project as a whole at the end.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.is_none(), diagnostic.span));
}
