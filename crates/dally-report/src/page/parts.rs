//! The parts of the page that are plain HTML.

use std::fmt::Write;

use dally_core::Finding;
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

pub(super) fn facts_table(facts: &[(&'static str, String)]) -> String {
    let rows = facts.iter().map(|(label, fact)| {
        format!("<tr><th scope=\"row\">{label}</th><td>{}</td></tr>\n", escaped(fact))
    });
    format!("<table class=\"facts\">\n{}</table>\n", rows.collect::<String>())
}

/// The place of the bug with the lines around it, the line itself marked.
pub(super) fn source_lines(finding: &Finding, about: &About) -> String {
    let Some(at) = &finding.bug.location else { return String::new() };
    let mut out = format!("<p class=\"place\">at <code>{}</code></p>\n", escaped(&at.to_string()));
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
