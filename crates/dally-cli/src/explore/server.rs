//! The page of `dally explore`, served on the loopback address to those who know its token.
//!
//! A page of another site can make a browser send requests here. So whoever does not know the token is
//! refused; so is a request that names another host, as after a name was rebound to this address, and one
//! that says it comes from another page.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use dally::explore::page::{self, File, POLICY};
use dally::explore::{Reply, Request};
use tiny_http::{Header, Method, Response, Server, StatusCode};

use super::{Ask, Opener, say};
use crate::CLEAN;
use crate::error::CliError;

/// How many requests are answered at the same time: those of one session wait for each other.
const THREADS: usize = 8;

/// The most sessions; a tab that is loaded has one.
const MOST_SESSIONS: usize = 64;

/// The most bytes of a request.
const LONGEST: u64 = 16 << 20;

struct Pages {
    opener: Opener,
    token: String,
    /// `127.0.0.1:PORT` and `localhost:PORT`.
    hosts: [String; 2],
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
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
    let not_served = |why: String| CliError::NotServed { port: address.port(), why };
    let server = Server::http(address).map_err(|why| not_served(why.to_string()))?;
    let bound = server.server_addr().to_ip().ok_or_else(|| not_served("no address".into()))?;
    let token = token().map_err(|why| not_served(why.to_string()))?;
    let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", bound.port()));
    crate::print(&format!("http://{}/{token}/\n", hosts[0]));
    say("open this page in a browser; Ctrl-C ends it\n");
    let mut sessions = Sessions::default();
    sessions.open.insert(0, Arc::new(Mutex::new(first)));
    let files = page::files().into();
    let pages = Pages { opener, token, hosts, files, sessions: Mutex::new(sessions) };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Ok(request) = server.recv() {
                    pages.answer(request);
                }
            });
        }
    });
    Ok(CLEAN)
}

/// 128 bits that nobody can guess, as text.
fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

type Answer = Response<Cursor<Vec<u8>>>;

impl Pages {
    fn answer(&self, mut request: tiny_http::Request) {
        let answer = match self.refusal(&request) {
            Some(why) => plain(403, why),
            None => self.page(&mut request),
        };
        // A browser that is gone needs no answer.
        let _ = request.respond(with_headers(answer));
    }

    /// Why a request is refused, if it is.
    fn refusal(&self, request: &tiny_http::Request) -> Option<&'static str> {
        let header = |name: &'static str| {
            let mut found = request.headers().iter().filter(move |header| header.field.equiv(name));
            (found.next().map(|header| header.value.as_str()), found.next().is_some())
        };
        let is_ours = |host: &str| self.hosts.iter().any(|ours| ours == host);
        if !matches!(header("Host"), (Some(host), false) if is_ours(host)) {
            return Some("this page is served to 127.0.0.1 and localhost only\n");
        }
        match header("Origin") {
            (None, _) => {}
            (Some(origin), false) if origin.strip_prefix("http://").is_some_and(is_ours) => {}
            _ => return Some("requests of other pages are refused\n"),
        }
        match self.path(request) {
            Some(_) => None,
            None => {
                Some("the token is missing or wrong: open the URL that `dally explore` printed\n")
            }
        }
    }

    /// What is asked for, after the token.
    fn path<'a>(&self, request: &'a tiny_http::Request) -> Option<&'a str> {
        let (token, path) = request.url().strip_prefix('/')?.split_once('/')?;
        is_same(token, &self.token).then_some(path)
    }

    fn page(&self, request: &mut tiny_http::Request) -> Answer {
        let path = self.path(request).unwrap_or_default().to_owned();
        match (request.method(), path.as_str()) {
            (Method::Get, path) => match self.files.iter().find(|file| file.name == path) {
                Some(file) => of_type(Response::from_string(&file.text), file.media),
                None => plain(404, "there is no such file\n"),
            },
            (Method::Post, "open") => self.open(),
            (Method::Post, path) => match path.strip_prefix("ask/").map(str::parse) {
                Some(Ok(session)) => self.ask(session, request),
                _ => plain(404, "there is no such session\n"),
            },
            _ => plain(405, "only GET and POST are answered\n"),
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

/// Compares without telling by the time it takes how much is the same.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

fn plain(status: u16, text: &str) -> Answer {
    of_type(Response::from_string(text), "text/plain; charset=utf-8")
        .with_status_code(StatusCode(status))
}

fn json(text: String) -> Answer {
    of_type(Response::from_string(text), "application/json")
}

fn of_type(answer: Answer, media: &str) -> Answer {
    match header("Content-Type", media) {
        Some(header) => answer.with_header(header),
        None => answer,
    }
}

fn with_headers(answer: Answer) -> Answer {
    let headers = [
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    headers
        .into_iter()
        .filter_map(|(name, value)| header(name, value))
        .fold(answer, Response::with_header)
}

fn header(name: &str, value: &str) -> Option<Header> {
    Header::from_bytes(name, value).ok()
}
