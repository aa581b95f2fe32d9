//! What a browser shows of a session: the files of the page, and replies with what it draws.

use dally_core::words::visible;
use dally_report::page::{DIAGRAM, Drawing, STYLE};
use serde::Serialize;
use serde_json::Value;

use crate::request::{Map, Place, Reply};
use crate::session::{described, named};

/// The content policy of the page: its own files and requests to where it comes from, nothing else.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                          base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
pub struct File {
    /// Its name; the page itself has none.
    pub name: &'static str,
    /// Its media type.
    pub media: &'static str,
    /// What is in it.
    pub text: String,
}

/// All files of the page.
pub fn files() -> [File; 3] {
    let script = [DIAGRAM, include_str!("page/map.js"), include_str!("page/explore.js")].join("\n");
    let style = [STYLE, include_str!("page/explore.css")].join("\n");
    [
        File {
            name: "",
            media: "text/html; charset=utf-8",
            text: include_str!("page/explore.html").into(),
        },
        File { name: "explore.js", media: "text/javascript; charset=utf-8", text: script },
        File { name: "explore.css", media: "text/css; charset=utf-8", text: style },
    ]
}

/// A reply as the script of the page reads it.
#[derive(Serialize)]
struct Shown<'a> {
    error: Option<&'a str>,
    said: &'a [String],
    schedule: Option<&'a str>,
    map: Option<&'a Map>,
    view: Option<ShownView<'a>>,
}

#[derive(Serialize)]
struct ShownView<'a> {
    program: &'a str,
    granularity: &'a str,
    at: usize,
    of: usize,
    here: &'a Place,
    same_as: &'a [usize],
    marks: Vec<(&'a String, usize)>,
    left_at: Option<&'a str>,
    /// Each worker and monitor in words.
    state: Vec<(String, String)>,
    drawing: Drawing,
}

/// A reply as JSON for the script of the page, without characters that are hidden or change direction.
pub fn reply(reply: &Reply) -> String {
    let view = reply.view.as_deref().map(|view| {
        let workers = view.picture.workers.iter();
        let workers = workers.map(|(id, worker)| (named(*id, &worker.name), described(worker)));
        let monitors = view.picture.monitors.iter().map(|(name, monitor)| {
            let heat = if monitor.heat == dally_core::Heat::Hot { "hot " } else { "" };
            (format!("monitor {name}"), format!("in {heat}{}", monitor.state))
        });
        ShownView {
            program: &view.program,
            granularity: &view.granularity,
            at: view.at,
            of: view.of,
            here: &view.here,
            same_as: &view.same_as,
            marks: view.marks.iter().map(|(name, step)| (name, *step)).collect(),
            left_at: view.left_at.as_deref(),
            state: workers.filter(|row| row.1 != "nothing shows").chain(monitors).collect(),
            drawing: Drawing::of(&view.trace, &view.enabled),
        }
    });
    let shown = Shown {
        error: reply.error.as_deref(),
        said: &reply.said,
        schedule: reply.schedule.as_deref(),
        map: reply.map.as_ref(),
        view,
    };
    // The data have string keys and no other sources of errors.
    let mut json = serde_json::to_value(&shown).unwrap_or_default();
    if reply.schedule.is_none() {
        show(&mut json);
    }
    json.to_string()
}

/// Writes out what is hidden in the texts of a document, or changes their direction.
fn show(json: &mut Value) {
    match json {
        Value::String(text) => *text = visible(text).into_owned(),
        Value::Array(values) => values.iter_mut().for_each(show),
        Value::Object(values) => values.values_mut().for_each(show),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
