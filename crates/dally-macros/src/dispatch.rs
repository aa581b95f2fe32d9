//! The generated functions that dispatch to rules: one arm for each rule, in the order of the source.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Ident, Type};

use crate::arguments::Kind;
use crate::block::{Block, Placed};
use crate::rules::Verb;
use crate::signature::Handler;
use crate::table::Table;

pub struct Dispatch<'a> {
    pub block: &'a Block,
    pub handlers: &'a [Handler],
    pub table: &'a Table,
}

impl Dispatch<'_> {
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

    /// The code of a rule. `give` makes the parameter, of its declared type, from what the runtime
    /// passes for an event of the rule's type. `None` for a rule with an error.
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

    pub fn action(&self, verb: Verb) -> TokenStream {
        let decides = |state, rule| self.table.action(verb, state) == Some(rule);
        let arms = self.arms_where(decides, |placed| {
            let call = placed.handler.map(|handler| call(&self.handlers[handler]));
            Some(quote!(#call;))
        });
        let rest = self.states_without(verb).map(|states| quote!(#states => {}));
        quote!(match state { #(#arms)* #rest })
    }

    pub fn has_action(&self, verb: Verb) -> TokenStream {
        match self.states_without(verb) {
            Some(states) => quote!(!::core::matches!(state, #states)),
            None => quote!(true),
        }
    }

    pub fn state_name(&self) -> TokenStream {
        let enum_name = &self.block.enum_name;
        let arms = self.block.arguments.states.iter().map(|state| {
            let (name, text) = (&state.name, state.name.to_string());
            quote!(#enum_name::#name => #text,)
        });
        quote!(match state { #(#arms)* })
    }

    /// One arm for each group of states and events that a rule decides.
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

    /// One arm for each rule that decides this event in some states.
    pub fn arms_of_event(
        &self,
        event: usize,
        body: impl Fn(&Placed) -> Option<TokenStream>,
    ) -> Vec<TokenStream> {
        self.arms_where(|state, rule| self.table.rule(state, event) == Some(rule), body)
    }

    /// One arm for each rule that decides in some states.
    fn arms_where(
        &self,
        decides: impl Fn(usize, usize) -> bool,
        body: impl Fn(&Placed) -> Option<TokenStream>,
    ) -> Vec<TokenStream> {
        let arm = |(number, placed): (usize, &Placed)| {
            let all = 0..self.block.arguments.states.len();
            let states: Vec<usize> = all.filter(|&state| decides(state, number)).collect();
            let body = body(placed).filter(|_| !states.is_empty())?;
            let states = self.states(placed, &states);
            Some(quote!(#states => { #body }))
        };
        self.block.rules.iter().enumerate().filter_map(arm).collect()
    }

    /// A pattern for states, with the spans of the names in the rule.
    fn states(&self, placed: &Placed, states: &[usize]) -> TokenStream {
        let enum_name = &self.block.enum_name;
        let names = states.iter().map(|state| {
            let declared = &self.block.arguments.states[*state].name;
            placed.rule.states.iter().find(|name| *name == declared).unwrap_or(declared)
        });
        quote!(#(#enum_name::#names)|*)
    }

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

/// A call of a handler. An error about a parameter's type points at the parameter.
fn call(handler: &Handler) -> TokenStream {
    let name = &handler.name;
    let argument =
        |name: &str, ty: &Type| Ident::new(name, ty.span().resolved_at(Span::call_site()));
    let context = handler.context.as_ref().map(|ty| argument("cx", ty)).into_iter();
    let event = handler.event.as_ref().map(|ty| argument("given", ty)).into_iter();
    quote!(Self::#name(self #(, #context)* #(, #event)*))
}

pub fn implementation(block: &Block, of: TokenStream, items: TokenStream) -> TokenStream {
    let self_ty = &block.item.self_ty;
    let (parameters, _, clause) = block.item.generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #of for #self_ty #clause { #items }
    }
}

pub fn context(block: &Block) -> TokenStream {
    let machines = block.machines();
    match block.kind {
        Kind::Machine => quote!(&mut #machines::Cx<'_, Self>),
        Kind::Monitor => quote!(&mut #machines::MonitorCx<'_, Self>),
    }
}
