//! A finding as one HTML file that needs nothing else: no network, no other file.
//!
//! The list of all steps is plain HTML, so it can be read without JavaScript and by screen readers. The
//! script draws a space-time diagram from the same list and from the order of steps, which stands
//! beside it as data. Everything that comes from the program under test is escaped, and the content policy of
//! the page lets nothing run or load but the script and the style of this module.

mod model;
mod parts;

use dally_core::words::visible;
use dally_core::{Finding, Report, Trace, WorkerId};
use serde::Serialize;

use self::model::Model;
use self::parts::{
    Links, facts_table, json_in_html, nearest, replay_commands, source_lines, steps_list,
};
use crate::about::About;
use crate::text;

const SCRIPT: &str = concat!(
    include_str!("page/diagram.js"),
    "\n",
    include_str!("page/panel.js"),
    "\n",
    include_str!("page/page.js")
);

/// Runs before the list of steps is read, which is not laid out where a diagram will stand instead of it: that takes
/// long for ten thousand steps.
const EARLY: &str = "document.documentElement.classList.add(\"scripted\");";

/// The content policy names the scripts and the style by their SHA-256. A test compares them.
const STYLE_HASH: &str = "D1jVbls3dHBrbkqnVcQDsMk+8Ufc+2Vb1uzadjHsF/Y=";
const EARLY_HASH: &str = "W5/jOLo1kjsZtZyc150/5ZI5KfLv2QW9PI7F3a2fn5k=";
const SCRIPT_HASH: &str = "+nVV8sJA8n/aTTvV29zHtjKB21MrrZ1kfdE+9I0vOzo=";

/// The page of a finding. `run` is the run that showed it, as far as it is known.
///
/// ```
/// use dally_core::{Bug, Finding, Problem, Report, Schedule};
/// use dally_report::{About, page};
///
/// let bug = Bug::new(Problem::StepBound { bound: 1000 });
/// let finding = Finding::new(bug, Schedule::default(), 1);
/// let html = page::finding(&finding, &Report::new("pool", ""), &About::new("pool"));
/// assert!(html.contains("the execution does not end within 1,000 steps"));
/// ```
pub fn finding(finding: &Finding, run: &Report, about: &About) -> String {
    let told = text::parts(finding, run, about);
    let model = Model::of(finding);
    let kind = escaped(finding.bug.kind().name());
    let title = escaped(&format!("{}: {}", about.program, told.headline));
    let links = Links::of(finding, about);
    let more = told.more.iter().map(|line| format!("<p>{}</p>\n", links.linked(line)));
    let more: String = more.collect();
    let otherwise = told.nearest.as_ref().map_or_else(String::new, |nearest| {
        let sentence = escaped(&nearest.sentence);
        format!("<p><a href=\"#nearest\">{sentence}</a></p>\n")
    });
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{EARLY_HASH}' \
         'sha256-{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'"
    );
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{STYLE}</style>
<script>{EARLY}</script>
</head>
<body>
<header>
<h1><span class="kind">bug[{kind}]</span> {headline}</h1>
{more}{otherwise}{source}{facts}{replay}</header>
<main id="main">
<section id="diagram" hidden aria-label="Space-time diagram"></section>
<section id="list" class="early" aria-label="All steps">
<h2>{heading}</h2>
{steps}</section>
{nearest}</main>
<script type="application/json" id="model">{data}</script>
<script>{SCRIPT}</script>
</body>
</html>
"#,
        headline = escaped(&told.headline),
        source = source_lines(finding, about, &links),
        facts = facts_table(&told.facts, &links),
        replay = replay_commands(&told.replay, about),
        heading = escaped(&told.heading),
        steps = steps_list(&told),
        nearest = nearest(&told),
        data = json_in_html(&model),
    )
}

/// What draws an execution that is not, or not yet, a finding, for pages of one's own: [`DIAGRAM`] makes a
/// diagram of `model`, with the texts of the steps beside it.
#[derive(Serialize)]
pub struct Drawing {
    model: Model,
    /// Who takes each step, and what happens in it, line by line.
    steps: Vec<(String, Vec<String>)>,
}

impl Drawing {
    /// The drawing of an execution; at each step `enabled` could step, where that is known.
    pub fn of(trace: &Trace, enabled: &[Vec<WorkerId>]) -> Drawing {
        let shown = |text: &String| visible(text).into_owned();
        let steps = text::steps(trace).into_iter();
        let steps = steps.map(|(name, lines)| (shown(&name), lines.iter().map(shown).collect()));
        // It comes to nothing yet: there is no bug that its steps lead to.
        let model = Model::new(trace, enabled, Vec::new());
        Drawing { model, steps: steps.collect() }
    }
}

/// The script of the diagram: `Diagram`, `Order`, and `Panel` for one step of it.
pub const DIAGRAM: &str =
    concat!(include_str!("page/diagram.js"), "\n", include_str!("page/panel.js"));

/// A text as HTML shows it, whatever is in it.
///
/// ```
/// assert_eq!(dally_report::page::escaped("</script>"), "&lt;/script&gt;");
/// ```
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in visible(text).chars() {
        match char {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(char),
        }
    }
    out
}

/// The style of the diagram and of all around it.
pub const STYLE: &str = include_str!("page/page.css");

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_content_policy_names_the_script_and_the_style_as_they_are() {
        let hash = |text: &str| {
            base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()))
        };
        assert_eq!((hash(STYLE), hash(SCRIPT)), (STYLE_HASH.into(), SCRIPT_HASH.into()));
        assert_eq!(hash(EARLY), EARLY_HASH);
    }

    #[test]
    fn a_page_without_its_trace_is_small() {
        assert!(STYLE.len() + SCRIPT.len() < 100_000);
    }
}
