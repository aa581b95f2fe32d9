//! The signatures of handlers.

use quote::ToTokens;
use syn::{FnArg, ImplItemFn, ReceiverKind, ReturnType, Safety, Signature, Type};

use crate::arguments::Kind;
use crate::problems::Problems;
use crate::rules::{Rule, Verb};

pub struct Handler {
    pub name: syn::Ident,
    /// The type of the second parameter.
    pub context: Option<Type>,
    /// The type of the third parameter.
    pub event: Option<Type>,
}

/// Reads the signature of a function with these rules; `None` if it cannot be called.
pub fn read(
    kind: Kind,
    function: &ImplItemFn,
    rules: &[Rule],
    problems: &mut Problems,
) -> Option<Handler> {
    let before = problems.len();
    let sig = &function.sig;
    refuse_modifiers(kind, function, problems);
    let only_events = rules.iter().all(|rule| rule.verb == Verb::On);
    let [context, event] = match parameters(sig, only_events) {
        Some(parameters) => parameters.map(|ty| ty.cloned()),
        None => {
            problems.add(&sig.inputs, shapes(kind, only_events));
            return None;
        }
    };
    if let Some(event) = &event {
        refuse_several_events(rules, event, problems);
    }
    (problems.len() == before).then(|| Handler { name: sig.ident.clone(), context, event })
}

fn refuse_modifiers(kind: Kind, function: &ImplItemFn, problems: &mut Problems) {
    let sig = &function.sig;
    if let Some(asyncness) = &sig.asyncness {
        let why = match kind {
            Kind::Machine => {
                "a handler cannot be async, since it is one step of its machine; to wait for \
                 something, go to a state for that and handle there the event that brings it"
            }
            Kind::Monitor => "a handler of a monitor cannot be async: monitors only observe",
        };
        problems.add(asyncness, why);
    }
    if !matches!(sig.safety, Safety::Default) {
        problems.add(&sig.safety, "a handler cannot be unsafe: the runtime calls it");
    }
    if !sig.generics.params.is_empty() {
        problems.add(&sig.generics, "a handler has no generic parameters of its own");
    }
    let returns_nothing = match &sig.output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) => tuple.elems.is_empty(),
            Type::Never(_) => true,
            _ => false,
        },
    };
    if !returns_nothing {
        problems.add(&sig.output, "a handler returns nothing: nobody could take the value");
    }
    let is_conditional = |attribute: &&syn::Attribute| {
        attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
    };
    if let Some(attribute) = function.attrs.iter().find(is_conditional) {
        let message =
            "a handler cannot be conditional; put the condition on the whole `impl` block";
        problems.add(attribute, message);
    }
}

/// The types of context and event, if the signature is allowed.
fn parameters(sig: &Signature, event_allowed: bool) -> Option<[Option<&Type>; 2]> {
    if !matches!(sig.receiver()?.kind, ReceiverKind::Reference(..)) {
        return None;
    }
    let mut types = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        FnArg::Receiver(_) => None,
    });
    let (context, event, more) = (types.next(), types.next(), types.next());
    // An event in place of the context is a frequent mistake; the context is always borrowed.
    let context_is_borrowed = match context {
        Some(Type::Reference(reference)) => reference.mutability.is_some(),
        Some(_) => false,
        None => true,
    };
    let fits = context_is_borrowed && more.is_none() && (event_allowed || event.is_none());
    fits.then_some([context, event])
}

fn shapes(kind: Kind, event_allowed: bool) -> String {
    let with_context = format!("(&mut self, cx: &mut {}<Self>", kind.context());
    if event_allowed {
        format!(
            "a handler takes `(&mut self)`, `{with_context})` or `{with_context}, event: Event)`"
        )
    } else {
        format!("an action without an event takes `(&mut self)` or `{with_context})`")
    }
}

fn refuse_several_events(rules: &[Rule], parameter: &Type, problems: &mut Problems) {
    let mut types = rules.iter().flat_map(|rule| &rule.events).map(text);
    let first = types.next();
    let any = rules.iter().any(|rule| rule.events.is_empty());
    if any || types.any(|other| Some(other) != first) {
        problems.add(
            parameter,
            "this handler is for several events, so it cannot take one as a parameter; leave the \
             parameter out, or write a handler for each event",
        );
    }
}

/// The tokens of a type, by which types are compared.
pub fn text(ty: &Type) -> String {
    ty.to_token_stream().to_string()
}
