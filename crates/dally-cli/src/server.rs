//! Pages that a command serves on the loopback address to those who know their token.
//!
//! A page of another site can make a browser send requests here. So whoever does not know the token is
//! refused; so is a request that names another host, as after a name was rebound to this address, and one
//! that says it comes from another page.

use std::io::Cursor;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

use dally::explore::page::{File, POLICY};
use tiny_http::{Header, Method, Request, Response, StatusCode};

use crate::error::CliError;

/// How many requests are answered at the same time.
const THREADS: usize = 8;

/// The answer to a request.
pub type Answer = Response<Cursor<Vec<u8>>>;

/// A port of the loopback address, and the token of those who may ask.
pub struct Server {
    server: tiny_http::Server,
    token: String,
    /// `127.0.0.1:PORT` and `localhost:PORT`.
    hosts: [String; 2],
}

impl Server {
    /// On this port, or on one that is free.
    pub fn open(port: Option<u16>) -> Result<Server, CliError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0)));
        let not_served = |why: String| CliError::NotServed { port: address.port(), why };
        let server = tiny_http::Server::http(address).map_err(|why| not_served(why.to_string()))?;
        let bound = server.server_addr().to_ip().ok_or_else(|| not_served("no address".into()))?;
        let token = token().map_err(|why| not_served(why.to_string()))?;
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", bound.port()));
        Ok(Server { server, token, hosts })
    }

    /// Where the page is, for those who may have it.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.hosts[0], self.token)
    }

    /// Answers requests for as long as the process lives. `page` gets what is asked for, after the token.
    pub fn run(&self, page: impl Fn(&mut Request, &str) -> Answer + Sync) {
        let answer = |mut request: Request| {
            let path = self.admitted(&request).map(str::to_owned);
            let answer = match path {
                Ok(path) => page(&mut request, &path),
                Err(why) => plain(403, why),
            };
            // A browser that is gone needs no answer.
            let _ = request.respond(with_headers(answer));
        };
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while let Ok(request) = self.server.recv() {
                        answer(request);
                    }
                });
            }
        });
    }

    /// What a request asks for, after the token; otherwise why it is refused.
    fn admitted<'r>(&self, request: &'r Request) -> Result<&'r str, &'static str> {
        let header = |name: &'static str| {
            let mut found = request.headers().iter().filter(move |header| header.field.equiv(name));
            (found.next().map(|header| header.value.as_str()), found.next().is_some())
        };
        let is_ours = |host: &str| self.hosts.iter().any(|ours| ours == host);
        if !matches!(header("Host"), (Some(host), false) if is_ours(host)) {
            return Err("this page is served to 127.0.0.1 and localhost only\n");
        }
        match header("Origin") {
            (None, _) => {}
            (Some(origin), false) if origin.strip_prefix("http://").is_some_and(is_ours) => {}
            _ => return Err("requests of other pages are refused\n"),
        }
        let named = request.url().strip_prefix('/').and_then(|url| url.split_once('/'));
        match named {
            Some((token, path)) if is_same(token, &self.token) => Ok(path),
            _ => Err("the token is missing or wrong: open the URL that the command printed\n"),
        }
    }
}

/// 128 bits that nobody can guess, as text.
fn token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares without telling by the time it takes how much is the same.
fn is_same(given: &str, token: &str) -> bool {
    let differences = given.bytes().zip(token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == token.len() && differences == 0
}

/// The file of this name, if that is what is asked for.
pub fn file(files: &[File], method: &Method, path: &str) -> Answer {
    match (method, files.iter().find(|file| file.name == path)) {
        (Method::Get, Some(file)) => of_type(Response::from_string(&file.text), file.media),
        (Method::Get, None) => plain(404, "there is no such file\n"),
        _ => plain(405, "only GET and POST are answered\n"),
    }
}

/// A sentence.
pub fn plain(status: u16, text: &str) -> Answer {
    of_type(Response::from_string(text), "text/plain; charset=utf-8")
        .with_status_code(StatusCode(status))
}

/// A document for the script of a page.
pub fn json(text: String) -> Answer {
    of_type(Response::from_string(text), "application/json")
}

/// A page that has its style in it and no script.
pub fn document(text: String) -> Answer {
    let page = of_type(Response::from_string(text), "text/html; charset=utf-8");
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
                  frame-ancestors 'none'";
    header(POLICY_HEADER, policy).into_iter().fold(page, Response::with_header)
}

fn of_type(answer: Answer, media: &str) -> Answer {
    match header("Content-Type", media) {
        Some(header) => answer.with_header(header),
        None => answer,
    }
}

/// The header of the content policy. An answer without one has that of pages whose files are served.
const POLICY_HEADER: &str = "Content-Security-Policy";

fn with_headers(answer: Answer) -> Answer {
    let has_policy = answer.headers().iter().any(|header| header.field.equiv(POLICY_HEADER));
    let headers = [
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    headers
        .into_iter()
        .chain((!has_policy).then_some((POLICY_HEADER, POLICY)))
        .filter_map(|(name, value)| header(name, value))
        .fold(answer, Response::with_header)
}

fn header(name: &str, value: &str) -> Option<Header> {
    Header::from_bytes(name, value).ok()
}
