//! Whole programs.

use dally_p::program::Action;
use insta::assert_snapshot;

use super::accepted;

pub const CLIENT_SERVER: &str = r#"
type tRequest = (client: Client, id: int);
enum tStatus { OK, BAD }
event eRequest: tRequest;
event eResponse: (id: int, status: tStatus);
event eDone;
event eTimeOut;
eventset sClient = { eResponse, eDone };
param rounds: int;

fun next(id: int): int { return id + 1; }

machine Client {
    var server: Server;
    var id: int;
    var seen: map[int, tStatus];
    start state Init {
        entry (to_server: Server) {
            server = to_server;
            goto Ask, 1;
        }
    }
    state Ask {
        entry (first: int) {
            id = next(first);
            send server, eRequest, (client = this, id = id);
        }
        on eResponse do (answer: (id: int, status: tStatus)) {
            var i: int;
            assert answer.status == OK, format("answer {0} is {1}", answer.id, answer.status);
            seen[answer.id] = answer.status;
            foreach (i in keys(seen)) {
                if (i == 3) { break; }
            }
            if (sizeof(seen) < rounds) { goto Ask, id; }
            raise eDone;
        }
        on eDone goto End with { print "done"; }
        exit { id = id + 1; }
    }
    state End {
        ignore eResponse;
        defer eRequest;
        on null do { send server, halt; raise halt; }
    }
}

machine Server {
    var queue: seq[(int, bool)];
    var all: set[machine];
    start state Serve {
        on eRequest do handle;
    }
    fun handle(request: tRequest) {
        queue += (sizeof(queue), (request.id, $));
        queue -= 0;
        all += (request.client);
        all -= request.client;
        if (request.client in all) { return; }
        send request.client, eResponse, (id = request.id, status = OK);
        receive {
            case eTimeOut: { print "late"; }
            case eRequest: (again: tRequest) { announce eDone; }
        }
    }
}

machine Main {
    start state Init {
        entry {
            var server: Server;
            server = new Server();
            new Client(server);
        }
    }
}

spec Answers observes eRequest, eResponse {
    var open: set[int];
    start cold state Idle {
        on eRequest goto Waiting;
        ignore eResponse;
    }
    hot state Waiting {
        entry (request: tRequest) { open += (request.id); }
        on eResponse do (answer: (id: int, status: tStatus)) {
            open -= (answer.id);
            if (sizeof(open) == 0) { goto Idle; }
        }
        on eRequest do (request: tRequest) { open += (request.id); }
    }
}

scenario Twice observes eRequest {
    start state None { on eRequest goto One; }
    state One { on eRequest goto Two; }
    cold state Two { ignore eRequest; }
}

module system = { Client, Server };
test tcOne [main=Main]: assert Answers in (union system, { Main });
test param (rounds in [1, 2]) tcTwo [main=Main]: (union system, { Main });
"#;

#[test]
fn a_whole_program_is_accepted_and_its_tests_are_evaluated() {
    let program = accepted(CLIENT_SERVER);
    let names: Vec<&str> = program.tests.iter().map(|test| &*test.name).collect();
    assert_eq!(names, ["tcOne", "tcTwo___rounds_1", "tcTwo___rounds_2"]);
    let one = &program.tests[0];
    assert_eq!(one.machines.len(), 3);
    assert_eq!(one.links.len(), 2);
    let specs: Vec<(&str, usize)> = one
        .specs
        .iter()
        .map(|(spec, told)| (&*program.machines[spec.index()].name, told.len()))
        .collect();
    assert_eq!(specs, [("Answers", 3), ("Twice", 3)]);
    assert_eq!(program.tests[1].specs.len(), 1);
    let client = &program.machines[0];
    assert_eq!(client.states[1].handlers.len(), 2);
    assert!(client.states[1].handlers.values().any(|it| matches!(it.action, Action::Goto(..))));
}

#[test]
fn an_error_is_shown_in_its_source() {
    let wrong = CLIENT_SERVER
        .replace("status = OK", "status = 1")
        .replace("send server, halt", "send sever, halt");
    let mut sources = dally_p::source::Sources::default();
    sources.add("ClientServer.p", wrong);
    let compiled = dally_p::compile(sources);
    assert_snapshot!(
        dally_p::diagnostic::render(&compiled.diagnostics, &compiled.sources, false),
        @r"
    error: there is no variable, event or enum element `sever`
      --> ClientServer.p:44:27
       |
    44 |         on null do { send sever, halt; raise halt; }
       |                           ^^^^^ not declared
       |
       = help: did you mean `server`?

    error: expected `tStatus`, found `int`
      --> ClientServer.p:60:68
       |
     5 | event eResponse: (id: int, status: tStatus);
       |       --------- `eResponse` carries `(id: int, status: tStatus)`
    ...
    60 |         send request.client, eResponse, (id = request.id, status = 1);
       |                                                                    ^ this is `int`
       |
       = help: convert it with `to tStatus`

    error: 2 errors in 1 file
    "
    );
}

#[test]
fn tests_of_an_included_project_are_its_own_business() {
    let mut sources = dally_p::source::Sources::default();
    sources.add("main.p", "machine Main { start state S { } } test t [main=Main]: m;");
    sources.include("lib.p", "module m = { Main }; test t [main=Main]: m; test u [main=Main]: m;");
    let tests = dally_p::compile(sources).program.unwrap().tests;
    assert_eq!(tests.iter().map(|test| &*test.name).collect::<Vec<_>>(), ["t"]);
}

#[test]
fn all_files_of_a_project_are_one_scope() {
    let mut sources = dally_p::source::Sources::default();
    sources.add("test.p", "test t [main=Main]: { Main };");
    sources.add("main.p", "machine Main { start state S { entry { raise e, 1; } ignore e; } }");
    sources.add("events.p", "event e: int;");
    assert_eq!(dally_p::compile(sources).program.unwrap().tests.len(), 1);
}
