//! Diagnostics as text.

use std::collections::BTreeSet;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::source::{FileId, Sources, Span};

/// All of them, each with its source lines, and a last line that counts them. Sorted by place.
/// With `colour` there are escape sequences for terminals.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, colour: bool) -> String {
    let mut sorted = diagnostics.to_vec();
    super::sort(&mut sorted);
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in &sorted {
        text += &renderer.render(&[group(diagnostic, sources)]);
        text += "\n\n";
    }
    if let Some((level, counted)) = counted(&sorted) {
        text += &renderer.render(&[Group::with_title(level.primary_title(counted))]);
        text += "\n";
    }
    text
}

/// How many there are: `2 errors and 1 warning in 2 files`; empty if there are none.
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    counted(diagnostics).map_or(String::new(), |(_, text)| text)
}

fn counted(diagnostics: &[Diagnostic]) -> Option<(Level<'static>, String)> {
    let count = |severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let (level, found) = match (errors, warnings) {
        (0, 0) => return None,
        (0, _) => (Level::WARNING, several(warnings, "warning")),
        (_, 0) => (Level::ERROR, several(errors, "error")),
        _ => (
            Level::ERROR,
            format!("{} and {}", several(errors, "error"), several(warnings, "warning")),
        ),
    };
    let files: BTreeSet<FileId> =
        diagnostics.iter().filter_map(|d| d.span.map(|span| span.file)).collect();
    if files.is_empty() {
        return Some((level, found));
    }
    Some((level, format!("{found} in {}", several(files.len(), "file"))))
}

fn several(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
    if let Some(span) = diagnostic.span {
        let marks = std::iter::once((AnnotationKind::Primary, span, diagnostic.label.as_str()))
            .chain(
                diagnostic
                    .related
                    .iter()
                    .map(|(span, label)| (AnnotationKind::Context, *span, label.as_str())),
            );
        for window in windows(marks.collect(), sources) {
            group = window.show(sources, group);
        }
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    group
}

type Mark<'a> = (AnnotationKind, Span, &'a str);

/// A stretch of whole lines of one file with what is marked in it.
struct Window<'a> {
    file: FileId,
    marks: Vec<Mark<'a>>,
}

/// The marks by file; the file of the first comes first.
fn windows<'a>(marks: Vec<Mark<'a>>, sources: &Sources) -> Vec<Window<'a>> {
    let mut windows: Vec<Window<'a>> = Vec::new();
    for (kind, span, label) in marks {
        let span = within(span, sources);
        match windows.iter_mut().find(|window| window.file == span.file) {
            Some(window) => window.marks.push((kind, span, label)),
            None => windows.push(Window { file: span.file, marks: vec![(kind, span, label)] }),
        }
    }
    windows
}

/// The same span, if it lies in its file; otherwise as much of it as does.
fn within(span: Span, sources: &Sources) -> Span {
    let text = &sources.file(span.file).text;
    let at = |offset: u32| text.floor_char_boundary(offset as usize) as u32;
    Span { start: at(span.start), end: at(span.end.max(span.start)), ..span }
}

/// More source than this is not shown: it would not be read, and takes its time.
const MOST_SOURCE: usize = 1 << 18;

impl<'a> Window<'a> {
    fn show(self, sources: &'a Sources, group: Group<'a>) -> Group<'a> {
        let file = sources.file(self.file);
        let Range { start, end } = self.lines(&file.text);
        if end - start > MOST_SOURCE {
            let place = sources.location(self.marks[0].1);
            let origin = Origin::path(file.path.as_str())
                .line(place.line as usize)
                .char_column(place.column as usize);
            return group.element(origin);
        }
        let first_line = file.text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1;
        let annotations = self.marks.into_iter().map(|(kind, span, label)| {
            let span = span.start as usize - start..span.end as usize - start;
            let annotation = kind.span(span);
            if label.is_empty() { annotation } else { annotation.label(label) }
        });
        group.element(
            Snippet::source(&file.text[start..end])
                .path(file.path.as_str())
                .line_start(first_line)
                .fold(true)
                .annotations(annotations),
        )
    }

    /// The lines from the first mark to the last: the rest of the file need not be looked at.
    fn lines(&self, text: &str) -> Range<usize> {
        let first = self.marks.iter().map(|(_, span, _)| span.start as usize).min().unwrap_or(0);
        let last = self.marks.iter().map(|(_, span, _)| span.end as usize).max().unwrap_or(0);
        let start = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[last..].find('\n').map_or(text.len(), |newline| last + newline + 1);
        start..end
    }
}
