//! The attributes inside a block, such as `#[on(..)]`.

use syn::parse::ParseStream;
use syn::{Attribute, Error, Ident, Meta, Token, Type};

use crate::arguments::Kind;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    On,
    Entry,
    Exit,
    Default,
    Goto,
    Defer,
    Ignore,
}

impl Verb {
    const ALL: [Verb; 7] =
        [Verb::On, Verb::Entry, Verb::Exit, Verb::Default, Verb::Goto, Verb::Defer, Verb::Ignore];

    pub fn of(attribute: &Attribute) -> Option<Verb> {
        Verb::ALL.into_iter().find(|verb| attribute.path().is_ident(verb.name()))
    }

    pub fn name(self) -> &'static str {
        match self {
            Verb::On => "on",
            Verb::Entry => "entry",
            Verb::Exit => "exit",
            Verb::Default => "default",
            Verb::Goto => "goto",
            Verb::Defer => "defer",
            Verb::Ignore => "ignore",
        }
    }

    /// The syntax of the attribute, for messages.
    pub fn usage(self) -> String {
        let arguments = match self {
            Verb::Goto => "State, Event => NextState",
            _ if self.has_events() => "State, Event",
            _ => "State",
        };
        format!("`#[{}({arguments})]`", self.name())
    }

    /// Whether the attribute belongs on a function.
    pub fn has_handler(self) -> bool {
        matches!(self, Verb::On | Verb::Entry | Verb::Exit | Verb::Default)
    }

    pub fn has_events(self) -> bool {
        matches!(self, Verb::On | Verb::Goto | Verb::Defer | Verb::Ignore)
    }

    /// Whether blocks of this kind can have the attribute: a monitor has no inbox.
    pub fn is_of(self, kind: Kind) -> bool {
        kind == Kind::Machine || !matches!(self, Verb::Default | Verb::Defer)
    }
}

pub struct Rule {
    /// The attribute as written, for spans.
    pub attribute: Attribute,
    pub verb: Verb,
    /// Empty for `_`.
    pub states: Vec<Ident>,
    /// Empty for `_`, and for verbs without events.
    pub events: Vec<Type>,
    /// The state after `=>`.
    pub target: Option<Ident>,
}

impl Rule {
    pub fn parse(verb: Verb, attribute: &Attribute) -> syn::Result<Rule> {
        let list = match &attribute.meta {
            Meta::List(list) if !list.tokens.is_empty() => list,
            _ => {
                let message = format!("the arguments are missing: write {}", verb.usage());
                return Err(Error::new_spanned(attribute, message));
            }
        };
        let parser = |input: ParseStream<'_>| {
            let states = states(verb, input)?;
            let (mut events, mut target) = (Vec::new(), None);
            if verb.has_events() {
                events = self::events(verb, input)?;
            }
            if verb == Verb::Goto {
                input.parse::<Token![=>]>().map_err(|error| usage(verb, error))?;
                target = Some(input.parse().map_err(|error| usage(verb, error))?);
            }
            if !input.is_empty() {
                return Err(usage(verb, input.error("nothing more is expected here")));
            }
            Ok(Rule { attribute: attribute.clone(), verb, states, events, target })
        };
        list.parse_args_with(parser)
    }
}

fn usage(verb: Verb, error: Error) -> Error {
    Error::new(error.span(), format!("{error}; write {}", verb.usage()))
}

fn states(verb: Verb, input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    if input.parse::<Option<Token![_]>>()?.is_some() {
        return Ok(Vec::new());
    }
    let mut states = Vec::new();
    loop {
        let state: Ident = input.parse().map_err(|error| {
            usage(verb, Error::new(error.span(), "expected the name of a state, or `_` for any"))
        })?;
        if input.peek(Token![::]) {
            return Err(input.error("name the state alone, without the path of the enum"));
        }
        states.push(state);
        if input.parse::<Option<Token![|]>>()?.is_none() {
            break;
        }
    }
    if !verb.has_events() && input.peek(Token![,]) {
        return Err(input.error("several states are written `A | B`"));
    }
    Ok(states)
}

fn events(verb: Verb, input: ParseStream<'_>) -> syn::Result<Vec<Type>> {
    if input.parse::<Option<Token![,]>>()?.is_none() || input.is_empty() {
        let error = Error::new(input.span(), "the event is missing");
        return Err(usage(verb, error));
    }
    if input.parse::<Option<Token![_]>>()?.is_some() {
        return Ok(Vec::new());
    }
    let mut events = Vec::new();
    loop {
        if input.peek(Token![_]) {
            return Err(input.error("`_` is any event: it stands alone"));
        }
        events.push(input.parse()?);
        if input.peek(Token![|]) {
            return Err(input.error("several events are written `A, B`"));
        }
        if input.parse::<Option<Token![,]>>()?.is_none() || input.is_empty() {
            return Ok(events);
        }
    }
}
