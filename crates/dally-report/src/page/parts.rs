//! The parts of the page that are plain HTML.

use std::fmt::Write;
use std::path::{Component, Path};

use dally_core::{Finding, Location, Problem};
use serde::Serialize;

use super::escaped;
use crate::about::About;
use crate::text::{Parts, source};

/// How many lines of the source are quoted before and after the place of the bug.
const AROUND: usize = 3;
/// The greatest number of characters quoted of a line of the source.
const WIDEST: usize = 200;

/// Data as JSON that can stand in an element of HTML: it has no `<`, so it can neither end the
/// element nor begin a comment.
pub(super) fn json_in_html(data: &impl Serialize) -> String {
    // The data have string keys and no other sources of errors.
    let json = serde_json::to_string(data).unwrap_or_default();
    crate::json::visible(&json).replace('<', "\\u003c").replace('&', "\\u0026")
}

pub(super) fn facts_table(facts: &[(&'static str, String)], links: &Links) -> String {
    let rows = facts.iter().map(|(label, fact)| {
        format!("<tr><th scope=\"row\">{label}</th><td>{}</td></tr>\n", links.linked(fact))
    });
    format!("<table class=\"facts\">\n{}</table>\n", rows.collect::<String>())
}

/// Places in the source, linked where their files are seen from the page.
pub(super) struct Links {
    /// The place as the page shows it, and the file relative to the page.
    places: Vec<(String, String)>,
}

impl Links {
    pub fn of(finding: &Finding, about: &About) -> Links {
        let mut places: Vec<&Location> = finding.bug.location.iter().collect();
        if let Problem::Deadlock { waiting } = &*finding.bug.problem {
            let waits = waiting.iter().flat_map(|waiting| &waiting.on);
            places.extend(waits.filter_map(|wait| Some(&wait.place.as_ref()?.location)));
        }
        let page = about.page.as_ref().or(about.saved.as_ref());
        let from = page.and_then(|page| std::path::absolute(page).ok());
        let link = |at: &Location| {
            let file = source::find(Path::new(&at.file), about.source_root.as_deref())?;
            let file = relative(from.as_ref()?.parent()?, &file)?;
            Some((escaped(&at.to_string()), file))
        };
        let mut places: Vec<_> = places.into_iter().filter_map(link).collect();
        places.sort();
        places.dedup();
        Links { places }
    }

    /// A text as HTML with the places in it linked. A place that begins another one is not taken for it.
    pub fn linked(&self, text: &str) -> String {
        let mut out = String::new();
        let text = escaped(text);
        let mut rest = text.as_str();
        while let Some((at, (place, file))) = self.first(rest) {
            let (before, after) = (&rest[..at], &rest[at + place.len()..]);
            out += &format!("{before}<a href=\"{file}\">{place}</a>");
            rest = after;
        }
        out + rest
    }

    fn first(&self, text: &str) -> Option<(usize, &(String, String))> {
        let whole = |at: usize, place: &str| {
            !text[at + place.len()..].starts_with(|next: char| next.is_ascii_digit())
        };
        let found = self.places.iter().filter_map(|link| {
            let mut all = text.match_indices(link.0.as_str()).map(|(at, _)| at);
            Some((all.find(|&at| whole(at, &link.0))?, link))
        });
        found.min_by_key(|(at, _)| *at)
    }
}

/// A file as a link from a page in this directory; both are absolute.
fn relative(directory: &Path, file: &Path) -> Option<String> {
    let [from, to]: [Vec<Component<'_>>; 2] =
        [directory, file].map(|path| path.components().collect());
    let is_plain = |part: &Component<'_>| !matches!(part, Component::ParentDir);
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if common == 0 || !from.iter().chain(&to).all(is_plain) {
        return None;
    }
    let up = from[common..].iter().map(|_| Some("..".to_owned()));
    let down = to[common..].iter().map(|part| part.as_os_str().to_str().map(encoded));
    let parts: Vec<String> = up.chain(down).collect::<Option<_>>()?;
    Some(parts.join("/"))
}

/// A part of a path as URLs have it.
fn encoded(part: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let bytes = part.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    bytes.collect()
}

/// The place of the bug with the lines around it, the line itself marked.
pub(super) fn source_lines(finding: &Finding, about: &About, links: &Links) -> String {
    let Some(at) = &finding.bug.location else { return String::new() };
    let place = links.linked(&at.to_string());
    let mut out = format!("<p class=\"place\">at <code>{place}</code></p>\n");
    let Some(text) = source::read(at, about.source_root.as_deref()) else { return out };
    let line = at.line as usize;
    out += "<pre class=\"source\">";
    let from = line.saturating_sub(AROUND + 1);
    for (number, text) in (1..).zip(text.lines()).skip(from).take(line + AROUND - from) {
        let text: String = text.chars().take(WIDEST).collect();
        let row = format!("{number:>5}  {}", escaped(text.trim_end()));
        let _ = match number == line {
            true => writeln!(out, "<mark>{row}</mark>"),
            false => writeln!(out, "{row}"),
        };
    }
    out + "</pre>\n"
}

pub(super) fn replay_commands(commands: &[String], about: &About) -> String {
    let mut out = String::from("<div class=\"replay\"><h2>Replay it with</h2>\n");
    // The best command is the last; the page shows it first.
    for command in commands.iter().rev() {
        out += &format!("<p><code class=\"command\">{}</code></p>\n", escaped(command));
    }
    if let Some(saved) = &about.saved {
        let saved = escaped(&saved.display().to_string());
        out += &format!("<p class=\"saved\">The schedule is saved in <code>{saved}</code></p>\n");
    }
    out + "</div>\n"
}

/// All steps, an item each, and what holds in the end. The script reads the texts from here.
pub(super) fn steps_list(told: &Parts) -> String {
    let mut out = String::from("<ol id=\"steps\">\n");
    for (number, (name, lines)) in (1..).zip(&told.steps) {
        if let Some((start, text)) = &told.divider
            && *start == number
        {
            let text = escaped(text);
            out += &format!("</ol>\n<p id=\"loop\">{text}</p>\n<ol start=\"{number}\">\n");
        }
        out += &step(name, lines);
    }
    out += &format!("</ol>\n<p class=\"bug\">BUG {}</p>\n", escaped(&told.headline));
    match told.ending.trim_start() {
        "" => out,
        ending => out + &format!("<pre>{}</pre>\n", escaped(ending)),
    }
}

fn step(name: &str, lines: &[(bool, String)]) -> String {
    let mut out = format!("<li><b>{}</b><ul>", escaped(name));
    for (fault, line) in lines {
        let class = if *fault { " class=\"fault\"" } else { "" };
        out += &format!("<li{class}>{}</li>", escaped(line));
    }
    out + "</ul></li>\n"
}

/// The nearest schedule that does not fail: what is otherwise in it, and its steps.
pub(super) fn nearest(told: &Parts) -> String {
    let Some(otherwise) = &told.nearest else { return String::new() };
    let steps: String = otherwise.steps.iter().map(|(name, lines)| step(name, lines)).collect();
    format!(
        "<section id=\"nearest\" aria-label=\"The nearest schedule that does not fail\">\n\
         <h2>The nearest schedule that does not fail</h2>\n<p class=\"otherwise\">{}</p>\n\
         <details><summary>Its steps</summary>\n<ol>\n{steps}</ol>\n</details>\n</section>\n",
        escaped(&otherwise.sentence)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_linked_from_where_the_page_is() {
        let link = |directory: &str, file: &str| relative(Path::new(directory), Path::new(file));
        assert_eq!(link("/a/.dally", "/a/src/my pool.rs").unwrap(), "../src/my%20pool.rs");
        assert_eq!(link("/a", "/a/src/ä.rs").unwrap(), "src/%C3%A4.rs");
        assert_eq!(link("/a/../b", "/a/src/x.rs"), None);
        assert_eq!(link("a", "/a/src/x.rs"), None);
    }

    #[test]
    fn places_are_linked_as_a_whole() {
        let place = |line: &str| (format!("src/x.rs:{line}"), "../src/x.rs".to_owned());
        let links = Links { places: vec![place("1:2"), place("1:23")] };
        assert_eq!(
            links.linked("<at> src/x.rs:1:23, src/x.rs:1:2 and src/x.rs:1:234"),
            "&lt;at&gt; <a href=\"../src/x.rs\">src/x.rs:1:23</a>, \
             <a href=\"../src/x.rs\">src/x.rs:1:2</a> and src/x.rs:1:234"
        );
    }
}
