//! The page of `dally explore`: sessions of those who have it open.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dally::explore::page::{self, File};
use dally::explore::{Reply, Request};
use tiny_http::Method;

use super::{Ask, Opener, say};
use crate::CLEAN;
use crate::error::CliError;
use crate::server::{Answer, Server, file, json, plain};

/// The most sessions; a tab that is loaded has one. The requests of one session wait for each other.
const MOST_SESSIONS: usize = 64;

/// The most bytes of a request.
const LONGEST: u64 = 16 << 20;

struct Pages {
    opener: Opener,
    files: Vec<File>,
    sessions: Mutex<Sessions>,
}

#[derive(Default)]
struct Sessions {
    last: u64,
    open: BTreeMap<u64, Arc<Mutex<Ask>>>,
}

/// Serves the page until the process is ended.
pub fn serve(opener: Opener, port: Option<u16>) -> Result<u8, CliError> {
    // Whether the program can be explored shows before anybody opens a browser.
    let first = opener.open()?;
    let server = Server::open(port)?;
    crate::print(&format!("{}\n", server.url()));
    say("open this page in a browser; Ctrl-C ends it\n");
    let mut sessions = Sessions::default();
    sessions.open.insert(0, Arc::new(Mutex::new(first)));
    let pages = Pages { opener, files: page::files().into(), sessions: Mutex::new(sessions) };
    server.run(|request, path| pages.page(request, path));
    Ok(CLEAN)
}

impl Pages {
    fn page(&self, request: &mut tiny_http::Request, path: &str) -> Answer {
        match (request.method(), path) {
            (Method::Post, "open") => self.open(),
            (Method::Post, path) => match path.strip_prefix("ask/").map(str::parse) {
                Some(Ok(session)) => self.ask(session, request),
                _ => plain(404, "there is no such session\n"),
            },
            (method, path) => file(&self.files, method, path),
        }
    }

    fn open(&self) -> Answer {
        let number = {
            let mut sessions = self.sessions();
            if sessions.open.len() >= MOST_SESSIONS {
                let oldest = sessions.open.keys().copied().find(|session| *session != 0);
                oldest.and_then(|oldest| sessions.open.remove(&oldest));
            }
            // The session that was opened to see whether it can be is the first.
            if let (0, Some(first)) = (sessions.last, sessions.open.remove(&0)) {
                sessions.last = 1;
                sessions.open.insert(1, first);
                return json(format!("{{\"session\":{}}}", sessions.last));
            }
            sessions.last += 1;
            sessions.last
        };
        match self.opener.open() {
            Ok(ask) => {
                self.sessions().open.insert(number, Arc::new(Mutex::new(ask)));
                json(format!("{{\"session\":{number}}}"))
            }
            Err(why) => plain(500, &format!("{why}\n")),
        }
    }

    fn ask(&self, session: u64, request: &mut tiny_http::Request) -> Answer {
        let Some(ask) = self.sessions().open.get(&session).cloned() else {
            return plain(404, "there is no such session any more: load the page again\n");
        };
        let mut body = Vec::new();
        if request.as_reader().take(LONGEST + 1).read_to_end(&mut body).is_err() {
            return plain(400, "the request has no end\n");
        }
        if body.len() as u64 > LONGEST {
            return plain(413, "the request is too long\n");
        }
        let reply = match serde_json::from_slice::<Request>(&body) {
            Ok(request) => {
                let mut ask = ask.lock().unwrap_or_else(PoisonError::into_inner);
                ask(request)
            }
            Err(why) => Reply::error(format!("the request cannot be read: {why}")),
        };
        json(page::reply(&reply))
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
