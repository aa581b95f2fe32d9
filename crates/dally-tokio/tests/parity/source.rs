//! The modules of a crate as its sources have them: what is defined where, and what is imported.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use quote::quote;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, Token, UseTree, Visibility};

/// A module.
#[derive(Default)]
pub struct Module {
    /// Items by name; those of a name that is a module too are kept apart.
    pub items: Vec<Defined>,
    pub modules: Vec<(String, bool)>,
    pub uses: Vec<Import>,
}

/// An item that a module defines.
pub struct Defined {
    pub name: String,
    pub public: bool,
    pub item: Item,
}

/// A name that a module imports, or all names of another with `*`.
pub struct Import {
    pub path: Vec<String>,
    pub name: String,
    pub public: bool,
}

/// A crate: modules by their paths, and the methods of types.
#[derive(Default)]
pub struct Source {
    pub modules: BTreeMap<String, Module>,
    pub impls: Vec<(String, syn::ItemImpl)>,
    /// Macros of the crate itself by their names, and what they are called with where.
    pub macros: BTreeMap<String, String>,
    pub calls: Vec<(String, String, String)>,
}

impl Source {
    /// Reads a crate from its first file.
    pub fn read(file: &Path) -> Source {
        let mut source = Source::default();
        source.file(file, file.parent().expect("a file is in a directory"), "");
        source
    }

    fn file(&mut self, file: &Path, directory: &Path, path: &str) {
        let text = fs::read_to_string(file).unwrap_or_else(|why| panic!("{file:?}: {why}"));
        let parsed = syn::parse_file(&text).unwrap_or_else(|why| panic!("{file:?}: {why}"));
        self.modules.entry(path.to_owned()).or_default();
        if is_on(&parsed.attrs) {
            self.items(parsed.items, directory, path);
        }
    }

    fn items(&mut self, items: Vec<Item>, directory: &Path, path: &str) {
        for item in items {
            if is_on(attributes_of(&item)) {
                self.item(item, directory, path);
            }
        }
    }

    fn item(&mut self, item: Item, directory: &Path, path: &str) {
        match item {
            Item::Mod(module) => {
                let name = module.ident.to_string();
                let hidden = is_hidden(&module.attrs);
                let inner = join(path, &name);
                let below = directory.join(&name);
                match module.content {
                    Some((_, items)) => {
                        self.modules.entry(inner.clone()).or_default();
                        self.items(items, &below, &inner);
                    }
                    None => match file_of(directory, &name) {
                        Some(file) => self.file(&file, &below, &inner),
                        None => return,
                    },
                }
                let public = is_public(&module.vis) && !hidden;
                self.module(path).modules.push((name, public));
            }
            Item::Use(import) if !is_hidden(&import.attrs) => {
                let public = is_public(&import.vis);
                let mut found = Vec::new();
                names(&import.tree, &mut Vec::new(), &mut found);
                let imports = found.into_iter().map(|(path, name)| Import { path, name, public });
                self.module(path).uses.extend(imports);
            }
            Item::Impl(block) if block.trait_.is_none() => {
                self.impls.push((path.to_owned(), block));
            }
            Item::Macro(invocation) => self.invocation(invocation, directory, path),
            other => {
                if let Some((name, public)) = name_of(&other) {
                    let public = public && !is_hidden(attributes_of(&other));
                    self.module(path).items.push(Defined { name, public, item: other });
                }
            }
        }
    }

    /// `cfg_rt! { .. }` and the like hold items; a macro that is exported is one of the root.
    fn invocation(&mut self, invocation: syn::ItemMacro, directory: &Path, path: &str) {
        let called = invocation.mac.path.segments.last().map(|segment| segment.ident.to_string());
        let called = called.unwrap_or_default();
        if called == "macro_rules" {
            if let Some(name) = &invocation.ident {
                self.macros.insert(name.to_string(), invocation.mac.tokens.to_string());
            }
            let exported = invocation.attrs.iter().any(|it| it.path().is_ident("macro_export"));
            let public = exported && !is_hidden(&invocation.attrs);
            if let (Some(name), true) = (&invocation.ident, public) {
                let name = name.to_string();
                self.module("").items.push(Defined { name, public, item: Item::Macro(invocation) });
            }
            return;
        }
        let holds_items = (called.starts_with("cfg_") && is_macro_on(&called))
            || ["feature", "pin_project", "doc"].contains(&&*called);
        if holds_items && let Ok(file) = syn::parse2::<syn::File>(invocation.mac.tokens.clone()) {
            self.items(file.items, directory, path);
        } else {
            self.calls.push((path.to_owned(), called, invocation.mac.tokens.to_string()));
        }
    }

    /// The body of a macro, and of those that it calls.
    pub fn bodies(&self, called: &str) -> Vec<&str> {
        let mut names = vec![called.to_owned()];
        let mut bodies = Vec::new();
        while let Some(body) = names.get(bodies.len()).and_then(|name| self.macros.get(name)) {
            let tokens: Vec<&str> = body.split_whitespace().collect();
            for call in tokens.windows(2).filter(|pair| pair[1] == "!") {
                let known = self.macros.contains_key(call[0]);
                if known && !names.iter().any(|name| name == call[0]) {
                    names.push(call[0].to_owned());
                }
            }
            bodies.push(body.as_str());
        }
        bodies
    }

