//! `#[dally::test]`: a test function becomes a program, and the program is checked.

use dally_settings::{Group, Kind, OF_ATTRIBUTES, SETTINGS, Setting};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, FnArg, Ident, ItemFn, Lit, Path, ReturnType, Token};

use crate::arguments::private;
use crate::names;

/// The expansion, or the errors in place of it with the function kept for the IDE.
pub fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return failed(error, item),
    };
    let options = match syn::parse2::<Options>(arguments) {
        Ok(options) => options,
        Err(error) => return failed(error, item),
    };
    generate(function, options).unwrap_or_else(|error| failed(error, item))
}

fn failed(error: Error, item: TokenStream) -> TokenStream {
    let error = error.into_compile_error();
    quote!(#error #item)
}

/// The options of the attribute.
#[derive(Default)]
struct Options {
    /// Those of settings, with their values.
    given: Vec<(Ident, &'static Setting, Expr)>,
    /// The path in `crate = path`.
    facade: Option<Path>,
}

impl Parse for Options {
    fn parse(input: ParseStream<'_>) -> syn::Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let name = input.call(Ident::parse_any)?;
            let text = name.to_string();
            let known = SETTINGS.iter().chain(OF_ATTRIBUTES);
            let Some(setting) = known.clone().find(|setting| setting.name == text) else {
                let names: Vec<&str> = known.map(|setting| setting.name).collect();
                let guess = names::did_you_mean(&text, &names);
                let list = names.join(", ");
                let message =
                    format!("`{text}` is not an option of a test{guess}\nthere are: {list}");
                return Err(Error::new(name.span(), message));
            };
            let twice = options.given.iter().any(|(earlier, ..)| *earlier == name);
            if twice || (text == "crate" && options.facade.is_some()) {
                return Err(Error::new(name.span(), format!("`{text}` is given twice")));
            }
            if !input.peek(Token![=]) {
                return Err(Error::new(name.span(), format!("write `{text} = value`")));
            }
            input.parse::<Token![=]>()?;
            if text == "crate" {
                options.facade = Some(input.call(Path::parse_mod_style)?);
            } else {
                let value = input.parse()?;
                check(setting, &value)?;
                options.given.push((name, setting, value));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

/// Sees that a literal is a value of the setting. Other expressions are left to the compiler and
/// to the run.
fn check(setting: &Setting, value: &Expr) -> syn::Result<()> {
    let (name, kind) = (setting.name, setting.kind);
    let Expr::Lit(ExprLit { lit, .. }) = value else { return Ok(()) };
    let wrong_kind = || {
        let message = format!("`{name}` takes {}, as in `{}`", kind.words(), kind.example(name));
        Error::new(lit.span(), message)
    };
    let text = match (kind, lit) {
        (Kind::Count { .. } | Kind::Bytes, Lit::Int(number)) => number.base10_digits().to_owned(),
        (Kind::Switch, Lit::Bool(switch)) => switch.value.to_string(),
        (Kind::Expression(_), _) => return Ok(()),
        (Kind::Count { .. } | Kind::Switch, _) => return Err(wrong_kind()),
        (_, Lit::Str(text)) => text.value(),
        _ => return Err(wrong_kind()),
    };
    setting.check(&text).map_err(|why| Error::new(lit.span(), why))
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

fn generate(function: ItemFn, options: Options) -> syn::Result<TokenStream> {
    let shape = shape_of(&function)?;
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let name = &sig.ident;
    let mut of_test = TokenStream::new();
    let mut of_program = TokenStream::new();
    let private = private(options.facade.as_ref());
    for (option, setting, value) in options.given {
        let call = quote_spanned!(value.span()=> .#option(#value));
        if setting.group != Group::Machines {
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
            #private::tasks::TaskProgram::new(
                stringify!(#name),
                || async { #private::Verdict::check(#name().await) },
            )
        },
        Shape::Machines => quote! {
            #private::machines::MachineProgram::new(stringify!(#name), |setup| #name(setup))
                #of_program
        },
        Shape::Program => quote!(#name()),
    };
    let test = quote! {
        #private::Test::new(
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
