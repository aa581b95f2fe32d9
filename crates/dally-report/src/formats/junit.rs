//! JUnit's XML, as CI servers read it: a case for each program, a failure for each finding.

use dally_core::words::visible;

use super::Outcome;
use crate::text;

/// The document; `suite` is the name of all these programs together.
///
/// ```
/// use dally_core::Report;
/// use dally_report::formats::{Outcome, junit};
///
/// let report = Report::new("pool", "");
/// let xml = junit("dally", &[Outcome::new("pool", &report, Vec::new())]);
/// assert!(xml.contains(r#"<testsuite name="dally" tests="1" failures="0" errors="0""#));
/// ```
pub fn junit(suite: &str, outcomes: &[Outcome<'_>]) -> String {
    let failed = outcomes.iter().filter(|outcome| !outcome.report.findings.is_empty()).count();
    let errors = outcomes.iter().filter(|outcome| outcome.error.is_some()).count();
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.report.elapsed.as_secs_f64()).sum();
    let suite = escaped(suite);
    let totals = format!(
        "tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" time=\"{seconds:.3}\"",
        outcomes.len()
    );
    let cases: String = outcomes.iter().map(|outcome| case(&suite, outcome)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"{suite}\" {totals}>\n\
         <testsuite name=\"{suite}\" {totals}>\n{cases}</testsuite>\n</testsuites>\n"
    )
}

fn case(suite: &str, outcome: &Outcome<'_>) -> String {
    let report = outcome.report;
    let mut out = format!(
        "<testcase classname=\"{suite}\" name=\"{}\" time=\"{:.3}\">\n",
        escaped(outcome.name),
        report.elapsed.as_secs_f64()
    );
    for (finding, about) in outcome.findings() {
        out += &format!(
            "<failure type=\"{}\" message=\"{}\">{}</failure>\n",
            escaped(finding.bug.kind().name()),
            escaped(&text::line(&finding.bug)),
            escaped(&text::finding(finding, report, about)),
        );
    }
    if let Some(error) = &outcome.error {
        out += &format!("<error type=\"not-checked\" message=\"{}\"/>\n", escaped(error));
    }
    out + &format!(
        "<system-out>covered: {}</system-out>\n</testcase>\n",
        escaped(&text::coverage(report))
    )
}

/// A text in XML, where control characters cannot stand even as entities. Ends of lines are kept.
fn escaped(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(visible).collect();
    let mut out = String::with_capacity(text.len());
    for char in lines.join("\n").chars() {
        match char {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            // Noncharacters, which XML refuses.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(char),
        }
    }
    out
}
