//! The errors for values of the wrong type.

use triomphe::Arc;

use super::scope::Tables;
use crate::diagnostic::{Diagnostic, error};
use crate::program::{Expr, ExprKind, Type};
use crate::source::Span;

/// The error for a value of the wrong type. In a tuple that is written out it points to the wrong
/// element.
pub(crate) fn wrong_value(tables: &Tables<'_>, want: &Type, found: &Expr) -> Diagnostic {
    let parts: Option<Vec<&Type>> = match (want, &found.ty) {
        (Type::Tuple(want), Type::Tuple(_)) => Some(want.iter().collect()),
        (Type::NamedTuple(want), Type::NamedTuple(found))
            if want.iter().map(|(name, _)| name).eq(found.iter().map(|(name, _)| name)) =>
        {
            Some(want.iter().map(|(_, ty)| ty).collect())
        }
        _ => None,
    };
    if let (ExprKind::Tuple(values), Some(parts)) = (&found.kind, parts)
        && values.len() == parts.len()
    {
        let mut pairs = parts.into_iter().zip(values);
        let wrong = pairs.find(|(want, value)| !tables.assignable(want, &value.ty));
        if let Some((want, value)) = wrong {
            return wrong_value(tables, want, value);
        }
    }
    wrong_type(tables, want, &found.ty, found.span)
}

fn wrong_type(tables: &Tables<'_>, want: &Type, found: &Type, span: Span) -> Diagnostic {
    let (want_name, found_name) = (tables.show(want), tables.show(found));
    let wrong = if *found == Type::Null {
        error(span, format!("expected `{want_name}`, found no value"))
            .label(format!("`null` is not a value of `{want_name}`"))
    } else if *want == Type::Null {
        error(span, format!("expected nothing, found `{found_name}`"))
            .label("no value belongs here")
    } else {
        error(span, format!("expected `{want_name}`, found `{found_name}`"))
            .label(format!("this is `{found_name}`"))
    };
    match advice(tables, want, found) {
        Some(advice) => wrong.hint(advice),
        None => wrong,
    }
}

fn advice(tables: &Tables<'_>, want: &Type, found: &Type) -> Option<String> {
    let want_name = tables.show(want);
    Some(match (want, found) {
        (Type::String, _) => "make a text of it with `format(\"{0}\", ...)`".into(),
        (Type::Int, Type::Float | Type::Enum(_)) => "convert it with `to int`".into(),
        (Type::Float, Type::Int) => "convert it with `to float`, or write the point: `1.0`".into(),
        (Type::Enum(_), Type::Int) => format!("convert it with `to {want_name}`"),
        (Type::Interface(_) | Type::Permission(..), Type::Machine) => {
            format!("`as {want_name}` checks at run time that it is one")
        }
        (Type::Interface(_) | Type::Permission(..), Type::Null) => {
            format!("write `default({want_name})`, or give the variable the type `machine`")
        }
        (_, Type::Any | Type::Data) if tables.comparable(want, found) => {
            format!("`as {want_name}` checks at run time that it is one")
        }
        (Type::Tuple(of), found) if matches!(&**of, [only] if tables.assignable(only, found)) => {
            format!("`{want_name}` is a tuple of one field: write `(value,)`")
        }
        (want, Type::Tuple(of)) if matches!(&**of, [only] if tables.assignable(want, only)) => {
            "take the field of the tuple with `.0`".into()
        }
        (Type::NamedTuple(_), Type::Tuple(_)) => {
            "name the fields: `(field = value, ...)`".to_owned()
        }
        (Type::Tuple(_), Type::NamedTuple(_)) => "leave out the names of the fields".into(),
        (Type::NamedTuple(want), Type::NamedTuple(found)) => {
            let names = |fields: &[(Arc<str>, Type)]| -> Vec<_> {
                fields.iter().map(|(name, _)| name.clone()).collect()
            };
            let (mut expected, mut given) = (names(want), names(found));
            if expected == given {
                return None;
            }
            expected.sort();
            given.sort();
            if expected == given {
                "the fields must have the order of the type".into()
            } else {
                "the fields must have the names of the type".into()
            }
        }
        _ => return None,
    })
}
