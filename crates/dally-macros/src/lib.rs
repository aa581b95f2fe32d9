//! The attribute macros of Dally, re-exported by the crate `dally`.
//!
//! `arguments` parses the attribute and `rules` those inside the block; `block` is the model of the
//! whole with the `signature`s of its handlers; `table` decides between rules; `states`, `dispatch`,
//! `machine` and `monitor` generate code.

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
mod tokio;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse_quote;

use crate::arguments::{Arguments, Kind};
use crate::block::Block;
use crate::dispatch::Dispatch;
use crate::problems::Problems;
use crate::table::Table;

/// Makes a state machine of an `impl` block.
///
/// ```
/// use dally::machines::{Addr, Cx};
///
/// // Events are plain types.
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// struct Acquire {
///     from: Addr<User>,
/// }
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// struct Release;
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// struct Granted;
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// struct Lock;
///
/// #[dally::machine(states(Free, Held))]
/// impl Lock {
///     #[on(Free, Acquire)]
///     fn acquire(&mut self, cx: &mut Cx<Self>, Acquire { from }: Acquire) {
///         cx.send(from, Granted);
///         cx.goto(Held);
///     }
///
///     // While the lock is held, others wait in the inbox.
///     #[defer(Held, Acquire)]
///     #[goto(Held, Release => Free)]
///     const RULES: () = ();
/// }
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// struct User {
///     lock: Addr<Lock>,
/// }
///
/// #[dally::machine(states(Waiting, Done))]
/// impl User {
///     #[entry(Waiting)]
///     fn ask(&mut self, cx: &mut Cx<Self>) {
///         cx.send(self.lock, Acquire { from: cx.me() });
///     }
///
///     #[on(Waiting, Granted)]
///     fn granted(&mut self, cx: &mut Cx<Self>) {
///         cx.send(self.lock, Release);
///         cx.goto(Done);
///     }
/// }
/// ```
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `states(Free, Held)` | the states; the machine starts in the first. They become an enum, here `LockState`; inside the functions of the block their names can be used alone. A state can have a doc comment. |
/// | `uncaptured` | the state of the machine cannot be copied and compared. Then the type and its events need only `Debug`; a search comes back to a state by running the program again, and does not find cycles. |
/// | `crate = my_crate::dally` | where the crate `dally` is, for those who re-export it. |
/// | `durable = Ledger` | what survives a crash, stored by `cx.persist(Ledger { .. })`. The block must have `fn recover(self, durable: Option<Ledger>) -> Self`, which is given the machine as it was created. Only such a machine crashes. |
///
/// # Rules
///
/// Functions are called by:
///
/// | attribute | when |
/// |---|---|
/// | `#[on(State, Event)]` | the event is dequeued or raised in the state |
/// | `#[entry(State)]` | the state is entered |
/// | `#[exit(State)]` | the state is left |
/// | `#[default(State)]` | nothing in the inbox can be dequeued in the state |
/// | `#[observe]` | a strategy asks what to observe (`ql-c`) besides the inbox: `fn name(&self) -> impl Hash` |
/// | `#[observe(only)]` | the same, and the inbox is left out |
///
/// The others take `(&mut self)`, `(&mut self, cx: &mut Cx<Self>)` or, for `#[on]` with one event,
/// `(&mut self, cx: &mut Cx<Self>, event: Event)`, and return nothing. Other functions in the
/// block are left as they are.
///
/// Rules that call no function stand on a constant, which goes away:
///
/// | attribute | meaning |
/// |---|---|
/// | `#[goto(State, Event => Next)]` | the event only changes the state |
/// | `#[defer(State, Event)]` | the event stays in the inbox for a later state |
/// | `#[ignore(State, Event)]` | the event is dropped |
///
/// `A | B` stands for several states, `_` for all states or events that have no rule of their
/// own; several events are written one after another: `#[ignore(Idle, Vote, Timeout)]`.
///
/// # Which rule decides
///
/// At most one rule may say the same about the same state and event. Where several say
/// something, the first of these decides:
///
/// 1. `(State, Event)`,
/// 2. `(State, _)`,
/// 3. `(_, Event)`,
/// 4. `(_, _)`.
///
/// So what a state says, even of all other events, is not overruled by what is said of all other
/// states. If no rule decides, the states below on the stack do (see `Cx::push`); an event for
/// which nobody has a rule is a bug. Sending a machine an event for which it has no rule in any
/// state does not compile:
///
/// ```compile_fail,E0277
/// # use dally::machines::{Addr, Cx};
/// # #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// # struct Ping;
/// # #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// # struct Pong;
/// # #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// # struct Stop;
/// # #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// # struct Server;
/// #[dally::machine(states(Up))]
/// impl Server {
///     #[on(Up, Ping)]
///     fn ping(&mut self, cx: &mut Cx<Self>) {
///         cx.send(cx.me(), Pong); // machine `Server` never handles event `Pong`
///     }
///     #[ignore(Up, Stop)]
///     const RULES: () = ();
/// }
/// ```
#[proc_macro_attribute]
pub fn machine(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand(Kind::Machine, arguments.into(), item.into()).into()
}

