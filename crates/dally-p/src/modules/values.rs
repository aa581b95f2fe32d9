//! The parameters of a test: values, assumption, and the names of the generated tests.

use std::collections::BTreeMap;

use super::assume::holds;
use super::expr::Context;
use super::params::{TESTS, combinations, select};
use crate::diagnostic::error;
use crate::program::{LiteralValue, ParamId, Type};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{Body, Names};

pub(crate) type Values = BTreeMap<ParamId, LiteralValue>;

impl<'a> Context<'_, 'a> {
    /// The combinations of values that a test is run with; one empty combination without parameters.
    pub fn values(&self, test: &'a ast::Test) -> Option<Vec<Values>> {
        let mut params = Vec::new();
        let mut seen = Names::default();
        let mut fine = Some(());
        for (name, values) in &test.params {
            seen.declare(name, (), &self.tables.report);
            let Some(param) = self.tables.params.get(&name.text) else {
                let known = self.tables.params.names();
                self.tables.unknown(name.span, "parameter", &name.text, known);
                fine = None;
                continue;
            };
            fine = fine.and(self.values_fit(param, name, values));
            params.push((param, values));
        }
        let condition = test.assume.as_ref().map(|condition| {
            let mut body = Body::new(self.tables, None, Some(Type::Null));
            let condition = body.expr(condition)?;
            body.expect(&Type::Bool, &condition).map(|()| condition)
        });
        let condition = match condition {
            Some(None) => return None,
            Some(condition) => condition,
            None => None,
        };
        let wise = self.strength(test)?;
        fine?;
        let sizes: Vec<usize> = params.iter().map(|(_, values)| values.len()).collect();
        let chosen = |combination: &[usize]| -> Values {
            let chosen = combination.iter().zip(&params);
            chosen.map(|(&at, &(param, values))| (param, values[at].0)).collect()
        };
        let holds = |combination: &Vec<usize>| match &condition {
            Some(condition) => holds(condition, &chosen(combination)),
            None => Ok(true),
        };
        let allowed = combinations(&sizes).map(|all| {
            let all = all.map(|it| holds(&it).map(|holds| holds.then_some(it)));
            all.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()
        });
        let problem = match allowed.transpose() {
            Ok(allowed) => match allowed.and_then(|allowed| select(&sizes, wise, allowed)) {
                Some(found) if !found.is_empty() => {
                    return Some(found.iter().map(|combination| chosen(combination)).collect());
                }
                Some(_) => {
                    let name = &test.name;
                    let message =
                        format!("no combination of values satisfies the assumption of `{name}`");
                    error(name.span, message).label("would never run")
                }
                None => {
                    let message = format!("`{}` has too many combinations of values", test.name);
                    error(test.name.span, message)
                        .label(format!("at most {TESTS} tests can be made of one"))
                        .hint("list fewer values, or cover pairs with `pairwise`")
                }
            },
            Err(problem) => problem,
        };
        self.tables.report.refuse(problem)
    }

    /// Checks that the values of a parameter have its type and are distinct.
    fn values_fit(
        &self,
        param: ParamId,
        name: &ast::Name,
        values: &[(LiteralValue, Span)],
    ) -> Option<()> {
        let mut fine = Some(());
        if values.is_empty() {
            self.tables.report.push(
                error(name.span, format!("`{name}` has no values")).label("list at least one"),
            );
            fine = None;
        }
        let decl = &self.tables.param_list[param.index()];
        let mut seen: BTreeMap<LiteralValue, Span> = BTreeMap::new();
        for &(value, span) in values {
            let ty = match value {
                LiteralValue::Int(_) => Type::Int,
                LiteralValue::Bool(_) => Type::Bool,
            };
            if let Some(want) = &decl.ty
                && *want != ty
            {
                let (want, found) = (self.tables.show(want), self.tables.show(&ty));
                self.tables.report.push(
                    error(span, format!("`{name}` is `{want}`, not `{found}`"))
                        .label(format!("this is `{found}`"))
                        .also(decl.name.span, "declared here"),
                );
                fine = None;
            }
            if let Some(first) = seen.insert(value, span) {
                self.tables.report.push(
                    error(span, format!("a value of `{name}` is listed twice"))
                        .label("listed again")
                        .also(first, "first listed here"),
                );
                fine = None;
            }
        }
        fine
    }

    /// The strength of the cover: from one to the number of parameters.
    fn strength(&self, test: &ast::Test) -> Option<Option<usize>> {
        let Some(wise) = test.wise else { return Some(None) };
        match usize::try_from(wise.value) {
            Ok(strength) if (1..=test.params.len()).contains(&strength) => Some(Some(strength)),
            _ => self.tables.report.refuse(
                error(wise.span, format!("{} parameters cannot be combined", wise.value))
                    .label(format!("the test has {}", test.params.len())),
            ),
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
            parts.push(format!("{name}_{value}"));
        }
        match parts.is_empty() {
            true => test.name.text.clone(),
            false => format!("{}___{}", test.name.text, parts.join("__")),
        }
    }
}
