//! A Rust crate for the foreign functions of a project: signatures and tests are written, bodies are
//! left to its author.

use std::fmt::Write;

use crate::lower::written;
use crate::open::Project;
use crate::program::{Fun, FunId, Program, Type};

/// The files of the crate, as (path, text). `project` is the path of the project as seen from the crate,
/// and `dally` what its manifest says of the dependency, such as `version = "0.1"`.
pub fn files(opened: &Project, name: &str, project: &str, dally: &str) -> Vec<(String, String)> {
    vec![
        ("Cargo.toml".into(), manifest(name, dally)),
        ("src/lib.rs".into(), library(opened)),
        ("tests/model.rs".into(), tests(opened, &name.replace('-', "_"), project)),
    ]
}

fn manifest(name: &str, dally: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\ndally = {{ {dally}, features = [\"p\"] }}\n\n\
         # A workspace of its own, wherever it is put.\n[workspace]\n"
    )
}

fn library(project: &Project) -> String {
    let program = &project.program;
    let mut out = String::from(
        "//! The foreign functions of the model. Each depends on its arguments alone and keeps nothing \
         between calls,\n//! or schedules cannot be replayed.\n\nuse dally::p::vm::{Answer, Foreign, Value};\n",
    );
    let funs: Vec<(FunId, &Fun)> =
        (0..).map(FunId).zip(&program.funs).filter(|(_, fun)| fun.body.is_none()).collect();
    out += "\n/// All foreign functions of the model.\npub fn foreign() -> Foreign {\n    Foreign::default()\n";
    for &(id, _) in &funs {
        let name = program.name_of(id);
        let _ = writeln!(out, "        .fun(\"{name}\", {})", snake(&name));
    }
    out += "}\n";
    for (id, fun) in funs {
        out += &function(program, &program.name_of(id), fun);
    }
    for ty in &program.foreign_types {
        let _ = write!(
            out,
            "\n/// `type {ty};`: make a value with `Value::foreign({ty} {{}})`, read it with \
             `value.as_foreign::<{ty}>()`.\n#[derive(Clone, PartialEq, Eq, Hash, Debug)]\npub struct {ty} {{}}\n"
        );
    }
    out
}

fn function(program: &Program, name: &str, fun: &Fun) -> String {
    let params = &fun.locals[..fun.params.min(fun.locals.len())];
    let signature: Vec<String> = (params.iter())
        .map(|param| format!("{}: {}", param.name, written(&param.ty, program)))
        .collect();
    let returns =
        fun.returns.as_ref().map_or(String::new(), |ty| format!(": {}", written(ty, program)));
    let patterns: Vec<String> =
        params.iter().map(|param| pattern(&param.ty, &snake(&param.name))).collect();
    let answer = fun.returns.as_ref().map_or("Value::Null".into(), |ty| value(program, ty));
    let unused: String = params
        .iter()
        .map(|param| format!("            let _ = {};\n", snake(&param.name)))
        .collect();
    format!(
        "\n/// `fun {name}({}){returns};`\nfn {}(values: &[Value]) -> Answer {{\n    match values {{\n        \
         [{}] => {{\n{unused}            // Such as: Ok({answer})\n            \
         Err(\"write it in src/lib.rs\".into())\n        }}\n        \
         _ => Err(\"it was given other arguments than it takes\".into()),\n    }}\n}}\n",
        signature.join(", "),
        snake(name),
        patterns.join(", "),
    )
}

fn pattern(ty: &Type, name: &str) -> String {
    match ty {
        Type::Int | Type::Enum(_) => format!("Value::Int({name})"),
        Type::Float => format!("Value::Float({name})"),
        Type::Bool => format!("Value::Bool({name})"),
        Type::String => format!("Value::Str({name})"),
        Type::Seq(_) => format!("Value::Seq({name})"),
        Type::Set(_) => format!("Value::Set({name})"),
        Type::Map(..) => format!("Value::Map({name})"),
        Type::Tuple(_) | Type::NamedTuple(_) => format!("Value::Tuple({name})"),
        _ => name.to_owned(),
    }
}

/// An expression of Rust that makes a value of this type.
fn value(program: &Program, ty: &Type) -> String {
    let plain = match ty {
        Type::Foreign(id) => {
            return format!("Value::foreign({} {{}})", program.foreign_types[id.index()]);
        }
        Type::Int | Type::Enum(_) => "Value::Int(0)",
        Type::Float => "Value::Float(0.0)",
        Type::Bool => "Value::Bool(false)",
        Type::String => "Value::text(\"\")",
        Type::Seq(_) => "Value::seq([])",
        _ => "Value::Null",
    };
    plain.into()
}

fn tests(project: &Project, library: &str, path: &str) -> String {
    let mut out = format!(
        "//! The tests of the model, run by `cargo test`.\n\nuse dally::p::Project;\nuse \
         dally::p::vm::PProgram;\n\nfn test(name: &str) -> PProgram {{\n    let path = \
         concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?});\n    \
         Project::open(path).unwrap().test(name, {library}::foreign()).unwrap()\n}}\n",
        format!("/{path}")
    );
    for test in project.tests() {
        let _ = write!(
            out,
            "\n#[dally::test]\nfn {}() -> PProgram {{\n    test(\"{test}\")\n}}\n",
            snake(test)
        );
    }
    out
}

/// A name in the manner of Rust: `Main.PickOne` as `main_pick_one`. Two names may come out the same
/// only if they differ in letter case or underscores alone; the compiler tells then.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut before = '_';
    for letter in name.chars() {
        if letter.is_uppercase() && before != '_' && !before.is_uppercase() {
            out.push('_');
        }
        let plain = letter.is_ascii_alphanumeric();
        before = if plain { letter } else { '_' };
        if plain || !out.ends_with('_') {
            out.push(before.to_ascii_lowercase());
        }
    }
    const RESERVED: [&str; 14] = [
        "fn", "let", "match", "mod", "move", "ref", "self", "type", "use", "where", "loop", "impl",
        "pub", "values",
    ];
    match RESERVED.contains(&out.as_str()) || out.starts_with(|first: char| first.is_ascii_digit())
    {
        true => format!("{out}_"),
        false => out,
    }
}
