//! The parameters of a test: their values, the assumption about them, and the names of the tests
//! that are made.

use std::collections::BTreeMap;

use super::assume::holds;
use super::expr::Context;
use super::params::{TESTS, combinations};
use crate::diagnostic::Diagnostic;
use crate::program::{LiteralValue, ParamId, Type};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{Body, Names, Report};

/// One combination of values.
pub(crate) type Values = BTreeMap<ParamId, LiteralValue>;

impl<'a> Context<'_, 'a> {
    /// The combinations of values that a test is run with: one without values if it has no
    /// parameters.
    pub fn values(&self, test: &'a ast::Test, report: &mut Report) -> Option<Vec<Values>> {
        let mut params = Vec::new();
        let mut seen = Names::default();
        let mut fine = Some(());
        for (name, values) in &test.params {
            seen.declare(name, (), report);
            let Some(param) = self.tables.params.get(&name.text) else {
                let known = self.tables.params.names();
                self.tables.unknown(name.span, "parameter", &name.text, known, report);
                fine = None;
                continue;
            };
            fine = fine.and(self.values_fit(param, name, values, report));
            params.push((param, values));
        }
        let condition = test.assume.as_ref().map(|condition| {
            let mut body = Body::new(self.tables, report, None, Some(Type::Null));
            let condition = body.expr(condition)?;
            body.expect(&Type::Bool, &condition).map(|()| condition)
        });
        let condition = match condition {
            Some(None) => return None,
            Some(condition) => condition,
            None => None,
        };
        let wise = self.strength(test, report)?;
        fine?;
        let sizes: Vec<usize> = params.iter().map(|(_, values)| values.len()).collect();
        let chosen = |combination: &[usize]| -> Values {
            let pick = |(&at, (param, values)): (&usize, &(ParamId, &Vec<ast::Literal>))| {
                (*param, values[at].value)
            };
            combination.iter().zip(&params).map(pick).collect()
        };
        let found = combinations(&sizes, wise, |combination| match &condition {
            Some(condition) => {
                let values = chosen(combination);
                holds(condition, &|param| values.get(&param).copied())
            }
            None => Ok(true),
        });
        let problem = match found {
            Ok(Ok(found)) if !found.is_empty() => {
                return Some(found.iter().map(|combination| chosen(combination)).collect());
            }
            Ok(Ok(_)) => Diagnostic::error(
                test.name.span,
                format!(
                    "no combination of values satisfies the assumption of `{}`",
                    test.name.text
                ),
            )
            .label("would never run"),
            Ok(Err(_)) => Diagnostic::error(
                test.name.span,
                format!("`{}` has too many combinations of values", test.name.text),
            )
            .label(format!("at most {TESTS} tests can be made of one"))
            .hint("list fewer values, or cover pairs with `pairwise`"),
            Err(problem) => problem,
        };
        report.push(problem);
        None
    }

    /// Whether the values of a parameter have its type, each once.
    fn values_fit(
        &self,
        param: ParamId,
        name: &ast::Name,
        values: &[ast::Literal],
        report: &mut Report,
    ) -> Option<()> {
        let mut fine = Some(());
        if values.is_empty() {
            report.push(
                Diagnostic::error(name.span, format!("`{}` has no values", name.text))
                    .label("list at least one"),
            );
            fine = None;
        }
        let decl = &self.tables.param_list[param.index()];
        let mut seen: BTreeMap<LiteralValue, Span> = BTreeMap::new();
        for value in values {
            let ty = match value.value {
                LiteralValue::Int(_) => Type::Int,
                LiteralValue::Bool(_) => Type::Bool,
            };
            if let Some(want) = &decl.ty
                && *want != ty
            {
                let (want, found) = (self.tables.show(want), self.tables.show(&ty));
                report.push(
                    Diagnostic::error(
                        value.span,
                        format!("`{}` is `{want}`, not `{found}`", name.text),
                    )
                    .label(format!("this is `{found}`"))
                    .also(decl.name.span, "declared here"),
                );
                fine = None;
            }
            if let Some(first) = seen.insert(value.value, value.span) {
                report.push(
                    Diagnostic::error(
                        value.span,
                        format!("a value of `{}` is listed twice", name.text),
                    )
                    .label("listed again")
                    .also(first, "first listed here"),
                );
                fine = None;
            }
        }
        fine
    }

    /// The strength of the cover: at least one, and not more than there are parameters.
    fn strength(&self, test: &ast::Test, report: &mut Report) -> Option<Option<usize>> {
        let Some(wise) = test.wise else { return Some(None) };
        match usize::try_from(wise.value) {
            Ok(strength) if (1..=test.params.len()).contains(&strength) => Some(Some(strength)),
            _ => {
                report.push(
                    Diagnostic::error(
                        wise.span,
                        format!("{} parameters cannot be combined", wise.value),
                    )
                    .label(format!("the test has {}", test.params.len())),
                );
                None
            }
        }
    }

    /// The name of a test with its values: `tc___x_2__y_neg1`.
    pub fn name_with(&self, test: &ast::Test, values: &Values) -> String {
        let mut parts = Vec::new();
        for (name, _) in &test.params {
            let value = self.tables.params.get(&name.text).and_then(|param| values.get(&param));
            let value = match value {
                Some(LiteralValue::Int(value)) if *value < 0 => format!("neg{}", -value),
                Some(LiteralValue::Int(value)) => value.to_string(),
                Some(LiteralValue::Bool(value)) => value.to_string(),
                None => continue,
            };
            parts.push(format!("{}_{value}", name.text));
        }
        match parts.is_empty() {
            true => test.name.text.clone(),
            false => format!("{}___{}", test.name.text, parts.join("__")),
        }
    }
}
