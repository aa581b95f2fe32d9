use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io::IsTerminal;

use dally_core::words::visible;

/// What begins a command to a terminal.
const ESCAPE: char = '\u{1b}';

/// Whether a text uses the colours of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Letters only.
    #[default]
    Plain,
    /// ANSI colours.
    Colour,
}

impl Style {
    /// Colours if the stream is a terminal that knows them and the user has not set `NO_COLOR`
    /// (<https://no-color.org>).
    pub fn of(stream: &impl IsTerminal) -> Style {
        Style::where_said(stream.is_terminal(), |name| std::env::var_os(name))
    }

    /// `variable` looks a variable of the environment up.
    fn where_said(is_terminal: bool, variable: impl Fn(&str) -> Option<OsString>) -> Style {
        let refused = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|terminal| terminal == "dumb");
        if is_terminal && !refused && !dumb { Style::Colour } else { Style::Plain }
    }

    /// The text with all that is hidden made visible, but for colours if this style has them.
    pub(crate) fn shown(self, text: &str) -> Cow<'_, str> {
        if self == Style::Plain || !text.contains(ESCAPE) {
            return visible(text);
        }
        let mut parts = text.split(ESCAPE);
        let mut out = visible(parts.next().unwrap_or("")).into_owned();
        for part in parts {
            let codes = part.strip_prefix('[').and_then(|part| part.split_once('m'));
            match codes.is_some_and(|(codes, _)| codes.split(';').all(is_harmless)) {
                true => out.push(ESCAPE),
                false => out.extend(ESCAPE.escape_unicode()),
            }
            out += &visible(part);
        }
        // Whoever coloured the text may not have ended it.
        Cow::Owned(out + "\x1b[0m")
    }

    pub(crate) fn paint(self, ink: Ink, text: impl fmt::Display) -> String {
        match self {
            Style::Plain => text.to_string(),
            Style::Colour => format!("\x1b[{}m{text}\x1b[0m", ink.code()),
        }
    }
}

/// Whether a terminal still shows text in this rendition: nothing concealed, nothing in its own background.
fn is_harmless(code: &str) -> bool {
    matches!(code, "" | "0" | "1" | "2" | "3" | "4")
        || code.parse().is_ok_and(|colour: u32| matches!(colour, 31..=36 | 91..=96))
}

/// The role of a piece of text, which decides its colour.
#[derive(Clone, Copy)]
pub(crate) enum Ink {
    Bug,
    Fault,
    Heading,
    Worker,
    /// Line numbers, gutters, omissions.
    Faint,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Ink::Bug => "1;31",
            Ink::Fault => "33",
            Ink::Heading => "1",
            Ink::Worker => "36",
            Ink::Faint => "2",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_colours_only_on_terminals_that_know_them_and_where_they_are_not_refused() {
        let style = |is_terminal, set: &[(&str, &str)]| {
            Style::where_said(is_terminal, |name| {
                set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into())
            })
        };
        assert_eq!(style(true, &[("TERM", "xterm")]), Style::Colour);
        assert_eq!(style(true, &[("NO_COLOR", "")]), Style::Colour);
        assert_eq!(style(false, &[("TERM", "xterm")]), Style::Plain);
        assert_eq!(style(true, &[("TERM", "dumb")]), Style::Plain);
        assert_eq!(style(true, &[("NO_COLOR", "1")]), Style::Plain);
    }

    #[test]
    fn a_terminal_is_given_colours_and_no_other_commands() {
        let text = "\x1b[1;31mbug\x1b[0m \x1b[2J\x1b]52;c;aGk=\x07 \u{9b}31m \x1b[m \x1b\u{202e} \x1b[8m \x1b[30;40m";
        insta::assert_snapshot!(Style::Colour.shown(text).replace(ESCAPE, "<ESC>"), @r"<ESC>[1;31mbug<ESC>[0m \u{1b}[2J\u{1b}]52;c;aGk=\u{7} \u{9b}31m <ESC>[m \u{1b}\u{202e} \u{1b}[8m \u{1b}[30;40m<ESC>[0m");
        assert!(!Style::Plain.shown(text).contains(dally_core::words::is_hidden));
    }
}
