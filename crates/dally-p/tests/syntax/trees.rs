//! How tight operators bind, and what literals mean.

use dally_p::program::Type;
use dally_p::syntax::ast::{
    BinaryOp, Decl, Expr, ExprKind, Handler, StateItem, StmtKind, TypeKind, UnaryOp,
};

/// The expression in `x = ...;`.
fn expr(text: &str) -> Expr {
    let source = format!("machine M {{ start state S {{ entry {{ x = {text}; }} }} }}");
    let mut file = super::parse(&source);
    let Some(Decl::Machine(machine)) = file.decls.pop() else { panic!("{file:?}") };
    let StateItem::Entry(Handler::Here(entry)) = &machine.states[0].items[0] else { panic!() };
    let statement = &entry.body.as_ref().unwrap().statements[0];
    let StmtKind::Change(_, _, values) = &statement.kind else { panic!("{statement:?}") };
    values[0].clone()
}

/// The expression with parentheses around all that has operators.
fn shape(expr: &Expr) -> String {
    let list = |exprs: &[Expr]| exprs.iter().map(shape).collect::<Vec<_>>().join(" ");
    match &expr.kind {
        ExprKind::Name(name) => name.clone(),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Str(text) => format!("{text:?}"),
        ExprKind::Field(of, name) => format!("{}.{}", shape(of), name.text),
        ExprKind::Position(of, at) => format!("{}.{}", shape(of), at.value),
        ExprKind::Index(of, at) => format!("{}[{}]", shape(of), shape(at)),
        ExprKind::Unary(UnaryOp::Negate, of) => format!("(-{})", shape(of)),
        ExprKind::Unary(UnaryOp::Not, of) => format!("(!{})", shape(of)),
        ExprKind::Cast(of, ty) => format!("({} as {})", shape(of), ty_shape(&ty.kind)),
        ExprKind::Coerce(of, ty) => format!("({} to {})", shape(of), ty_shape(&ty.kind)),
        ExprKind::Tuple(fields) => format!("tuple({})", list(fields)),
        ExprKind::NamedTuple(fields) => {
            let fields = fields.iter().map(|(name, of)| format!("{}={}", name.text, shape(of)));
            format!("named({})", fields.collect::<Vec<_>>().join(" "))
        }
        ExprKind::Call(name, args) => format!("{}({})", name.text, list(args)),
        ExprKind::Chain(first, links) => links.iter().fold(shape(first), |left, (op, right)| {
            let sign = match op {
                BinaryOp::Mul => "*",
                BinaryOp::Div => "/",
                BinaryOp::Rem => "%",
                BinaryOp::Add => "+",
                BinaryOp::Sub => "-",
                BinaryOp::Less => "<",
                BinaryOp::LessEqual => "<=",
                BinaryOp::Greater => ">",
                BinaryOp::GreaterEqual => ">=",
                BinaryOp::In => "in",
                BinaryOp::Equal => "==",
                BinaryOp::NotEqual => "!=",
                BinaryOp::And => "&&",
                BinaryOp::Or => "||",
            };
            format!("({left} {sign} {})", shape(right))
        }),
        other => format!("{other:?}"),
    }
}