/// Makes a monitor of an `impl` block: a machine that only observes.
///
/// A monitor is told every event that machines or tasks announce and that it has a rule for in
/// one of its states, at once and in order. It judges by assertions, and by hot and cold states:
/// an execution must not stay or end in a hot one.
///
/// ```
/// use dally::machines::MonitorCx;
///
/// #[derive(Clone, Hash, Debug)]
/// struct Requested {
///     id: u32,
/// }
/// #[derive(Clone, Hash, Debug)]
/// struct Answered {
///     id: u32,
/// }
///
/// /// Every request is answered, one at a time.
/// #[derive(Clone, Hash, Debug, Default)]
/// struct Answers {
///     open: u32,
/// }
///
/// #[dally::monitor(states(Quiet, hot Waiting))]
/// impl Answers {
///     #[on(Quiet, Requested)]
///     fn requested(&mut self, cx: &mut MonitorCx<Self>, request: &Requested) {
///         self.open = request.id;
///         cx.goto(Waiting);
///     }
///
///     #[on(Waiting, Answered)]
///     fn answered(&mut self, cx: &mut MonitorCx<Self>, answer: &Answered) {
///         assert_eq!(answer.id, self.open, "the answer to another request");
///         cx.goto(Quiet);
///     }
/// }
/// ```
///
/// Rules are those of [`macro@machine`], without `#[defer]` and `#[default]`: a monitor has no
/// inbox. Handlers take the event by reference, or by value if it is `Clone`. An event that the
/// monitor knows and that the present state has no rule for is a bug, as it is for a machine; say
/// `#[ignore(State, Event)]` where it does not matter.
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
#[doc = include_str!("options.md")]
///
/// Each is also a method of `dally::testing::Test`, where more is said of it, and those of a run are
/// environment variables (`DALLY_SCHEDULES`), which win over the attribute, so that a nightly build
/// can turn the budget up without a change to the code. `DALLY_REPLAY` holds a schedule to run
/// again. The guide has all of them on its page of settings.
#[proc_macro_attribute]
pub fn test(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    test::expand(arguments.into(), item.into()).into()
}

/// `#[tokio::test]` where Dally stands in for tokio: the body is explored as that of `#[dally::test]`
/// is, with the settings of the environment. It takes the arguments of tokio's attribute.
#[proc_macro_attribute]
pub fn tokio_test(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    tokio::expand(tokio::Entry::Test, arguments.into(), item.into()).into()
}

/// `#[tokio::main]` where Dally stands in for tokio.
#[proc_macro_attribute]
pub fn tokio_main(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    tokio::expand(tokio::Entry::Main, arguments.into(), item.into()).into()
}

/// All errors of the block, and the code that can be generated nevertheless: a block with an error is
/// still a machine for the rest of the crate, which then has no further errors.
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
        // The function of a rule with an error is not called.
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

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::arguments::Kind;
    use crate::expand;

    #[test]
    fn what_is_generated_for_who_re_exports_the_crate_names_it_where_they_have_it() {
        let machine = quote! {
            impl Lock {
                #[on(Free, Acquire)]
                fn acquire(&mut self, cx: &mut Cx<Self>, event: Acquire) {}
                #[observe]
                fn shown(&self) -> u32 { 1 }
            }
        };
        let monitor = quote! {
            impl Watch {
                #[on(Quiet, Acquire)]
                fn acquired(&mut self, cx: &mut MonitorCx<Self>, event: &Acquire) {}
            }
        };
        let machines = quote!(states(Free), crate = my::tools);
        let monitors = quote!(states(Quiet), crate = my::tools);
        let tests = quote!(crate = my::tools, seed = 7);
        let tasks = quote! { async fn test() {} };
        let of_machines = quote! { fn test(setup: &mut Setup) {} };
        for code in [
            expand(Kind::Machine, machines, machine),
            expand(Kind::Monitor, monitors, monitor),
            crate::test::expand(tests.clone(), tasks),
            crate::test::expand(tests, of_machines),
        ] {
            let code = code.to_string();
            assert!(code.contains("my :: tools :: __private :: "), "{code}");
            assert!(!code.contains("dally") && !code.contains("compile_error"), "{code}");
        }
    }
}
