use super::ast::{Name, Type, TypeKind};
use super::parser::{Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::error;
use crate::program;

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.deeper(Parser::ty_here)
    }

    fn ty_here(&mut self) -> Parsed<Type> {
        let start = self.span();
        let kind = match self.kind() {
            Kind::Name => TypeKind::Named(self.name("a type")?.text),
            Kind::Seq => {
                self.bump();
                TypeKind::Seq(Box::new(self.element_type()?))
            }
            Kind::Set => {
                self.bump();
                TypeKind::Set(Box::new(self.element_type()?))
            }
            Kind::Map => self.map_type()?,
            Kind::ParenOpen => self.tuple_type()?,
            kind => match plain(kind) {
                Some(plain) => {
                    self.bump();
                    TypeKind::Plain(plain)
                }
                None => return Err(self.expected("a type")),
            },
        };
        Ok(Type { kind, span: self.since(start) })
    }

    /// `[T]`
    fn element_type(&mut self) -> Parsed<Type> {
        self.type_bracket()?;
        let element = self.ty()?;
        self.expect(Kind::BracketClose)?;
        Ok(element)
    }

    fn map_type(&mut self) -> Parsed<TypeKind> {
        self.bump();
        self.type_bracket()?;
        let key = self.ty()?;
        self.expect(Kind::Comma)?;
        let value = self.ty()?;
        self.expect(Kind::BracketClose)?;
        Ok(TypeKind::Map(Box::new(key), Box::new(value)))
    }

    fn type_bracket(&mut self) -> Parsed<()> {
        if matches!(self.kind(), Kind::Less | Kind::ParenOpen) {
            return Err(
                self.instead_of("`[`", "write `seq[int]`, `set[int]` and `map[int, string]`")
            );
        }
        self.expect(Kind::BracketOpen)?;
        Ok(())
    }

    /// `(T, U)` or `(a: T, b: U)`
    fn tuple_type(&mut self) -> Parsed<TypeKind> {
        self.bump();
        if self.is(Kind::ParenClose) {
            return Err(self.complain(error(self.span(), "a tuple has at least one field")));
        }
        let fields = if self.kind_after(1) == Kind::Colon {
            let named = |parser: &mut Parser<'_>| parser.named_type("the name of a field");
            TypeKind::NamedTuple(self.up_to(Kind::ParenClose, named)?)
        } else {
            TypeKind::Tuple(self.up_to(Kind::ParenClose, Parser::ty)?)
        };
        self.expect(Kind::ParenClose)?;
        Ok(fields)
    }

    pub(super) fn named_type(&mut self, what: &str) -> Parsed<(Name, Type)> {
        let name = self.name(what)?;
        self.colon_before_type()?;
        Ok((name, self.ty()?))
    }
}

fn plain(kind: Kind) -> Option<program::Type> {
    Some(match kind {
        Kind::IntType => program::Type::Int,
        Kind::Float => program::Type::Float,
        Kind::Bool => program::Type::Bool,
        Kind::StringType => program::Type::String,
        Kind::Event => program::Type::Event,
        Kind::Machine => program::Type::Machine,
        Kind::Any => program::Type::Any,
        Kind::Data => program::Type::Data,
        _ => return None,
    })
}
