//! The enum of the states, and its variants' names in the bodies of the block.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Ident, ImplItemFn, parse_quote};

use crate::arguments::State;
use crate::block::Block;

/// The declaration of the enum.
///
/// The variants keep the spans of `states(..)`, so that an editor finds them from every use.
pub fn declare(block: &Block) -> TokenStream {
    let Block { enum_name, name, .. } = block;
    let doc = format!("The states of {} `{name}`.", block.kind.name());
    let variants = block.arguments.states.iter().map(|State { docs, name, .. }| {
        let fallback = docs.is_empty().then(|| {
            let doc = format!("State `{name}`.");
            quote!(#[doc = #doc])
        });
        quote!(#(#docs)* #fallback #name)
    });
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(unreachable_pub, clippy::exhaustive_enums, clippy::enum_variant_names)]
        pub enum #enum_name { #(#variants,)* }
    }
}

/// Makes the states that a function mentions resolve inside its body.
///
/// Only those: a glob import could shadow other names of the user's without need.
pub fn bring_into_scope(enum_name: &Ident, states: &[State], function: &mut ImplItemFn) {
    let mut used = Vec::new();
    mentions(function.block.to_token_stream(), states, &mut used);
    if used.is_empty() {
        return;
    }
    // A name can be mentioned in ways that only look like a use, such as a field's.
    let import = parse_quote! {
        #[allow(unused_imports)]
        use #enum_name::{#(#used),*};
    };
    function.block.stmts.insert(0, import);
}

/// Appends the states whose names occur by themselves, not as `Other::Name` or `other.Name`.
fn mentions<'a>(tokens: TokenStream, states: &'a [State], used: &mut Vec<&'a Ident>) {
    let mut before = [' ', ' '];
    for token in tokens {
        let mut now = ' ';
        match token {
            TokenTree::Group(group) => mentions(group.stream(), states, used),
            TokenTree::Punct(punct) => now = punct.as_char(),
            TokenTree::Ident(ident) if !matches!(before, [':', ':'] | [' ', '.']) => {
                let state = states.iter().map(|state| &state.name).find(|name| **name == ident);
                used.extend(state.filter(|name| !used.contains(name)));
            }
            _ => {}
        }
        before = [before[1], now];
    }
}
