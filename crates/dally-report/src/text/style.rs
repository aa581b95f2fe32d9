//! Colours, where they are wanted.

use std::fmt;
use std::io::IsTerminal;

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
    /// Colours if the stream is a terminal and the user has not set `NO_COLOR`
    /// (<https://no-color.org>).
    pub fn of(stream: &impl IsTerminal) -> Style {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if stream.is_terminal() && !refused { Style::Colour } else { Style::Plain }
    }

    /// The text in this ink.
    pub(crate) fn paint(self, ink: Ink, text: impl fmt::Display) -> String {
        match self {
            Style::Plain => text.to_string(),
            Style::Colour => format!("\x1b[{}m{text}\x1b[0m", ink.code()),
        }
    }
}

/// What a piece of text is, which decides its colour.
#[derive(Clone, Copy)]
pub(crate) enum Ink {
    /// What broke.
    Bug,
    /// An injected fault.
    Fault,
    /// A heading.
    Heading,
    /// A worker's name.
    Worker,
    /// Line numbers, gutters, what is left out.
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
