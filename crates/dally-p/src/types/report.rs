//! The diagnostics of the checker, with suggestions for undeclared names.

use std::cell::RefCell;

use dally_settings::nearest;

use crate::diagnostic::{Diagnostic, error};
use crate::source::Span;

/// After this many diagnostics there are no suggestions, since nobody reads them and finding them
/// would take quadratic time on a hostile file.
const SUGGESTIONS: usize = 100;

#[derive(Default)]
pub(crate) struct Report {
    pub diagnostics: RefCell<Vec<Diagnostic>>,
    /// Whether the parser left out statements, among which may be what seems to be missing.
    pub repaired: bool,
}

impl Report {
    pub fn push(&self, diagnostic: Diagnostic) {
        self.diagnostics.borrow_mut().push(diagnostic);
    }

    /// Reports an error that leaves the caller without a result.
    pub fn refuse<T>(&self, diagnostic: Diagnostic) -> Option<T> {
        self.push(diagnostic);
        None
    }

    pub fn has_errors(&self) -> bool {
        self.has_errors_since(0)
    }

    pub fn len(&self) -> usize {
        self.diagnostics.borrow().len()
    }

    /// Whether there are errors after the first `first` diagnostics.
    pub fn has_errors_since(&self, first: usize) -> bool {
        self.diagnostics.borrow()[first..].iter().any(|diagnostic| !diagnostic.is_warning())
    }

    /// Reports a name that is not declared as `what`, such as an event, with the nearest name that is.
    pub fn unknown<'n>(
        &self,
        span: Span,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        let mut found = error(span, format!("there is no {what} `{name}`")).label("not declared");
        if self.len() < SUGGESTIONS
            && let Some(near) = nearest(name, known)
        {
            found = found.hint(format!("did you mean `{near}`?"));
        }
        self.push(found);
    }
}
