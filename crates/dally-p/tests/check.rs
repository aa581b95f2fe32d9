//! What the checker says of programs: every diagnostic has its text here, and what it makes of
//! programs that it accepts.

mod check {
    pub mod declarations;
    pub mod expressions;
    pub mod modules;
    pub mod parameters;
    pub mod programs;
    pub mod purity;
    pub mod robust;
    pub mod statements;
    pub mod states;

    use dally_p::compile;
    use dally_p::diagnostic::Diagnostic;
    use dally_p::program::Program;
    use dally_p::source::Sources;

    /// The program of a text without errors and warnings.
    #[track_caller]
    pub fn accepted(text: &str) -> Program {
        assert_eq!(said(text), "");
        compile(one(text)).program.unwrap()
    }

    fn one(text: &str) -> Sources {
        let mut sources = Sources::default();
        sources.add("main.p", text);
        sources
    }

    /// What is said of a text: place, message, what is written at the caret, other places, help.
    pub fn said(text: &str) -> String {
        let compiled = compile(one(text));
        let mut lines = Vec::new();
        // The modules of a test assert some of the specs that they share, or none.
        let others = |found: &&Diagnostic| !found.message.starts_with("no test asserts");
        for found in compiled.diagnostics.iter().filter(others) {
            let place = |span| {
                let at = compiled.sources.location(span);
                format!("{}:{}", at.line, at.column)
            };
            let at = found.span.map_or("project".to_owned(), place);
            let kind = if found.is_warning() { "warning: " } else { "" };
            let label = match &*found.label {
                "" => String::new(),
                label => format!(" ({label})"),
            };
            lines.push(format!("{at} {kind}{}{label}", found.message));
            lines.extend(
                found.related.iter().map(|(span, what)| format!("    {} {what}", place(*span))),
            );
            lines.extend(found.hint.iter().map(|hint| format!("    help: {hint}")));
        }
        assert_eq!(
            compiled.program.is_none(),
            compiled.diagnostics.iter().any(|it| !it.is_warning())
        );
        lines.join("\n")
    }
}
