//! `#[monitor]`: from the model of a block to its implementation of `MonitorMachine`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

use crate::arguments::Heat;
use crate::dispatch::{Dispatch, context, implementation};
use crate::rules::Verb;
use crate::table::event_name;

/// The implementation of `MonitorMachine`.
pub fn generate(dispatch: &Dispatch<'_>) -> TokenStream {
    let machines = dispatch.block.machines();
    let block = dispatch.block;
    let contract = block.contract();
    let (enum_name, name) = (&block.enum_name, block.name.to_string());
    let start = &block.arguments.states[0].name;
    let events = &block.events;
    let cx = context(block);
    let state_name = dispatch.state_name();
    let heat = heat(dispatch);
    let handle = (0..events.len()).map(|event| handle(dispatch, event));
    let enter = dispatch.action(Verb::Entry);
    let leave = dispatch.action(Verb::Exit);
    let items = quote! {
        type State = #enum_name;
        const NAME: &'static str = #name;
        const START: #enum_name = #enum_name::#start;

        fn state_name(state: #enum_name) -> &'static str { #state_name }

        fn heat(state: #enum_name) -> #contract::Heat { #heat }

        fn observes(event: ::core::any::TypeId) -> bool {
            [#(::core::any::TypeId::of::<#events>()),*].contains(&event)
        }

        fn handle(
            &mut self,
            cx: #cx,
            state: #enum_name,
            event: &dyn ::core::any::Any,
        ) -> #machines::Verdict {
            #(#handle)*
            #machines::Verdict::Seen
        }

        fn enter(&mut self, cx: #cx, state: #enum_name) { #enter }

        fn leave(&mut self, cx: #cx, state: #enum_name) { #leave }
    };
    let put_to_work = quote! {
        fn into_monitor(self) -> ::core::result::Result<#contract::SharedMonitor, #contract::Bug> {
            #machines::monitor::start(self)
        }
    };
    let machine = implementation(block, quote!(#machines::MonitorMachine), items);
    let monitor = implementation(block, quote!(#contract::IntoMonitor), put_to_work);
    quote!(#machine #monitor)
}

fn heat(dispatch: &Dispatch<'_>) -> TokenStream {
    let enum_name = &dispatch.block.enum_name;
    let contract = dispatch.block.contract();
    let arms = dispatch.block.arguments.states.iter().map(|state| {
        let name = &state.name;
        let heat = match state.heat {
            Heat::Hot => quote!(Hot),
            Heat::Cold => quote!(Cold),
            Heat::Neutral => quote!(Neutral),
        };
        quote!(#enum_name::#name => #contract::Heat::#heat,)
    });
    quote!(match state { #(#arms)* })
}

fn handle(dispatch: &Dispatch<'_>, event: usize) -> TokenStream {
    let machines = dispatch.block.machines();
    let (ty, name) = (&dispatch.block.events[event], event_name(dispatch.block, event));
    let arms = dispatch.arms_of_event(event, |placed| {
        if placed.rule.verb == Verb::Ignore {
            return Some(TokenStream::new());
        }
        dispatch.body(placed, |_, parameter| match parameter {
            Type::Reference(_) => quote!(announced),
            _ => quote!(::core::clone::Clone::clone(announced)),
        })
    });
    quote! {
        if let ::core::option::Option::Some(announced) = event.downcast_ref::<#ty>() {
            match state {
                #(#arms)*
                #[allow(unreachable_patterns)]
                _ => return #machines::Verdict::Unhandled(#name),
            }
        }
    }
}
