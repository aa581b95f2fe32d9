use dally_protocols::{Protocol, all, find};
use serde_json::json;

use crate::args::Format;
use crate::error::CliError;

/// The bundled protocols and their bugs.
pub fn list(format: Format) -> String {
    match format {
        Format::Text => text(),
        Format::Json => {
            let protocols: Vec<_> = all().iter().map(document).collect();
            let list = json!({ "format": "dally-list", "version": 1, "protocols": protocols });
            format!("{list:#}\n")
        }
    }
}

/// The protocol and its planted bug by name, or an error that lists what exists.
pub fn look_up(
    name: &str,
    bug: Option<&str>,
) -> Result<(&'static Protocol, Option<&'static str>), CliError> {
    let protocol = find(name).ok_or_else(|| {
        let known = all().iter().map(|protocol| protocol.name).collect();
        CliError::NoProtocol { name: name.to_owned(), known }
    })?;
    let Some(asked) = bug else { return Ok((protocol, None)) };
    match protocol.bugs.iter().find(|planted| planted.name == asked) {
        Some(planted) => Ok((protocol, Some(planted.name))),
        None if protocol.bugs.is_empty() => Err(CliError::NoBugs { protocol: protocol.name }),
        None => {
            let known = protocol.bugs.iter().map(|planted| planted.name).collect();
            Err(CliError::NoBug { protocol: protocol.name, bug: asked.to_owned(), known })
        }
    }
}

fn text() -> String {
    let width = all().iter().flat_map(|p| p.bugs).map(|bug| bug.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for protocol in all() {
        out += &format!("{}\n  {}\n", protocol.name, protocol.summary);
        for bug in protocol.bugs {
            out += &format!("    --bug {:width$}  {}\n", bug.name, bug.summary);
        }
        out.push('\n');
    }
    out += "Check one: dally check NAME [--bug BUG]; without --bug it is the correct version.\n";
    out
}

fn document(protocol: &Protocol) -> serde_json::Value {
    let bugs: Vec<_> = (protocol.bugs.iter())
        .map(|bug| json!({ "name": bug.name, "summary": bug.summary }))
        .collect();
    json!({
        "name": protocol.name,
        "summary": protocol.summary,
        "max_steps": protocol.max_steps,
        "bugs": bugs,
    })
}
