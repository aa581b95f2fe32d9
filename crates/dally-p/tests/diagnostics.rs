//! What people and programs see of errors.

use dally_p::diagnostic::{self, Diagnostic, Report};
use dally_p::source::{FileId, Sources, Span};
use dally_p::syntax;

fn span(file: FileId, start: usize, end: usize) -> Span {
    Span { file, start: start as u32, end: end as u32 }
}

/// The complaints about one file, as text.
fn complaints(source: &str) -> String {
    let mut sources = Sources::default();
    let file = sources.add("a.p", source);
    let (_, diagnostics) = syntax::parse(&sources, file);
    diagnostic::render(&diagnostics, &sources, false)
}

#[test]
fn an_error_shows_its_line_a_caret_and_advice() {
    insta::assert_snapshot!(complaints("event a;\nmachine M {\n  var n: int = 5;\n}\n"), @r#"
        error: a variable has no initial value in its declaration
         --> a.p:3:14
          |
        3 |   var n: int = 5;
          |              ^
          |
          = help: declare it first, `var n: ...;`, and give it its value in a statement, `n = ...;`

        error: 1 error in 1 file
    "#);
}

#[test]
fn several_errors_are_sorted_by_place_and_counted() {
    let mut sources = Sources::default();
    let a = sources.add("src/a.p", "event a;\nevent b;\n");
    let b = sources.add("src/b.p", "event a;\n");
    let diagnostics = [
        Diagnostic { span: None, ..diagnostic::error(span(a, 0, 0), "there is no test") },
        diagnostic::error(span(b, 6, 7), "`a` is declared twice")
            .label("here again")
            .also(span(a, 6, 7), "first here"),
        diagnostic::warning(span(a, 15, 16), "`b` is never sent").hint("send it or leave it out"),
    ];
    insta::assert_snapshot!(diagnostic::render(&diagnostics, &sources, false), @r#"
        warning: `b` is never sent
         --> src/a.p:2:7
          |
        2 | event b;
          |       ^
          |
          = help: send it or leave it out

        error: `a` is declared twice
         --> src/b.p:1:7
          |
        1 | event a;
          |       ^ here again
          |
         ::: src/a.p:1:7
          |
        1 | event a;
          |       - first here

        error: there is no test

        error: 2 errors and 1 warning in 2 files
    "#);
    insta::assert_snapshot!(diagnostic::summary(&diagnostics), @"2 errors and 1 warning in 2 files");
    insta::assert_snapshot!(diagnostic::summary(&diagnostics[1..2]), @"1 error in 1 file");
    insta::assert_snapshot!(diagnostic::summary(&[]), @"");
}

#[test]
fn an_error_as_json_says_all_that_the_text_says() {
    let mut sources = Sources::default();
    let a = sources.add("a.p", "event ä;\r\nevent b;\r\n");
    let diagnostics = [
        diagnostic::error(span(a, 17, 18), "`b` is declared twice")
            .label("here again")
            .also(span(a, 6, 8), "first here")
            .hint("rename it"),
        Diagnostic { span: None, ..diagnostic::warning(span(a, 0, 0), "there is no test") },
    ];
    let json = serde_json::to_string_pretty(&Report::all(&diagnostics, &sources)).unwrap();
    insta::assert_snapshot!(json, @r#"
        [
          {
            "severity": "error",
            "message": "`b` is declared twice",
            "place": {
              "file": "a.p",
              "line": 2,
              "column": 7,
              "end_line": 2,
              "end_column": 8
            },
            "label": "here again",
            "related": [
              {
                "place": {
                  "file": "a.p",
                  "line": 1,
                  "column": 7,
                  "end_line": 1,
                  "end_column": 8
                },
                "message": "first here"
              }
            ],
            "hint": "rename it"
          },
          {
            "severity": "warning",
            "message": "there is no test"
          }
        ]
    "#);
}

#[test]
fn colours_come_only_when_asked_for() {
    let mut sources = Sources::default();
    let a = sources.add("a.p", "event a");
    let diagnostics = [diagnostic::error(span(a, 6, 7), "bad")];
    assert!(!diagnostic::render(&diagnostics, &sources, false).contains('\x1b'));
    assert!(diagnostic::render(&diagnostics, &sources, true).contains('\x1b'));
}

#[test]
fn lines_that_end_in_carriage_return_and_line_feed_look_like_others() {
    insta::assert_snapshot!(complaints("event a;\r\nevent b\r\nevent c;\r\n"), @r#"
        error: expected `;` after the declaration of an event
         --> a.p:2:8
          |
        2 | event b
          |        ^ here

        error: 1 error in 1 file
    "#);
}

#[test]
fn tabs_and_wide_characters_keep_the_caret_in_its_place() {
    insta::assert_snapshot!(
        complaints("machine M { start state S { entry {\n\tprint \"世界\"; x := 1;\n} } }"),
        @r#"
        error: `:=` does not assign
         --> a.p:2:16
          |
        2 |     print "世界"; x := 1;
          |                     ^^
          |
          = help: write `=` to assign

        error: 1 error in 1 file
    "#
    );
}

#[test]
fn the_end_of_a_file_without_a_last_newline_can_be_pointed_at() {
    insta::assert_snapshot!(complaints("machine M { start state S {"), @r#"
        error: expected `}`, found the end of the file
         --> a.p:1:28
          |
        1 | machine M { start state S {
          |                           -^
          |                           |
          |                           this state begins here and is never closed

        error: 1 error in 1 file
    "#);
}

#[test]
fn an_empty_file_can_be_pointed_at() {
    let mut sources = Sources::default();
    let a = sources.add("a.p", "");
    let diagnostics = [diagnostic::error(span(a, 0, 0), "there is nothing in it")];
    insta::assert_snapshot!(diagnostic::render(&diagnostics, &sources, false), @r#"
        error: there is nothing in it
         --> a.p:1:1
          |
        1 |
          | ^

        error: 1 error in 1 file
    "#);
}

#[test]
fn a_very_long_line_is_cut() {
    let source = format!("event a; {} var x; {}", "/* . */".repeat(20_000), " ".repeat(20_000));
    let text = complaints(&source);
    assert!(text.lines().all(|line| line.chars().count() < 200), "{}", text.len());
    insta::assert_snapshot!(text, @r#"
        error: there are no global variables
         --> a.p:1:140011
          |
        1 | ...* . *//* . *//* . *//* . *//* . *//* . *//* . *//* . *//* . */ var x;                                                             ...
          |                                                                   ^^^
          |
          = help: variables belong to machines and functions; a value that a test sets is a `param`

        error: 1 error in 1 file
    "#);
}

#[test]
fn a_span_outside_of_its_file_is_shown_as_far_as_it_goes() {
    let mut sources = Sources::default();
    let a = sources.add("a.p", "event ä;");
    for (start, end) in [(7, 8), (0, 1000), (1000, 2000), (5, 2)] {
        let diagnostics = [diagnostic::error(span(a, start, end), "bad")];
        assert!(diagnostic::render(&diagnostics, &sources, false).contains("a.p:1:"));
        Report::all(&diagnostics, &sources);
    }
}

#[test]
fn an_error_that_spans_lines_shows_where_it_begins_and_ends() {
    let mut sources = Sources::default();
    let text = "machine M {\n  start state S { }\n  state T { }\n}\n";
    let a = sources.add("a.p", text);
    let diagnostics = [diagnostic::error(span(a, 0, text.len() - 1), "no state is good enough")];
    insta::assert_snapshot!(diagnostic::render(&diagnostics, &sources, false), @r#"
        error: no state is good enough
         --> a.p:1:1
          |
        1 | / machine M {
        2 | |   start state S { }
        3 | |   state T { }
        4 | | }
          | |_^

        error: 1 error in 1 file
    "#);
}

#[test]
fn an_endless_line_is_left_out_but_for_its_place() {
    let source = format!("event a; {} var x;", " ".repeat(1 << 20));
    insta::assert_snapshot!(complaints(&source), @r#"
        error: there are no global variables
        --> a.p:1:1048587
         = help: variables belong to machines and functions; a value that a test sets is a `param`

        error: 1 error in 1 file
    "#);
}
