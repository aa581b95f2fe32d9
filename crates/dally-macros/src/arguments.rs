//! The arguments of `#[machine(..)]` and `#[monitor(..)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Ident, Path, Token, Type, parenthesized};

use crate::names;
use crate::problems::Problems;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Machine,
    Monitor,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Machine => "machine",
            Kind::Monitor => "monitor",
        }
    }

    /// The type of the context of its handlers.
    pub fn context(self) -> &'static str {
        match self {
            Kind::Machine => "Cx",
            Kind::Monitor => "MonitorCx",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Kind::Machine => &["states", "uncaptured", "durable", "crate"],
            Kind::Monitor => &["states", "crate"],
        }
    }
}

pub struct Arguments {
    /// The states, at least one; the first is the start state.
    pub states: Vec<State>,
    pub uncaptured: Option<Ident>,
    pub durable: Option<Type>,
    /// The path in `crate = path`.
    pub facade: Option<Path>,
}

/// The module of the crate `dally` that generated code uses.
pub fn private(facade: Option<&Path>) -> TokenStream {
    match facade {
        Some(facade) => quote!(#facade::__private),
        None => quote!(::dally::__private),
    }
}

pub struct State {
    pub docs: Vec<Attribute>,
    pub heat: Heat,
    pub name: Ident,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Heat {
    Hot,
    Cold,
    Neutral,
}

impl Arguments {
    /// Parses the arguments; `None` if the block cannot be checked without them.
    pub fn parse(kind: Kind, tokens: TokenStream, problems: &mut Problems) -> Option<Arguments> {
        let mut found = Found {
            kind,
            problems,
            states: Vec::new(),
            listed: false,
            uncaptured: None,
            durable: None,
            facade: None,
        };
        let parsed = (|input: ParseStream<'_>| found.parse(input)).parse2(tokens);
        let Found { states, listed, uncaptured, durable, facade, .. } = found;
        problems.keep(parsed)?;
        if states.is_empty() {
            let attribute = kind.name();
            let example = format!("`#[{attribute}(states(Idle, Busy))]`; it starts in the first");
            // No argument has a span, so the error is at the macro call.
            problems.push(Error::new(
                proc_macro2::Span::call_site(),
                if listed {
                    format!("a {attribute} needs at least one state: {example}")
                } else {
                    format!("the states of the {attribute} are missing: {example}")
                },
            ));
            return None;
        }
        Some(Arguments { states, uncaptured, durable, facade })
    }
}

struct Found<'a> {
    kind: Kind,
    problems: &'a mut Problems,
    states: Vec<State>,
    listed: bool,
    uncaptured: Option<Ident>,
    durable: Option<Type>,
    facade: Option<Path>,
}

impl Found<'_> {
    fn parse(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        while !input.is_empty() {
            self.argument(input)?;
            if !input.is_empty() && input.parse::<Token![,]>().is_err() {
                return Err(input.error("expected `,` between arguments"));
            }
        }
        Ok(())
    }

    fn argument(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let name = input.call(Ident::parse_any)?;
        let word = name.to_string();
        let twice = match word.as_str() {
            "states" => self.listed,
            "uncaptured" => self.uncaptured.is_some(),
            "durable" => self.durable.is_some(),
            "crate" => self.facade.is_some(),
            _ => false,
        };
        if twice {
            self.problems.add(&name, format!("`{word}` is given twice"));
        }
        if !self.kind.arguments().contains(&word.as_str()) {
            self.unknown(&name);
            return skip_to_comma(input);
        }
        match word.as_str() {
            "states" => self.states(&name, input),
            "durable" => {
                equals(&name, input, "say what survives a crash: `durable = Type`")?;
                self.durable = Some(input.parse()?);
                Ok(())
            }
            "crate" => {
                equals(&name, input, "say where the crate is: `crate = my_crate::dally`")?;
                self.facade = Some(input.call(Path::parse_mod_style)?);
                Ok(())
            }
            _ => {
                self.uncaptured = Some(name);
                Ok(())
            }
        }
    }

    fn unknown(&mut self, name: &Ident) {
        let kind = self.kind.name();
        let message = if name == "start" {
            format!("a {kind} starts in the first of its `states(..)`: list that one first")
        } else {
            let known = self.kind.arguments();
            format!(
                "`{name}` is not an argument of `#[{kind}]`, which takes {}{}",
                names::list(known),
                names::did_you_mean(&name.to_string(), known),
            )
        };
        self.problems.add(name, message);
    }

    fn states(&mut self, name: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        self.listed = true;
        if !input.peek(syn::token::Paren) {
            return Err(Error::new(name.span(), "list the states: `states(Idle, Busy)`"));
        }
        let list;
        parenthesized!(list in input);
        while !list.is_empty() {
            self.state(&list)?;
            if !list.is_empty() && list.parse::<Token![,]>().is_err() {
                return Err(list.error("expected `,` between states"));
            }
        }
        Ok(())
    }

    fn state(&mut self, list: ParseStream<'_>) -> syn::Result<()> {
        let mut docs = list.call(Attribute::parse_outer)?;
        docs.retain(|attribute| {
            let is_doc = attribute.path().is_ident("doc");
            if !is_doc {
                self.problems.add(attribute, "a state can only have doc comments");
            }
            is_doc
        });
        let mut name: Ident = list.parse()?;
        let mut heat = Heat::Neutral;
        if list.peek(Ident) {
            heat = self.heat(&name);
            name = list.parse()?;
        }
        if self.states.iter().any(|state| state.name == name) {
            self.problems.add(&name, format!("state `{name}` is listed twice"));
        } else {
            self.states.push(State { docs, heat, name });
        }
        Ok(())
    }

    fn heat(&mut self, word: &Ident) -> Heat {
        let heat = match word.to_string().as_str() {
            "hot" => Heat::Hot,
            "cold" => Heat::Cold,
            other => {
                let message = match self.kind {
                    Kind::Machine => format!("expected `,` after state `{other}`"),
                    Kind::Monitor => {
                        format!("`{other}` is neither `hot` nor `cold`; is a `,` missing?")
                    }
                };
                self.problems.add(word, message);
                return Heat::Neutral;
            }
        };
        if self.kind == Kind::Machine {
            self.problems.add(word, format!("only the states of a `#[monitor]` can be {word}"));
        }
        heat
    }
}

/// Parses the `=` after a name; the error says what to write otherwise.
pub fn equals(name: &Ident, input: ParseStream<'_>, otherwise: &str) -> syn::Result<()> {
    let sign = input.parse::<Option<Token![=]>>()?;
    sign.map(|_| ()).ok_or_else(|| Error::new(name.span(), otherwise))
}

pub fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}
