//! Diagnostics as text.

use std::collections::BTreeSet;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use dally_core::words::count;

use super::{Diagnostic, Severity};
use crate::source::{FileId, Sources, Span};

/// All diagnostics by place, each with its source lines, and a last line that counts them. With
/// `colour` there are escape sequences for terminals.
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

/// The counts, such as `2 errors and 1 warning in 2 files`; empty if there are none.
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    counted(diagnostics).map_or(String::new(), |(_, text)| text)
}

fn counted(diagnostics: &[Diagnostic]) -> Option<(Level<'static>, String)> {
    let number = |severity| diagnostics.iter().filter(|d| d.severity == severity).count() as u64;
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    let (level, found) = match (errors, warnings) {
        (0, 0) => return None,
        (0, _) => (Level::WARNING, count(warnings, "warning")),
        (_, 0) => (Level::ERROR, count(errors, "error")),
        _ => {
            (Level::ERROR, format!("{} and {}", count(errors, "error"), count(warnings, "warning")))
        }
    };
    let files: BTreeSet<FileId> =
        diagnostics.iter().filter_map(|d| d.span.map(|span| span.file)).collect();
    if files.is_empty() {
        return Some((level, found));
    }
    Some((level, format!("{found} in {}", count(files.len() as u64, "file"))))
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(diagnostic.message.as_str()));
    if let Some(span) = diagnostic.span {
        let mut marks = vec![(AnnotationKind::Primary, span, diagnostic.label.as_str())];
        let others = diagnostic.related.iter();
        marks.extend(others.map(|(span, label)| (AnnotationKind::Context, *span, label.as_str())));
        // The file of the first mark comes first.
        let mut files: Vec<Vec<Mark<'a>>> = Vec::new();
        for (kind, span, label) in marks {
            let mark = (kind, within(span, sources), label);
            match files.iter_mut().find(|marks| marks[0].1.file == span.file) {
                Some(marks) => marks.push(mark),
                None => files.push(vec![mark]),
            }
        }
        group = files.into_iter().fold(group, |group, marks| show(marks, sources, group));
    }
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    group
}

type Mark<'a> = (AnnotationKind, Span, &'a str);

fn within(span: Span, sources: &Sources) -> Span {
    let text = &sources.file(span.file).text;
    let at = |offset: u32| text.floor_char_boundary(offset as usize) as u32;
    Span { start: at(span.start), end: at(span.end.max(span.start)), ..span }
}

/// More source than this is not shown: it takes time to render, and nobody reads it.
const MOST_SOURCE: usize = 1 << 18;

/// The marks of one file, with only the lines from the first to the last of them.
fn show<'a>(marks: Vec<Mark<'a>>, sources: &'a Sources, group: Group<'a>) -> Group<'a> {
    let file = sources.file(marks[0].1.file);
    let first = marks.iter().map(|(_, span, _)| span.start as usize).min().unwrap_or(0);
    let last = marks.iter().map(|(_, span, _)| span.end as usize).max().unwrap_or(0);
    let start = file.text[..first].rfind('\n').map_or(0, |newline| newline + 1);
    let end = file.text[last..].find('\n').map_or(file.text.len(), |newline| last + newline + 1);
    if end - start > MOST_SOURCE {
        let place = sources.location(marks[0].1);
        let origin = Origin::path(file.path.as_str())
            .line(place.line as usize)
            .char_column(place.column as usize);
        return group.element(origin);
    }
    let first_line = file.text[..start].bytes().filter(|&byte| byte == b'\n').count() + 1;
    let annotations = marks.into_iter().map(|(kind, span, label)| {
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
