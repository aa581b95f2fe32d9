//! Pages that commands serve: to those who may have them, and to nobody else.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::command::{Scratch, command};

/// A page that a command serves, until it is dropped.
pub struct Served {
    child: Child,
    pub port: u16,
    pub token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Served {
    /// By the command with these arguments, whose first line says where it is.
    pub fn by(arguments: &[&str], scratch: &Scratch) -> Served {
        let mut command = command(arguments, &scratch.0);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let rest = url.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once('/').unwrap();
        let token = token.trim_end_matches('/').to_owned();
        Served { child, port: port.parse().unwrap(), token }
    }

    /// The status and the body of an answer to this request.
    pub fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, body.to_owned())
    }
}

#[test]
fn a_page_is_served_only_to_who_knows_its_token_and_names_this_host_and_comes_from_it() {
    let scratch = Scratch::new("served");
    guarded(&Served::by(&["explore", "stale-cache"], &scratch), "explore.js");
    let campaign = ["campaign", "run", "stale-cache", "--strategies", "random", "--serve"];
    guarded(&Served::by(&campaign, &scratch), "live.js");
}

/// Whether a page that has this file is refused to all others.
fn guarded(page: &Served, script: &str) {
    let (ours, local) = (format!("127.0.0.1:{}", page.port), format!("localhost:{}", page.port));
    let root = format!("/{}/", page.token);
    let origin = format!("http://{ours}");
    let status = |path: &str, headers: &[(&str, &str)]| page.ask("GET", path, headers, "").0;
    assert_eq!(status(&root, &[("Host", &ours)]), 200);
    assert_eq!(status(&root, &[("Host", &local), ("Origin", &origin)]), 200);
    assert_eq!(status(&format!("{root}{script}"), &[("Host", &ours)]), 200);
    // Without the token, with another one, with a part of it.
    assert_eq!(status("/", &[("Host", &ours)]), 403);
    assert_eq!(status(&format!("/{script}"), &[("Host", &ours)]), 403);
    assert_eq!(status(&format!("/{}/", "0".repeat(page.token.len())), &[("Host", &ours)]), 403);
    assert_eq!(status(&format!("/{}/", &page.token[1..]), &[("Host", &ours)]), 403);
    // A name that was rebound to this address, and pages of others.
    assert_eq!(status(&root, &[("Host", "evil.example")]), 403);
    assert_eq!(status(&root, &[]), 403);
    assert_eq!(status(&root, &[("Host", &ours), ("Host", "evil.example")]), 403);
    for foreign in ["http://evil.example", "null", "https://127.0.0.1", &format!("https://{ours}")]
    {
        assert_eq!(status(&root, &[("Host", &ours), ("Origin", foreign)]), 403, "{foreign}");
    }
    assert_eq!(status(&format!("{root}../Cargo.toml"), &[("Host", &ours)]), 404);
    // Nothing but the loopback address is bound.
    #[cfg(target_os = "linux")]
    {
        let port = format!(":{:04X} ", page.port);
        let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let bound: Vec<&str> = sockets
            .lines()
            .filter_map(|line| {
                let local = line.split_whitespace().nth(1)?;
                format!("{local} ").contains(&port).then(|| local.split(':').next().unwrap())
            })
            .collect();
        assert!(
            !bound.is_empty() && bound.iter().all(|address| *address == "0100007F"),
            "{bound:?}"
        );
    }
}
