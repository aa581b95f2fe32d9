//! Where the checker puts what it finds, with suggestions for names that are not declared.

use dally_settings::nearest;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Beyond this many diagnostics nobody reads suggestions, and finding them would take quadratic
/// time on a hostile file.
const SUGGESTIONS: usize = 100;

/// What was found so far.
#[derive(Default)]
pub(crate) struct Report {
    /// In the order of discovery.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the parser left out statements it could not read: what seems to be missing may
    /// have been among them.
    pub repaired: bool,
}

impl Report {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether anything keeps the project from being run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning())
    }

    /// A name that is not declared as what it should be, such as `event`, with the nearest one
    /// that is.
    pub fn unknown<'n>(
        &mut self,
        span: Span,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        let mut found =
            Diagnostic::error(span, format!("there is no {what} `{name}`")).label("not declared");
        if self.diagnostics.len() < SUGGESTIONS
            && let Some(near) = nearest(name, known)
        {
            found = found.hint(format!("did you mean `{near}`?"));
        }
        self.push(found);
    }
}
