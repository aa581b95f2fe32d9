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
mod test;

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

/// Makes a test whose program is run under many schedules.
///
/// The function is one of:
///
/// - `async fn test()`: its body is the main task of a program of tasks;
/// - `fn test(setup: &mut Setup)`: it creates the machines and monitors to start with;
/// - `fn test() -> impl Program`: it gives the program.
///
/// Options, all of them optional, as `#[dally::test(schedules = 5000, strategy = "pct:3")]`:
///
/// | option | meaning | environment variable |
/// |---|---|---|
/// | `strategy = "pct:3"` | random, pct, pct:DEPTH, dfs, round-robin, irs, portfolio | `DALLY_STRATEGY` |
/// | `schedules = 5000` | how many schedules to run (1,000) | `DALLY_SCHEDULES` |
/// | `time = "30s"` | how long to run, if that comes first | `DALLY_TIME` |
/// | `seed = 7` | where random choices start from (0) | `DALLY_SEED` |
/// | `max_steps = 2000` | how many steps a schedule may have (10,000) | `DALLY_MAX_STEPS` |
/// | `threads = 2` | how many threads run schedules (1) | `DALLY_THREADS` |
/// | `should_fail = "deadlock"` | passes only if a bug of this kind, or with this text, is found | |
/// | `keep_going = true` | goes on after the first bug | `DALLY_KEEP_GOING` |
/// | `shrink = false` | shows the first failing schedule as it is | `DALLY_SHRINK` |
/// | `temperature = 500` | how many steps a monitor may stay hot | `DALLY_TEMPERATURE` |
/// | `fail_on_max_steps = true` | reaching the step bound is a bug | `DALLY_FAIL_ON_MAX_STEPS` |
///
/// With machines also `granularity`, `mailbox` and `faults`, which take the types of the same
/// names, such as `mailbox = Mailbox::Unordered`.
///
/// An environment variable wins over the attribute, so that a nightly build can turn the budget
/// up without a change to the code. `DALLY_REPLAY` holds a schedule to run again, `DALLY_OUT` the
/// directory that findings are written to.
#[proc_macro_attribute]
pub fn test(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    test::expand(arguments.into(), item.into()).into()
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
    let parsed = syn::parse2(item).map_err(|error| {
        let name = kind.name();
        let message = format!("{error}; `#[{name}]` stands on the `impl` block of the {name}");
        syn::Error::new(error.span(), message)
    });
    let item = problems.keep(parsed);
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
