//! The bodies that decide what runs: one arm for each rule, in the order of the source.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Ident, Type};

use crate::arguments::Kind;
use crate::block::{Block, Placed};
use crate::rules::Verb;
use crate::signature::Handler;
use crate::table::Table;

/// What is generated from.
pub struct Dispatch<'a> {
    /// The block.
    pub block: &'a Block,
    /// The functions that its rules call.
    pub handlers: &'a [Handler],
    /// Its rules by state and event.
    pub table: &'a Table,
}

impl Dispatch<'_> {
    /// From `state` and `event` to a `Reaction`.
    pub fn reaction(&self) -> TokenStream {
        let machines = self.block.machines();
        let arms = self.arms(|placed| {
            let reaction = match placed.rule.verb {
                Verb::Defer => quote!(Defer),
                Verb::Ignore => quote!(Ignore),
                _ => quote!(Handle),
            };
            Some(quote!(#machines::machine::Reaction::#reaction))
        });
        quote! {
            match (state, event) {
                #(#arms)*
                _ => #machines::machine::Reaction::Unhandled,
            }
        }
    }

    /// What a rule does when it decides; `give` is how a parameter of this type is made from
    /// what the runtime passes for an event of that type. None for a rule with problems.
    pub fn body(
        &self,
        placed: &Placed,
        give: impl Fn(&Type, &Type) -> TokenStream,
    ) -> Option<TokenStream> {
        if let Some(target) = &placed.rule.target {
            let enum_name = &self.block.enum_name;
            self.block.state(target)?;
            return Some(quote!(cx.goto(#enum_name::#target);));
        }
        let handler = &self.handlers[placed.handler?];
        let call = call(handler);
        let Some(parameter) = &handler.event else { return Some(quote!(#call;)) };
        let [event] = &placed.rule.events[..] else { return None };
        let given = give(event, parameter);
        Some(quote!(let given = #given; #call;))
    }

    /// Calls the entry, exit or default action of `state`.
    pub fn action(&self, verb: Verb) -> TokenStream {
        let arms = self.rules_of(verb).map(|(number, placed)| {
            let states: Vec<usize> = self.states_with(verb, number).collect();
            let (pattern, call) = (
                self.states(placed, &states),
                placed.handler.map(|handler| call(&self.handlers[handler])),
            );
            (!states.is_empty()).then(|| quote!(#pattern => { #call; }))
        });
        let arms: Vec<TokenStream> = arms.flatten().collect();
        let rest = self.states_without(verb);
        let rest = rest.map(|states| quote!(#states => {}));
        quote!(match state { #(#arms)* #rest })
    }

    /// Whether `state` has such an action.
    pub fn has_action(&self, verb: Verb) -> TokenStream {
        match self.states_without(verb) {
            Some(states) => quote!(!::core::matches!(state, #states)),
            None => quote!(true),
        }
    }

    /// The name of `state`.
    pub fn state_name(&self) -> TokenStream {
        let enum_name = &self.block.enum_name;
        let arms = self.block.arguments.states.iter().map(|state| {
            let (name, text) = (&state.name, state.name.to_string());
            quote!(#enum_name::#name => #text,)
        });
        quote!(match state { #(#arms)* })
    }

    /// One arm for each group of states and events for which a rule decides.
    pub fn arms(&self, body: impl Fn(&Placed) -> Option<TokenStream>) -> Vec<TokenStream> {
        let mut arms = Vec::new();
        for (number, placed) in self.block.rules.iter().enumerate() {
            if !placed.rule.verb.has_events() {
                continue;
            }
            for (states, events) in self.table.decided_by(number) {
                let Some(body) = body(placed) else { continue };
                let states = self.states(placed, &states);
                let events = events.into_iter().map(|event| Literal::u16_suffixed(event as u16));
                arms.push(quote!((#states, #(#events)|*) => { #body }));
            }
        }
        arms
    }

    /// One arm for each rule that decides for an event in some states.
    pub fn arms_of_event(
        &self,
        event: usize,
        body: impl Fn(&Placed) -> Option<TokenStream>,
    ) -> Vec<TokenStream> {
        let mut arms = Vec::new();
        for (number, placed) in self.block.rules.iter().enumerate() {
            let all = 0..self.block.arguments.states.len();
            let states: Vec<usize> =
                all.filter(|state| self.table.rule(*state, event) == Some(number)).collect();
            if states.is_empty() {
                continue;
            }
            let Some(body) = body(placed) else { continue };
            let states = self.states(placed, &states);
            arms.push(quote!(#states => { #body }));
        }
        arms
    }

    /// A pattern for states, with the spans of the rule where it names them.
    fn states(&self, placed: &Placed, states: &[usize]) -> TokenStream {
        let enum_name = &self.block.enum_name;
        let names = states.iter().map(|state| {
            let declared = &self.block.arguments.states[*state].name;
            placed.rule.states.iter().find(|name| *name == declared).unwrap_or(declared)
        });
        quote!(#(#enum_name::#names)|*)
    }

    fn rules_of(&self, verb: Verb) -> impl Iterator<Item = (usize, &Placed)> {
        let rules = self.block.rules.iter().enumerate();
        rules.filter(move |(_, placed)| placed.rule.verb == verb)
    }

    fn states_with(&self, verb: Verb, rule: usize) -> impl Iterator<Item = usize> {
        let all = 0..self.block.arguments.states.len();
        all.filter(move |state| self.table.action(verb, *state) == Some(rule))
    }

    /// A pattern for the states without such an action, if there are any.
    fn states_without(&self, verb: Verb) -> Option<TokenStream> {
        let enum_name = &self.block.enum_name;
        let states = self.block.arguments.states.iter().enumerate();
        let names: Vec<&Ident> = states
            .filter(|(state, _)| self.table.action(verb, *state).is_none())
            .map(|(_, state)| &state.name)
            .collect();
        (!names.is_empty()).then(|| quote!(#(#enum_name::#names)|*))
    }
}

/// A call of a handler; a wrong type of a parameter is reported at the parameter.
fn call(handler: &Handler) -> TokenStream {
    let name = &handler.name;
    let argument =
        |name: &str, ty: &Type| Ident::new(name, ty.span().resolved_at(Span::call_site()));
    let context = handler.context.as_ref().map(|ty| argument("cx", ty)).into_iter();
    let event = handler.event.as_ref().map(|ty| argument("given", ty)).into_iter();
    quote!(Self::#name(self #(, #context)* #(, #event)*))
}

/// The implementation of a trait for the type of the block.
pub fn implementation(block: &Block, of: TokenStream, items: TokenStream) -> TokenStream {
    let self_ty = &block.item.self_ty;
    let (parameters, _, clause) = block.item.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #of for #self_ty #clause { #items }
    }
}

/// The type of the context in a generated signature.
pub fn context(block: &Block) -> TokenStream {
    let machines = block.machines();
    match block.kind {
        Kind::Machine => quote!(&mut #machines::Cx<'_, Self>),
        Kind::Monitor => quote!(&mut #machines::MonitorCx<'_, Self>),
    }
}
