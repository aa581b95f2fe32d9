//! `#[dally::test]`: a test function becomes a program, and the program is checked.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, FnArg, Ident, ItemFn, ReturnType, Token};

/// Options that are methods of `dally::testing::Test`.
const TEST_OPTIONS: [&str; 22] = [
    "strategy",
    "learned",
    "schedules",
    "time",
    "seed",
    "max_steps",
    "threads",
    "should_fail",
    "keep_going",
    "shrink",
    "temperature",
    "fairness",
    "fail_on_max_steps",
    "step_time",
    "search",
    "explorer",
    "delays",
    "delta",
    "memory",
    "cache",
    "exact",
    "with_explorer",
];

/// Options that are methods of `dally::machines::MachineProgram`.
const MACHINE_OPTIONS: [&str; 3] = ["granularity", "mailbox", "faults"];

/// The expansion, or the errors in place of it with the function kept for the IDE.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return failed(error, item),
    };
    let options = match syn::parse2::<Options>(arguments) {
        Ok(options) => options.0,
        Err(error) => return failed(error, item),
    };
    generate(function, options).unwrap_or_else(|error| failed(error, item))
}

fn failed(error: Error, item: TokenStream) -> TokenStream {
    let error = error.into_compile_error();
    quote!(#error #item)
}

struct Options(Vec<(Ident, Expr)>);

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Options> {
        let parsed = Punctuated::<KeyValue, Token![,]>::parse_terminated(input)?;
        let mut options: Vec<(Ident, Expr)> = Vec::new();
        for KeyValue(name, value) in parsed {
            let text = name.to_string();
            let known = TEST_OPTIONS.iter().chain(&MACHINE_OPTIONS);
            if !known.clone().any(|option| *option == text) {
                let names = known.copied().collect::<Vec<_>>().join(", ");
                let message = format!("`{text}` is not an option of a test; there are: {names}");
                return Err(Error::new(name.span(), message));
            }
            if options.iter().any(|(earlier, _)| *earlier == name) {
                return Err(Error::new(name.span(), format!("`{text}` is given twice")));
            }
            options.push((name, value));
        }
        Ok(Options(options))
    }
}

struct KeyValue(Ident, Expr);

impl Parse for KeyValue {
    fn parse(input: ParseStream<'_>) -> syn::Result<KeyValue> {
        let name: Ident = input.parse()?;
        if !input.peek(Token![=]) {
            let message = format!("write `{name} = value`");
            return Err(Error::new(name.span(), message));
        }
        input.parse::<Token![=]>()?;
        Ok(KeyValue(name, input.parse()?))
    }
}

/// What the function describes.
enum Shape {
    /// `async fn test()`: the main task.
    Tasks,
    /// `fn test(setup: &mut Setup)`: creates machines.
    Machines,
    /// `fn test() -> impl Program`: gives a program.
    Program,
}

fn generate(function: ItemFn, options: Vec<(Ident, Expr)>) -> syn::Result<TokenStream> {
    let shape = shape_of(&function)?;
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let name = &sig.ident;
    let mut of_test = TokenStream::new();
    let mut of_program = TokenStream::new();
    for (option, value) in options {
        let call = quote_spanned!(value.span()=> .#option(#value));
        if TEST_OPTIONS.iter().any(|known| option == known) {
            of_test.extend(call);
        } else if matches!(shape, Shape::Machines) {
            of_program.extend(call);
        } else {
            let message = format!("`{option}` is an option of machines, and this test has none");
            return Err(Error::new(option.span(), message));
        }
    }
    let program = match shape {
        Shape::Tasks => quote! {
            ::dally::tasks::TaskProgram::new(
                stringify!(#name),
                || async { ::dally::testing::Verdict::check(#name().await) },
            )
        },
        Shape::Machines => quote! {
            ::dally::machines::MachineProgram::new(stringify!(#name), |setup| #name(setup))
                #of_program
        },
        Shape::Program => quote!(#name()),
    };
    let test = quote! {
        ::dally::testing::Test::new(
            ::core::env!("CARGO_PKG_NAME"),
            ::core::concat!(::core::module_path!(), "::", stringify!(#name)),
        )
        #of_test
    };
    Ok(quote! {
        #[::core::prelude::v1::test]
        #(#attrs)*
        #vis fn #name() {
            // Under its own name, which tasks take theirs from.
            #sig #block
            #test.run(#program)
        }
    })
}

fn shape_of(function: &ItemFn) -> syn::Result<Shape> {
    let sig = &function.sig;
    if !sig.generics.params.is_empty() {
        return Err(Error::new(sig.generics.span(), "a test function has no generic parameters"));
    }
    let typed = sig.inputs.iter().all(|input| matches!(input, FnArg::Typed(_)));
    match (sig.asyncness, sig.inputs.len(), &sig.output) {
        (Some(_), 0, _) => Ok(Shape::Tasks),
        (None, 1, ReturnType::Default) if typed => Ok(Shape::Machines),
        (None, 0, ReturnType::Type(..)) => Ok(Shape::Program),
        _ => Err(Error::new(
            sig.ident.span(),
            "a Dally test is one of:\n  \
             async fn test()                 its body is the main task\n  \
             fn test(setup: &mut Setup)      creates machines and monitors\n  \
             fn test() -> impl Program       gives the program to check",
        )),
    }
}
