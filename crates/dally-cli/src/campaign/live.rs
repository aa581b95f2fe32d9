//! The page of a campaign that is under way.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use dally::explore::page::File;
use dally_campaign::{Progress, Store, live, report};
use tiny_http::Method;

use crate::error::CliError;
use crate::server::{self, Answer, Server};

/// The page, as long as this process lives.
pub struct LivePage {
    /// How far the campaign is, as JSON; empty before the first batch.
    progress: Arc<Mutex<String>>,
}

impl LivePage {
    /// Shows this from now on.
    pub fn show(&self, progress: &Progress<'_>) {
        let json = live::json(progress);
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = json;
    }
}

/// Serves the page of the campaign in this directory, and prints where it is.
pub fn serve(directory: &Path, port: Option<u16>) -> Result<LivePage, CliError> {
    let server = Server::open(port)?;
    crate::print(&format!("{}\n", server.url()));
    let progress: Arc<Mutex<String>> = Arc::default();
    let (shown, directory) = (Arc::clone(&progress), directory.to_owned());
    let file = |name, media, text: &str| File { name, media, text: text.to_owned() };
    let files = [
        file("", "text/html; charset=utf-8", live::PAGE),
        file("live.js", "text/javascript; charset=utf-8", live::SCRIPT),
        file("live.css", "text/css; charset=utf-8", live::STYLE),
    ];
    thread::spawn(move || {
        server.run(|request, path| match (request.method(), path) {
            (Method::Get, "progress") => {
                let json = shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
                match json.is_empty() {
                    true => server::plain(202, "the first batch has not begun\n"),
                    false => server::json(json),
                }
            }
            (Method::Get, "report") => page(&directory),
            (method, path) => server::file(&files, method, path),
        });
    });
    Ok(LivePage { progress })
}

/// The report of all that is kept so far.
fn page(directory: &Path) -> Answer {
    match Store::look(directory).and_then(|store| report::page(&store)) {
        Ok(page) => server::document(page),
        Err(why) => server::plain(500, &format!("{why}\n")),
    }
}