fn ty_shape(ty: &TypeKind) -> String {
    match ty {
        TypeKind::Plain(Type::Int) => "int".into(),
        TypeKind::Plain(Type::Float) => "float".into(),
        TypeKind::Named(name) => name.clone(),
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_the_language_says() {
    for (text, expected) in [
        ("a + b * c", "(a + (b * c))"),
        ("a * b + c", "((a * b) + c)"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b % c * d", "(((a / b) % c) * d)"),
        ("-a * b", "((-a) * b)"),
        ("!a && b", "((!a) && b)"),
        ("!a == b", "((!a) == b)"),
        ("-a.b[c]", "(-a.b[c])"),
        ("a + b as int", "((a + b) as int)"),
        ("a as int + b", "((a as int) + b)"),
        ("a * b to float + c", "(((a * b) to float) + c)"),
        ("a as int as T", "((a as int) as T)"),
        ("a as int < b", "((a as int) < b)"),
        ("a < b as int", "(a < (b as int))"),
        ("a < b == c > d", "((a < b) == (c > d))"),
        ("a in s == b in t", "((a in s) == (b in t))"),
        ("a + 1 in s", "((a + 1) in s)"),
        ("a == b != c", "((a == b) != c)"),
        ("a && b || c && d", "((a && b) || (c && d))"),
        ("a || b && c == d", "(a || (b && (c == d)))"),
        ("a <= b >= c", "((a <= b) >= c)"),
        ("(a + b) * c", "((a + b) * c)"),
        ("- - a", "(-(-a))"),
    ] {
        assert_eq!(shape(&expr(text)), expected, "{text}");
    }
}

#[test]
fn a_point_is_a_fraction_after_digits_and_a_field_after_anything_else() {
    for (text, expected) in [
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("007", "7"),
        ("0.25 + .75", "(0.25 + 0.75)"),
        ("t.0", "t.0"),
        ("t.0.1", "t.0.1"),
        ("t.0 + .5", "(t.0 + 0.5)"),
        ("f(1).a.0[.5]", "f(1).a.0[0.5]"),
        ("123456789012345678901.5", "1.2345678901234568e20"),
    ] {
        assert_eq!(shape(&expr(text)), expected, "{text}");
    }
}

#[test]
fn whole_numbers_go_from_the_lowest_to_the_highest_of_32_bits() {
    assert_eq!(shape(&expr("2147483647")), "2147483647");
    assert_eq!(shape(&expr("-2147483647")), "(-2147483647)");
    assert_eq!(shape(&expr("-2147483648")), "-2147483648");
    assert_eq!(shape(&expr("1 - -2147483648")), "(1 - -2147483648)");
}

#[test]
fn parentheses_make_tuples_with_a_comma_and_named_ones_with_equals() {
    for (text, expected) in [
        ("(a)", "a"),
        ("(a,)", "tuple(a)"),
        ("(a, b)", "tuple(a b)"),
        ("(a, b,)", "tuple(a b)"),
        ("(x = a,)", "named(x=a)"),
        ("(x = a, y = b)", "named(x=a y=b)"),
        ("((x = a,), b)", "tuple(named(x=a) b)"),
        ("(x == a)", "(x == a)"),
        ("(x == a, b)", "tuple((x == a) b)"),
    ] {
        assert_eq!(shape(&expr(text)), expected, "{text}");
    }
}

#[test]
fn escapes_in_texts_are_resolved() {
    assert_eq!(shape(&expr(r#""a\n\t\r\0\"\\\'\u00e9""#)), r#""a\n\t\r\0\"\\'é""#);
    assert_eq!(
        shape(&expr("\"two\nlines // no comment /* either\"")),
        "\"two\\nlines // no comment /* either\""
    );
}

#[test]
fn a_tree_stands_where_its_text_stands() {
    let source = "machine M { start state S { entry { x = (a + b) * f(c); } } }";
    let mut sources = dally_p::source::Sources::default();
    let file = sources.add("a.p", source);
    let (tree, _) = dally_p::syntax::parse(&sources, file);
    let Decl::Machine(machine) = &tree.decls[0] else { panic!() };
    let StateItem::Entry(Handler::Here(entry)) = &machine.states[0].items[0] else { panic!() };
    let body = entry.body.as_ref().unwrap();
    assert_eq!(sources.text(body.span), "{ x = (a + b) * f(c); }");
    assert_eq!(sources.text(body.statements[0].span), "x = (a + b) * f(c);");
    let StmtKind::Change(_, place, values) = &body.statements[0].kind else { panic!() };
    assert_eq!(sources.text(place.span), "x");
    let value = &values[0];
    assert_eq!(sources.text(value.span), "(a + b) * f(c)");
    let ExprKind::Chain(first, links) = &value.kind else { panic!() };
    assert_eq!(sources.text(first.span), "(a + b)");
    assert_eq!(sources.text(links[0].1.span), "f(c)");
}