    fn module(&mut self, path: &str) -> &mut Module {
        self.modules.get_mut(path).expect("a module is made before what is in it")
    }
}

/// The items of an `impl`, with those inside of `cfg_*!`.
pub fn methods(block: &syn::ItemImpl) -> Vec<syn::ImplItemFn> {
    let mut found = Vec::new();
    for item in &block.items {
        match item {
            ImplItem::Fn(method) => {
                let seen = is_on(&method.attrs) && !is_hidden(&method.attrs);
                found.extend(Some(method.clone()).filter(|it| seen && is_public(&it.vis)));
            }
            ImplItem::Macro(invocation) => {
                let called = invocation.mac.path.segments.last().expect("a path has a name");
                let (called, tokens) = (called.ident.to_string(), &invocation.mac.tokens);
                if called.starts_with("cfg_") && is_macro_on(&called) {
                    let inner = syn::parse2::<syn::ItemImpl>(quote!(impl Inner { #tokens }));
                    found.extend(inner.iter().flat_map(methods));
                }
            }
            _ => {}
        }
    }
    found
}

/// The attributes of an item.
fn attributes_of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<(String, bool)> {
    let (name, visibility) = match item {
        Item::Const(it) => (&it.ident, &it.vis),
        Item::Enum(it) => (&it.ident, &it.vis),
        Item::Fn(it) => (&it.sig.ident, &it.vis),
        Item::Static(it) => (&it.ident, &it.vis),
        Item::Struct(it) => (&it.ident, &it.vis),
        Item::Trait(it) => (&it.ident, &it.vis),
        Item::Type(it) => (&it.ident, &it.vis),
        _ => return None,
    };
    Some((name.to_string(), is_public(visibility)))
}

pub fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

pub fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let words = attribute.meta.require_list().map(|list| list.tokens.to_string());
        attribute.path().is_ident("doc") && words.is_ok_and(|words| words == "hidden")
    })
}

/// Whether all `#[cfg(..)]` hold on Linux, with all features that are stable.
pub fn is_on(attributes: &[Attribute]) -> bool {
    let cfgs = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    cfgs.map(|attribute| attribute.parse_args::<Meta>()).all(|meta| meta.is_ok_and(|it| holds(&it)))
}

fn holds(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("unix"),
        Meta::NameValue(pair) => {
            let Expr::Lit(literal) = &pair.value else { return false };
            let Lit::Str(value) = &literal.lit else { return false };
            let value = value.value();
            let known = [
                ("target_os", "linux"),
                ("target_family", "unix"),
                ("target_has_atomic", "64"),
                ("target_pointer_width", "64"),
                ("panic", "unwind"),
            ];
            let unstable = ["taskdump", "io-uring", "tracing", "schedule-latency"];
            if pair.path.is_ident("feature") {
                return !unstable.contains(&&*value);
            }
            known.iter().any(|(name, known)| pair.path.is_ident(name) && *known == value)
        }
        Meta::List(list) => {
            let parts = Punctuated::<Meta, Token![,]>::parse_terminated;
            let parts = parts.parse2(list.tokens.clone()).unwrap_or_default();
            match list.path.get_ident().map(ToString::to_string).as_deref() {
                Some("not") => !parts.iter().any(holds),
                Some("any") => parts.iter().any(holds),
                Some("all") => parts.iter().all(holds),
                _ => false,
            }
        }
    }
}

/// Whether `cfg_*!` of this name keeps its items on Linux, with all features that are stable.
fn is_macro_on(name: &str) -> bool {
    const OFF: [&str; 8] =
        ["aio", "io_uring", "loom", "no_64bit", "taskdump", "trace", "unstable", "windows"];
    match name.strip_prefix("cfg_not_") {
        Some(rest) => OFF.iter().any(|off| rest.contains(off)) || rest.contains("wasi"),
        None => !OFF.iter().any(|off| name.contains(off)),
    }
}

/// The names that a `use` imports, with the paths that they come from; `*` for all.
fn names(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let with = |path: &[String], last: &dyn ToString| {
        let mut path = path.to_vec();
        path.push(last.to_string());
        path
    };
    match tree {
        UseTree::Path(below) => {
            path.push(below.ident.to_string());
            names(&below.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            let last = path.last().cloned().unwrap_or_default();
            found.push((path.clone(), last));
        }
        UseTree::Name(name) => found.push((with(path, &name.ident), name.ident.to_string())),
        UseTree::Rename(name) => found.push((with(path, &name.ident), name.rename.to_string())),
        UseTree::Glob(_) => found.push((path.clone(), "*".to_owned())),
        UseTree::Group(group) => group.items.iter().for_each(|item| names(item, path, found)),
    }
}

fn file_of(directory: &Path, name: &str) -> Option<PathBuf> {
    let places = [format!("{name}.rs"), format!("{name}/mod.rs")];
    places.iter().map(|place| directory.join(place)).find(|file| file.exists())
}

pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}
