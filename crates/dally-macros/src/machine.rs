//! `#[machine]`: from the model of a block to its implementation of `Machine`.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::dispatch::{Dispatch, context, implementation};
use crate::rules::Verb;
use crate::table::event_name;

/// The implementations of `Machine`, and of `Handles` for each event.
pub fn generate(dispatch: &Dispatch<'_>) -> TokenStream {
    let handles = (0..dispatch.block.events.len()).map(|event| handles(dispatch, event));
    let machine = machine(dispatch);
    quote!(#machine #(#handles)*)
}

fn machine(dispatch: &Dispatch<'_>) -> TokenStream {
    let machines = dispatch.block.machines();
    let block = dispatch.block;
    let (enum_name, name) = (&block.enum_name, block.name.to_string());
    let start = &block.arguments.states[0].name;
    let events = (0..block.events.len()).map(|event| event_name(block, event));
    let cx = context(block);
    let state_name = dispatch.state_name();
    let reaction = dispatch.reaction();
    let handle = handle(dispatch);
    let enter = dispatch.action(Verb::Entry);
    let leave = dispatch.action(Verb::Exit);
    let has_default = dispatch.has_action(Verb::Default);
    let default_handler = dispatch.action(Verb::Default);
    let durability = durability(dispatch);
    let capture = capture(dispatch);
    let show = block.observe.as_ref().map(|name| {
        // A value that cannot be hashed is an error of rustc's, which is to point at the function.
        let shown = quote_spanned!(name.span()=> #machines::machine::shown(&value));
        quote!(fn show(&self) -> u64 { let value = Self::#name(self); #shown })
    });
    let items = quote! {
        type State = #enum_name;
        const NAME: &'static str = #name;
        const START: #enum_name = #enum_name::#start;
        const EVENTS: &'static [&'static str] = &[#(#events),*];

        fn state_name(state: #enum_name) -> &'static str { #state_name }

        fn reaction(state: #enum_name, event: u16) -> #machines::Reaction { #reaction }

        fn handle(
            &mut self,
            cx: #cx,
            state: #enum_name,
            event: u16,
            message: &mut #machines::message::Message,
        ) {
            #handle
        }

        fn enter(&mut self, cx: #cx, state: #enum_name) { #enter }

        fn leave(&mut self, cx: #cx, state: #enum_name) { #leave }

        fn has_default(state: #enum_name) -> bool { #has_default }

        fn default_handler(&mut self, cx: #cx, state: #enum_name) { #default_handler }

        #durability
        #capture
        #show
    };
    implementation(block, quote!(#machines::Machine), items)
}

fn handle(dispatch: &Dispatch<'_>) -> TokenStream {
    let machines = dispatch.block.machines();
    let arms = dispatch.arms(|placed| {
        dispatch.body(placed, |event, _| {
            quote_spanned!(event.span()=> #machines::message::take::<Self, #event>(message))
        })
    });
    quote! {
        match (state, event) {
            #(#arms)*
            _ => {}
        }
    }
}

fn durability(dispatch: &Dispatch<'_>) -> TokenStream {
    let machines = dispatch.block.machines();
    let Some(durable) = &dispatch.block.arguments.durable else {
        return quote! {
            type Durable = #machines::NotDurable;
            const IS_DURABLE: bool = false;
            fn recover(self, _: ::core::option::Option<#machines::NotDurable>) -> Self { self }
        };
    };
    // The block's own `recover` comes before the trait's; without it this would call itself.
    let recover =
        if dispatch.block.recovers { quote!(Self::recover(self, durable)) } else { quote!(self) };
    // A private type here is an error of rustc's, which is to point at the argument.
    let declaration = quote_spanned!(durable.span()=> type Durable = #durable;);
    quote! {
        #declaration
        const IS_DURABLE: bool = true;
        fn recover(self, durable: ::core::option::Option<#durable>) -> Self { #recover }
    }
}

fn capture(dispatch: &Dispatch<'_>) -> TokenStream {
    let machines = dispatch.block.machines();
    let answer = if dispatch.block.arguments.uncaptured.is_some() {
        quote!(::core::option::Option::None)
    } else {
        let self_ty = &dispatch.block.item.self_ty;
        let machine = quote_spanned!(self_ty.span()=> Self);
        quote!(::core::option::Option::Some(#machines::capture::captured::<#machine>()))
    };
    quote! {
        fn capture() -> ::core::option::Option<#machines::Capture<Self>> { #answer }
    }
}

fn handles(dispatch: &Dispatch<'_>, event: usize) -> TokenStream {
    let machines = dispatch.block.machines();
    let (number, ty) = (Literal::u16_suffixed(event as u16), &dispatch.block.events[event]);
    let event = match dispatch.block.arguments.uncaptured {
        Some(_) => quote_spanned!(ty.span()=> #machines::capture::OpaqueEvent),
        None => quote_spanned!(ty.span()=> #machines::capture::CapturedEvent),
    };
    // An event without the derives is an error of rustc's, which is to point at the event.
    let slot = quote_spanned!(ty.span()=> type Slot = <#ty as #event>::Slot;);
    let items = quote! {
        const EVENT: u16 = #number;
        #slot
    };
    implementation(dispatch.block, quote!(#machines::Handles<#ty>), items)
}
