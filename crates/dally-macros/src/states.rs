//! The enum of the states, and the names of its variants in the functions of the block.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{FnArg, Ident, ImplItemFn, Pat, Type, parse_quote};

use crate::arguments::State;
use crate::block::Block;

/// The enum. Its variants have the spans of `states(..)`, so that editors find them from every use.
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

/// Imports the states that a function mentions into its body, and gives the names in `cx.goto(Name)`
/// and `cx.push(Name)` that are no states.
///
/// There is no glob import, which could shadow names of the user. A name that is no state is imported
/// as one, so that there is one error about it and not two.
pub fn bring_into_scope(
    enum_name: &Ident,
    states: &[State],
    function: &mut ImplItemFn,
) -> Vec<Ident> {
    let body = function.block.to_token_stream();
    let mut used = Vec::new();
    mentions(body.clone(), states, &mut used);
    let mut wrong = Vec::new();
    targets(body, &contexts(function), &mut wrong);
    wrong.retain(|name| states.iter().all(|state| state.name != *name));
    if !used.is_empty() || !wrong.is_empty() {
        let some = &states[0].name;
        // A mention may be no use, for example the name of a field.
        let import = parse_quote! {
            #[allow(unused_imports)]
            use #enum_name::{#(#used,)* #(#some as #wrong,)*};
        };
        function.block.stmts.insert(0, import);
    }
    wrong
}

fn contexts(function: &ImplItemFn) -> Vec<Ident> {
    let typed = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    typed
        .filter_map(|typed| match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(pattern), Type::Reference(reference)) => match &*reference.elem {
                Type::Path(path) => {
                    let name = &path.path.segments.last()?.ident;
                    (name == "Cx" || name == "MonitorCx").then(|| pattern.ident.clone())
                }
                _ => None,
            },
            _ => None,
        })
        .collect()
}

/// Appends the names in `cx.goto(Name)` and `cx.push(Name)` that look like states.
fn targets(tokens: TokenStream, contexts: &[Ident], found: &mut Vec<Ident>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            targets(group.stream(), contexts, found);
        }
        let [
            TokenTree::Ident(cx),
            TokenTree::Punct(dot),
            TokenTree::Ident(method),
            TokenTree::Group(arguments),
            ..,
        ] = &tokens[index..]
        else {
            continue;
        };
        let is_transition =
            contexts.contains(cx) && dot.as_char() == '.' && (method == "goto" || method == "push");
        let mut arguments = arguments.stream().into_iter();
        if let (true, Some(TokenTree::Ident(name)), None) =
            (is_transition, arguments.next(), arguments.next())
        {
            let text = name.to_string();
            let is_camel_case =
                text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase);
            if is_camel_case && !found.contains(&name) {
                found.push(name);
            }
        }
    }
}

/// Appends the states that are mentioned other than as `Other::Name` or `other.Name`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Heat;

    fn states() -> Vec<State> {
        let names = ["Idle", "Busy", "Done"].map(|name| quote::format_ident!("{name}"));
        names.map(|name| State { docs: Vec::new(), heat: Heat::Neutral, name }).into()
    }

    /// The first statement of the function, and the names that are no states.
    fn imported(mut function: ImplItemFn) -> (String, Vec<String>) {
        let enum_name = quote::format_ident!("ServerState");
        let wrong = bring_into_scope(&enum_name, &states(), &mut function);
        let first = function.block.stmts[0].to_token_stream().to_string();
        (first, wrong.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn only_states_that_stand_by_themselves_are_imported() {
        let (import, wrong) = imported(parse_quote! {
            fn handler(&mut self, cx: &mut Cx<Self>) {
                let other = OtherState::Idle;
                if matches!(self.last, Some(Busy)) { self.field.Done = Setting { state: Busy } }
            }
        });
        assert_eq!(import, "# [allow (unused_imports)] use ServerState :: { Busy , } ;");
        assert!(wrong.is_empty());
    }

    #[test]
    fn a_function_that_mentions_no_state_is_left_alone() {
        let (first, _) = imported(parse_quote! { fn helper(&self) { self.count() } });
        assert_eq!(first, "self . count ()");
    }

    #[test]
    fn a_target_that_is_no_state_is_told_only_where_it_can_be_nothing_else() {
        let (import, wrong) = imported(parse_quote! {
            fn handler(&mut self, cx: &mut Cx<'_, Self>, next: ServerState) {
                if self.ready { cx.goto(Bsuy) }
                cx.goto(next);
                cx.goto(FIRST);
                cx.push(ServerState::Idle);
                self.log.push(Begin);
            }
        });
        assert_eq!(wrong, ["Bsuy"]);
        assert_eq!(import, "# [allow (unused_imports)] use ServerState :: { Idle as Bsuy , } ;");
    }
}
