//! `dally explore`: by lines of text, and as a page to those who may have it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use crate::command::{Ran, Scratch, command, ran};

fn typed(arguments: &[&str], commands: &str, scratch: &Scratch) -> Ran {
    let mut command = command(&[&["explore", "--terminal"], arguments].concat(), &scratch.0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    ran(child.wait_with_output().unwrap(), &scratch.0)
}

#[test]
fn a_protocol_is_explored_in_the_terminal_and_its_schedule_replayed() {
    let scratch = Scratch::new("explored");
    let commands = "1\nstep 2\nback\nforward\nsearch random\nsave found.schedule\n";
    let shown = typed(&["stale-cache", "--bug", "stale-read"], commands, &scratch);
    assert_eq!((shown.code, &*shown.err), (0, ""), "{}", shown.out);
    assert!(
        shown.out.starts_with("\nstale-cache, after 0 steps\n\ncan step\n  1  main 0 "),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("found a bug, ") && shown.out.contains("saved in found.schedule"));
    let replayed = crate::dally(&["replay", "found.schedule"], &scratch);
    assert_eq!(replayed.code, 1, "{replayed:?}");

    let opened = typed(&["found.schedule"], "go 1\nnonsense\n", &scratch);
    assert!(opened.out.contains("BUG[panic]"), "{}", opened.out);
    assert!(opened.out.contains("stale-cache, after 1 of "), "{}", opened.out);
    assert_eq!(opened.code, 2, "a command was not done");
}

#[test]
fn a_model_in_p_has_a_map_and_a_test_of_several_is_named() {
    let scratch = Scratch::new("explored-p");
    let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocols/p/LockServer");
    let which = typed(&[project], "", &scratch);
    assert_eq!(which.code, 2);
    let names = which.err.split("several tests: ").nth(1).unwrap_or_else(|| panic!("{which:?}"));
    let first = names.split([',', '\n']).next().unwrap().to_owned();
    let shown = typed(&[project, "-t", &first], "map 2\n", &scratch);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("within 2 steps\nstate 0, after 0 steps: "), "{}", shown.out);
}

#[test]
fn what_is_not_there_is_told() {
    let scratch = Scratch::new("explored-none");
    let told = |arguments: &[&str]| {
        let shown = typed(arguments, "", &scratch);
        assert_eq!((shown.code, &*shown.out), (2, ""));
        shown.err
    };
    assert!(told(&["raft-v1", "paxos"]).contains("one program is explored at a time"));
    assert!(told(&["raft-v1", "--bug", "none"]).contains("`raft-v1` has no bug `none`; it has: "));
    assert!(told(&["nothing.schedule"]).contains("`nothing.schedule` cannot be read"));
    assert!(told(&["no-such-thing"]).contains("`no-such-thing` is no protocol, no P project"));
}

/// The page of a program, until it is dropped.
struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Served {
    fn new(scratch: &Scratch) -> Served {
        let mut command = command(&["explore", "stale-cache"], &scratch.0);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let rest = url.trim().strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once('/').unwrap();
        let token = token.trim_end_matches('/').to_owned();
        Served { child, port: port.parse().unwrap(), token }
    }

    /// The status and the body of an answer to this request.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
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
fn the_page_is_served_only_to_who_knows_its_token_and_names_this_host_and_comes_from_it() {
    let scratch = Scratch::new("served");
    let page = Served::new(&scratch);
    let (ours, local) = (format!("127.0.0.1:{}", page.port), format!("localhost:{}", page.port));
    let root = format!("/{}/", page.token);
    let origin = format!("http://{ours}");
    let status = |path: &str, headers: &[(&str, &str)]| page.ask("GET", path, headers, "").0;
    assert_eq!(status(&root, &[("Host", &ours)]), 200);
    assert_eq!(status(&root, &[("Host", &local), ("Origin", &origin)]), 200);
    assert_eq!(status(&format!("{root}explore.js"), &[("Host", &ours)]), 200);
    // Without the token, with another one, with a part of it.
    assert_eq!(status("/", &[("Host", &ours)]), 403);
    assert_eq!(status("/explore.js", &[("Host", &ours)]), 403);
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

#[test]
fn each_tab_has_a_session_of_its_own() {
    let scratch = Scratch::new("tabs");
    let page = Served::new(&scratch);
    let host = format!("127.0.0.1:{}", page.port);
    let post = |path: &str, body: &str| {
        page.ask("POST", &format!("/{}/{path}", page.token), &[("Host", &host)], body)
    };
    assert_eq!(post("open", ""), (200, "{\"session\":1}".into()));
    assert_eq!(post("open", ""), (200, "{\"session\":2}".into()));
    let stepped = post("ask/1", "{\"do\":\"step\",\"worker\":\"0\"}").1;
    assert!(stepped.contains("\"at\":1"), "{stepped}");
    assert!(post("ask/2", "{\"do\":\"look\"}").1.contains("\"at\":0"));
    assert_eq!(post("ask/3", "{\"do\":\"look\"}").0, 404);
    assert!(post("ask/1", "{\"do\":\"fly\"}").1.contains("the request cannot be read"));
    assert!(post("ask/1", "nonsense").1.contains("the request cannot be read"));
}
