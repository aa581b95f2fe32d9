//! The model of a block: its declarations, and the rest of it as ordinary Rust.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{
    Attribute, Error, FnArg, GenericParam, Ident, ImplItem, ImplItemFn, ItemImpl, Meta,
    ReceiverKind, ReturnType, Type, parse_quote,
};

use crate::arguments::{Arguments, Kind, private};
use crate::names;
use crate::problems::Problems;
use crate::rules::{Rule, Verb};
use crate::signature::{self, Handler};
use crate::states;

pub struct Block {
    pub kind: Kind,
    pub name: Ident,
    pub enum_name: Ident,
    pub arguments: Arguments,
    /// The block without attributes of Dally.
    pub item: ItemImpl,
    /// In the order of the source.
    pub rules: Vec<Placed>,
    /// In the order of their first occurrence.
    pub events: Vec<Type>,
    /// Whether the block has a `recover` with the right signature.
    pub recovers: bool,
    /// The function that answers what is observed, and whether the inbox is left out.
    pub observe: Option<(Ident, bool)>,
}

pub struct Placed {
    pub rule: Rule,
    /// The index of the function; `None` for a rule without one.
    pub handler: Option<usize>,
}

impl Block {
    /// The path of `dally_machines` in generated code.
    pub fn machines(&self) -> TokenStream {
        let private = private(self.arguments.facade.as_ref());
        quote!(#private::machines)
    }

    /// The path of `dally_core` in generated code.
    pub fn contract(&self) -> TokenStream {
        let private = private(self.arguments.facade.as_ref());
        quote!(#private::contract)
    }

    /// Reads a block; `None` if its errors leave nothing to generate from.
    pub fn read(
        kind: Kind,
        arguments: Arguments,
        item: ItemImpl,
        problems: &mut Problems,
    ) -> Option<(Block, Vec<Handler>)> {
        let name = problems.keep(name_of(kind, &item))?;
        let enum_name = quote::format_ident!("{name}State");
        let (rules, events, recovers, observe) = (Vec::new(), Vec::new(), false, None);
        let mut block =
            Block { kind, name, enum_name, arguments, item, rules, events, recovers, observe };
        let handlers = block.read_items(problems);
        block.collect_events();
        block.check_names(problems);
        Some((block, handlers))
    }

    pub fn state(&self, name: &Ident) -> Option<usize> {
        self.arguments.states.iter().position(|state| state.name == *name)
    }

    pub fn event(&self, ty: &Type) -> Option<usize> {
        let text = signature::text(ty);
        self.events.iter().position(|event| signature::text(event) == text)
    }

    fn read_items(&mut self, problems: &mut Problems) -> Vec<Handler> {
        let mut handlers = Vec::new();
        let mut kept = Vec::new();
        let mut recover = false;
        for mut item in std::mem::take(&mut self.item.items) {
            let rules = match attributes(&mut item) {
                Some(attributes) => take_rules(self.kind, attributes, problems),
                None => Vec::new(),
            };
            match &mut item {
                ImplItem::Fn(function) => {
                    self.take_observe(function, problems);
                    if self.kind == Kind::Machine && function.sig.ident == "recover" {
                        recover = true;
                        self.recovers = self.check_recover(function, problems);
                    }
                    let called = !rules.is_empty() || function.sig.ident == "recover";
                    self.place_on_function(function, rules, &mut handlers, problems);
                    if called {
                        // The attribute dictates the signature, so lints about it do not apply.
                        function.attrs.push(parse_quote!(#[allow(
                            clippy::missing_const_for_fn,
                            clippy::needless_pass_by_ref_mut,
                            clippy::needless_pass_by_value,
                            clippy::unused_self,
                        )]));
                    }
                    let states = &self.arguments.states;
                    for name in states::bring_into_scope(&self.enum_name, states, function) {
                        problems.add(&name, self.no_such_state(&name));
                    }
                }
                ImplItem::Const(constant) if !rules.is_empty() => {
                    let unit = matches!(&constant.ty, Type::Tuple(tuple) if tuple.elems.is_empty());
                    if !unit {
                        let message = "a constant that carries rules has the type `()`, since it \
                                       is only there to carry them: `const RULES: () = ();`";
                        problems.add(&constant.ty, message);
                    }
                    self.place_on_constant(rules, problems);
                    continue;
                }
                _ => {
                    for rule in rules {
                        problems.add(&rule.attribute, placement(rule.verb));
                    }
                }
            }
            kept.push(item);
        }
        self.item.items = kept;
        if let (Some(durable), false) = (&self.arguments.durable, recover) {
            let message = format!(
                "a durable machine says how it starts again after a crash: add \
                 `fn recover(self, durable: Option<{0}>) -> Self` to the block",
                durable.to_token_stream(),
            );
            problems.add(durable, message);
        }
        if let (Some(_), Some(uncaptured)) = (&self.arguments.durable, &self.arguments.uncaptured) {
            let message = "a durable machine starts again from a copy of what it was created as, \
                           so it cannot be `uncaptured`";
            problems.add(uncaptured, message);
        }
        handlers
    }

