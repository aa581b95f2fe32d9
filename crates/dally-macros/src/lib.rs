//! The attribute macros of Dally. Users have them from the crate `dally`.
//!
//! Each module has one idea: [`arguments`] of the attribute, [`rules`] as written inside the
//! block, the [`block`] as a model with its [`signature`]s, the [`table`] of which rule decides,
//! and the code made of them ([`states`], [`dispatch`], [`machine`], [`monitor`]).

mod arguments;
mod block;
mod dispatch;
mod machine;
mod monitor;
mod names;
mod problems;
mod rules;
mod signature;
mod states;
mod table;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse_quote;

use crate::arguments::{Arguments, Kind};
use crate::block::Block;
use crate::dispatch::Dispatch;
use crate::problems::Problems;
use crate::table::Table;

/// Makes a state machine of an `impl` block.
#[proc_macro_attribute]
pub fn machine(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Machine, arguments.into(), item.into()).into()
}

/// Makes a monitor of an `impl` block.
#[proc_macro_attribute]
pub fn monitor(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Monitor, arguments.into(), item.into()).into()
}

/// The expansion, with all problems of the block in front of what can be made of it: a block
/// with a problem is still a machine for the rest of the crate, which so has no errors of its own.
fn expand(kind: Kind, arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut problems = Problems::default();
    let code = generate(kind, arguments, item, &mut problems);
    let errors = problems.into_compile_errors();
    quote!(#errors #code)
}

fn generate(
    kind: Kind,
    arguments: TokenStream,
    item: TokenStream,
    problems: &mut Problems,
) -> Option<TokenStream> {
    let item = problems.keep(syn::parse2(item));
    let arguments = Arguments::parse(kind, arguments, problems);
    let (mut block, handlers) = Block::read(kind, arguments?, item?, problems)?;
    let table = Table::new(&block, &handlers, problems);
    if problems.len() > 0 {
        // A rule with a problem does not call its function.
        block.item.attrs.push(parse_quote!(#[allow(dead_code)]));
    }
    let states = states::declare(&block);
    let dispatch = Dispatch { block: &block, handlers: &handlers, table: &table };
    let implementation = match kind {
        Kind::Machine => machine::generate(&dispatch),
        Kind::Monitor => monitor::generate(&dispatch),
    };
    let item = block.item.to_token_stream();
    Some(quote!(#states #item #implementation))
}
