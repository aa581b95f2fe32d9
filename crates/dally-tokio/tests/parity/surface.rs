//! The public items of a crate, under the paths that its users name them by.

use std::collections::{BTreeMap, BTreeSet};

use syn::{Item, Type};

use crate::source::{Source, join, methods};

/// Crates by the names that sources import them by.
pub struct Crates {
    pub named: BTreeMap<&'static str, Source>,
}

/// A module or an item, by its crate, the module that it is in, and its name.
#[derive(Clone)]
enum Found {
    Module(&'static str, String),
    Item(&'static str, String, String),
    /// Of a crate that is not read.
    Elsewhere,
}

impl Crates {
    /// The public items of a crate: modules, items, variants of enums and methods.
    pub fn surface(&self, krate: &'static str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.list(krate, "", "", &mut found, 0);
        found
    }

    fn list(
        &self,
        krate: &'static str,
        module: &str,
        public: &str,
        found: &mut BTreeSet<String>,
        depth: usize,
    ) {
        let Some(of) = self.named[krate].modules.get(module).filter(|_| depth < 8) else { return };
        for (name, _) in of.modules.iter().filter(|(_, public)| *public) {
            found.insert(join(public, name));
            self.list(krate, &join(module, name), &join(public, name), found, depth + 1);
        }
        for item in of.items.iter().filter(|item| item.public) {
            self.item(krate, module, &item.name, &join(public, &item.name), found);
        }
        for import in of.uses.iter().filter(|import| import.public) {
            match (self.resolve(krate, module, &import.path, 0), import.name.as_str()) {
                (Some(Found::Module(krate, inner)), "*") => {
                    self.list(krate, &inner, public, found, depth + 1);
                }
                (Some(Found::Module(krate, inner)), name) => {
                    found.insert(join(public, name));
                    self.list(krate, &inner, &join(public, name), found, depth + 1);
                }
                (Some(Found::Item(krate, inner, item)), name) => {
                    self.item(krate, &inner, &item, &join(public, name), found);
                }
                (Some(Found::Elsewhere) | None, name) => {
                    found.insert(join(public, name));
                }
            }
        }
    }

    /// An item with its variants and methods.
    fn item(
        &self,
        krate: &'static str,
        module: &str,
        name: &str,
        public: &str,
        found: &mut BTreeSet<String>,
    ) {
        let source = &self.named[krate];
        found.insert(public.to_owned());
        let defined = source.modules[module].items.iter().find(|item| item.name == name);
        if let Some(Item::Enum(of)) = defined.map(|defined| &defined.item) {
            found
                .extend(of.variants.iter().map(|variant| join(public, &variant.ident.to_string())));
        }
        // Another name has the methods of the type that it stands for.
        if let Some(Item::Type(alias)) = defined.map(|defined| &defined.item)
            && let Type::Path(path) = &*alias.ty
        {
            let path: Vec<String> =
                path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            if let Some(Found::Item(krate, inner, item)) = self.resolve(krate, module, &path, 0)
                && item != name
            {
                self.item(krate, &inner, &item, public, found);
            }
        }
        for (place, block) in &source.impls {
            if self.is_of(krate, place, &block.self_ty, module, name) {
                let own = methods(block).into_iter().map(|method| method.sig.ident.to_string());
                found.extend(own.map(|method| join(public, &method)));
            }
        }
        let made = source.calls.iter().filter(|(place, ..)| place == module);
        for (_, called, with) in made {
            let named = |text: &str| words(text).any(|word| word == name);
            let given: Vec<&str> = words(with).collect();
            for body in source.bodies(called).into_iter().filter(|body| named(with) || named(body))
            {
                let made = made_by(body, &given);
                found.extend(made.into_iter().map(|method| join(public, &method)));
                let path = alias_in(body, name);
                if let Some(Found::Item(krate, inner, item)) = self.resolve(krate, module, &path, 0)
                    && inner != module
                {
                    self.item(krate, &inner, &item, public, found);
                }
            }
        }
    }

    /// Whether an `impl` in this module is of this type.
    fn is_of(
        &self,
        krate: &'static str,
        place: &str,
        self_type: &Type,
        module: &str,
        name: &str,
    ) -> bool {
        let Type::Path(path) = self_type else { return false };
        let path: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if path.last().map(String::as_str) != Some(name) {
            return false;
        }
        match self.resolve(krate, place, &path, 0) {
            Some(Found::Item(of, inner, item)) => of == krate && inner == module && item == name,
            _ => false,
        }
    }

    /// What a path means in a module.
    fn resolve(
        &self,
        krate: &'static str,
        module: &str,
        path: &[String],
        depth: usize,
    ) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let parent = |module: &str| module.rsplit_once("::").map_or("", |(up, _)| up).to_owned();
        let mut at = match first.as_str() {
            "crate" => Found::Module(krate, String::new()),
            "self" => Found::Module(krate, module.to_owned()),
            "super" => Found::Module(krate, parent(module)),
            name => match self.name(krate, module, name, depth) {
                Some(found) => found,
                None => match self.named.keys().find(|known| **known == name) {
                    Some(known) => Found::Module(known, String::new()),
                    None => return Some(Found::Elsewhere),
                },
            },
        };
        for name in rest {
            at = match at {
                Found::Module(krate, module) if name == "super" => {
                    Found::Module(krate, parent(&module))
                }
                Found::Module(krate, module) => self.name(krate, &module, name, depth)?,
                other => return Some(other),
            };
        }
        Some(at)
    }

    /// What a name means in a module.
    fn name(&self, krate: &'static str, module: &str, name: &str, depth: usize) -> Option<Found> {
        let of = self.named[krate].modules.get(module).filter(|_| depth < 16)?;
        if of.items.iter().any(|item| item.name == name) {
            return Some(Found::Item(krate, module.to_owned(), name.to_owned()));
        }
        let named = of.uses.iter().filter(|import| import.name == name);
        let found = named
            .filter(|import| import.path != [name])
            .find_map(|import| self.resolve(krate, module, &import.path, depth + 1));
        if found.is_some() {
            return found;
        }
        // A name that is imported and that of a private module can be the same.
        if of.modules.iter().any(|(inner, _)| inner == name) {
            return Some(Found::Module(krate, join(module, name)));
        }
        let source = &self.named[krate];
        let mut calls = source.calls.iter().filter(|(place, ..)| place == module);
        let makes = |body: &str| format!(" {body} ").contains(&format!(" type {name} "));
        if calls.any(|(_, called, with)| {
            words(with).any(|word| word == name) || source.bodies(called).into_iter().any(makes)
        }) {
            return Some(Found::Item(krate, module.to_owned(), name.to_owned()));
        }
        of.uses.iter().filter(|import| import.name == "*").find_map(|import| {
            match self.resolve(krate, module, &import.path, depth + 1)? {
                Found::Module(krate, inner) => self.name(krate, &inner, name, depth + 1),
                _ => None,
            }
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

/// The names of public functions in the body of a macro; where the name is one that the macro is called with,
/// all of those.
fn made_by(body: &str, given: &[&str]) -> Vec<String> {
    let mut made = Vec::new();
    let tokens: Vec<&str> = body.split_whitespace().collect();
    for place in (0..tokens.len()).filter(|place| tokens[*place] == "pub") {
        let after = tokens[place + 1..].iter().take(4).position(|token| *token == "fn");
        let Some(name) = after.and_then(|after| tokens.get(place + after + 2)) else { continue };
        match *name {
            "$" => made.extend(given.iter().map(|name| (*name).to_owned())),
            name if name.starts_with('$') => {
                made.extend(given.iter().map(|name| (*name).to_owned()))
            }
            name => made.push(words(name).next().unwrap_or_default().to_owned()),
        }
    }
    made
}

/// The path that `type NAME .. = path<..>;` in the body of a macro stands for.
fn alias_in(body: &str, name: &str) -> Vec<String> {
    let tokens: Vec<&str> = body.split_whitespace().collect();
    let alias =
        tokens.windows(2).position(|pair| pair[0] == "type" && words(pair[1]).any(|it| it == name));
    let after = alias.and_then(|alias| {
        tokens[alias..].iter().position(|token| *token == "=").map(|at| alias + at + 1)
    });
    let Some(after) = after else { return Vec::new() };
    let path = tokens[after..].join("");
    let path = path.split(['<', ';']).next().unwrap_or_default().replace("$crate", "crate");
    path.split("::").map(str::to_owned).collect()
}