    fn place_on_function(
        &mut self,
        function: &ImplItemFn,
        rules: Vec<Rule>,
        handlers: &mut Vec<Handler>,
        problems: &mut Problems,
    ) {
        let (mut handled, misplaced): (Vec<_>, Vec<_>) =
            rules.into_iter().partition(|rule| rule.verb.has_handler());
        for rule in &misplaced {
            problems.add(&rule.attribute, placement(rule.verb));
        }
        let mut number = None;
        if !handled.is_empty()
            && let Some(handler) = signature::read(self.kind, function, &handled, problems)
        {
            number = Some(handlers.len());
            handlers.push(handler);
        }
        handled.extend(misplaced);
        self.rules.extend(handled.into_iter().map(|rule| Placed { rule, handler: number }));
    }

    fn place_on_constant(&mut self, rules: Vec<Rule>, problems: &mut Problems) {
        for rule in rules {
            if rule.verb.has_handler() {
                problems.add(&rule.attribute, placement(rule.verb));
            }
            self.rules.push(Placed { rule, handler: None });
        }
    }

    fn take_observe(&mut self, function: &mut ImplItemFn, problems: &mut Problems) {
        let Some(at) = function.attrs.iter().position(|a| a.path().is_ident("observe")) else {
            return;
        };
        let attribute = function.attrs.remove(at);
        let sig = &function.sig;
        let by_reference = sig
            .receiver()
            .is_some_and(|receiver| matches!(receiver.kind, ReceiverKind::Reference(_, _, None)));
        let returns = !matches!(sig.output, ReturnType::Default);
        let only = attribute.parse_args::<Ident>().is_ok_and(|argument| argument == "only");
        let message = if self.kind == Kind::Monitor {
            "a monitor is no worker: strategies do not observe it"
        } else if !only && !matches!(attribute.meta, Meta::Path(_)) {
            "write `#[observe]`, or `#[observe(only)]` to leave out the inbox"
        } else if !(by_reference && sig.inputs.len() == 1 && returns && sig.asyncness.is_none()) {
            "`#[observe]` stands on a function that answers what strategies are to observe: \
             write `fn name(&self) -> impl Hash`"
        } else if self.observe.is_some() {
            "a machine has one `#[observe]`: answer a tuple to show several things"
        } else {
            self.observe = Some((sig.ident.clone(), only));
            return;
        };
        problems.add(&attribute, message);
    }

    fn check_recover(&self, function: &ImplItemFn, problems: &mut Problems) -> bool {
        let sig = &function.sig;
        let Some(durable) = &self.arguments.durable else {
            let message = "`recover` restores a machine after a crash, and this one has nothing \
                           durable: declare it with `durable = Type`, or choose another name";
            problems.add(&sig.ident, message);
            return false;
        };
        let by_value =
            sig.receiver().is_some_and(|receiver| matches!(receiver.kind, ReceiverKind::Value));
        let two = sig.inputs.len() == 2 && matches!(sig.inputs.last(), Some(FnArg::Typed(_)));
        let returns = !matches!(sig.output, ReturnType::Default);
        let fits = by_value && two && returns && sig.asyncness.is_none();
        if !fits {
            let durable = durable.to_token_stream();
            let message = format!("write `fn recover(self, durable: Option<{durable}>) -> Self`");
            problems.add(sig, message);
        }
        fits
    }

