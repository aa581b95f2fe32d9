//! Errors in programs, with source lines.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use dally_core::words::count;

/// An error, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Where, in bytes.
    pub span: Range<usize>,
    /// The words under the caret; may be empty.
    pub label: String,
    /// How to correct it, if that is known.
    pub hint: Option<String>,
}

impl Diagnostic {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), span, label: String::new(), hint: None }
    }

    pub(crate) fn label(self, label: impl Into<String>) -> Diagnostic {
        Diagnostic { label: label.into(), ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Diagnostic {
        Diagnostic { hint: Some(hint.into()), ..self }
    }
}

/// All errors of a program, in the order of their places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostics {
    path: String,
    text: String,
    /// The errors, at least one.
    pub all: Vec<Diagnostic>,
}

/// More errors than this are not shown: the first ones cause most of the others.
const MOST_SHOWN: usize = 20;

/// A line that is longer than this is not shown: nobody reads it.
const LONGEST_LINE: usize = 2_000;

impl Diagnostics {
    pub(crate) fn new(path: &str, text: &str, mut all: Vec<Diagnostic>) -> Diagnostics {
        all.sort_by_key(|diagnostic| diagnostic.span.start);
        Diagnostics { path: path.to_owned(), text: text.to_owned(), all }
    }

    /// The errors with their lines; with `colour` there are escape sequences for terminals.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut out = String::new();
        for diagnostic in self.all.iter().take(MOST_SHOWN) {
            out += &renderer.render(&[self.group(diagnostic)]);
            out += "\n\n";
        }
        let number = self.all.len() as u64;
        out += &format!("error: {}", count(number, "error"));
        if self.all.len() > MOST_SHOWN {
            out += &format!(", of which the first {MOST_SHOWN} are shown");
        }
        out + "\n"
    }

    fn group<'a>(&'a self, diagnostic: &'a Diagnostic) -> annotate_snippets::Group<'a> {
        let title = Level::ERROR.primary_title(diagnostic.message.as_str());
        let mut group = annotate_snippets::Group::with_title(title);
        let at = |offset: usize| self.text.floor_char_boundary(offset);
        let (first, last) = (at(diagnostic.span.start), at(diagnostic.span.end));
        let last = last.max(first);
        let start = self.text[..first].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[last..].find('\n').map_or(self.text.len(), |newline| last + newline);
        let line = self.text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1;
        if end - start <= LONGEST_LINE {
            let annotation = AnnotationKind::Primary.span(first - start..last - start);
            let annotation = if diagnostic.label.is_empty() {
                annotation
            } else {
                annotation.label(diagnostic.label.as_str())
            };
            group = group.element(
                Snippet::source(&self.text[start..end])
                    .path(self.path.as_str())
                    .line_start(line)
                    .annotation(annotation),
            );
        } else {
            group = group.element(
                annotate_snippets::Origin::path(self.path.as_str())
                    .line(line)
                    .char_column(self.text[start..first].chars().count() + 1),
            );
        }
        if let Some(hint) = &diagnostic.hint {
            group = group.element(Level::HELP.message(hint.as_str()));
        }
        group
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl Error for Diagnostics {}