    fn collect_events(&mut self) {
        for placed in &self.rules {
            for event in &placed.rule.events {
                if self.event(event).is_none() {
                    self.events.push(event.clone());
                }
            }
        }
    }

    fn check_names(&self, problems: &mut Problems) {
        let kind = self.kind.name();
        for state in &self.arguments.states {
            let name = &state.name;
            let has_name =
                |event: &Type| matches!(event, Type::Path(path) if path.path.is_ident(name));
            if self.events.iter().any(has_name) {
                let message = format!(
                    "state `{name}` has the name of an event of this {kind}; rename one of them, \
                     since inside the handlers `{name}` could mean either"
                );
                problems.add(name, message);
            }
            if *name == self.name {
                problems.add(name, format!("a state cannot have the name of its {kind}"));
            }
        }
        for Placed { rule, .. } in &self.rules {
            for name in rule.states.iter().chain(&rule.target) {
                if self.state(name).is_none() {
                    problems.add(name, self.no_such_state(name));
                }
            }
        }
    }

    fn no_such_state(&self, name: &Ident) -> String {
        let states = self.arguments.states.iter().map(|state| &state.name);
        format!(
            "no state `{name}` in {} `{}`: it has {}{}",
            self.kind.name(),
            self.name,
            names::list(states.clone()),
            names::did_you_mean(&name.to_string(), states),
        )
    }
}

/// The name of the type of a block that the attribute supports.
fn name_of(kind: Kind, item: &ItemImpl) -> syn::Result<Ident> {
    let attribute = kind.name();
    if let Some((path, _)) = &item.trait_ {
        let message = format!(
            "`#[{attribute}]` stands on the inherent `impl` block of the {attribute}, not on the \
             implementation of a trait"
        );
        return Err(Error::new_spanned(path, message));
    }
    let is_lifetime = |parameter: &&GenericParam| matches!(parameter, GenericParam::Lifetime(_));
    if let Some(lifetime) = item.generics.params.iter().find(is_lifetime) {
        let message = format!("a {attribute} owns all that it has: it cannot have a lifetime");
        return Err(Error::new_spanned(lifetime, message));
    }
    match &*item.self_ty {
        Type::Path(path) if path.qself.is_none() => match path.path.segments.last() {
            Some(last) => Ok(last.ident.clone()),
            None => Err(Error::new_spanned(&item.self_ty, "expected the name of a type")),
        },
        other => {
            let message = format!("a {attribute} is a struct or enum with a name of its own");
            Err(Error::new_spanned(other, message))
        }
    }
}

fn attributes(item: &mut ImplItem) -> Option<&mut Vec<Attribute>> {
    match item {
        ImplItem::Const(item) => Some(&mut item.attrs),
        ImplItem::Fn(item) => Some(&mut item.attrs),
        ImplItem::Type(item) => Some(&mut item.attrs),
        ImplItem::Macro(item) => Some(&mut item.attrs),
        _ => None,
    }
}

fn take_rules(kind: Kind, attributes: &mut Vec<Attribute>, problems: &mut Problems) -> Vec<Rule> {
    let mut rules = Vec::new();
    attributes.retain(|attribute| {
        let Some(verb) = Verb::of(attribute) else { return true };
        if verb.is_of(kind) {
            rules.extend(problems.keep(Rule::parse(verb, attribute)));
        } else {
            let name = verb.name();
            let message = format!("a monitor has no inbox, so it has no `#[{name}]`");
            problems.add(attribute, message);
        }
        false
    });
    rules
}

fn placement(verb: Verb) -> String {
    let name = verb.name();
    if verb.has_handler() {
        format!("`#[{name}]` stands on the function that is to be called")
    } else {
        let instead = match verb {
            Verb::Goto => "; to do more than change the state, write an `#[on]` handler",
            _ => "",
        };
        format!("`#[{name}]` calls no function: it stands on `const RULES: () = ();`{instead}")
    }
}
