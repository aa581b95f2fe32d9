//! Types.

use super::ast::{Name, Type, TypeKind};
use super::parser::{Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::Diagnostic;

impl Parser<'_> {
    /// A type.
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.deeper(Parser::ty_here)
    }

    fn ty_here(&mut self) -> Parsed<Type> {
        let start = self.span();
        let kind = match self.kind() {
            Kind::IntType => self.basic_type(TypeKind::Int),
            Kind::Float => self.basic_type(TypeKind::Float),
            Kind::Bool => self.basic_type(TypeKind::Bool),
            Kind::StringType => self.basic_type(TypeKind::String),
            Kind::Event => self.basic_type(TypeKind::Event),
            Kind::Machine => self.basic_type(TypeKind::Machine),
            Kind::Any => self.basic_type(TypeKind::Any),
            Kind::Data => self.basic_type(TypeKind::Data),
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
            _ => return Err(self.expected("a type")),
        };
        Ok(Type { kind, span: self.since(start) })
    }

    fn basic_type(&mut self, kind: TypeKind) -> TypeKind {
        self.bump();
        kind
    }

    /// `[T]`
    fn element_type(&mut self) -> Parsed<Type> {
        self.type_bracket()?;
        let element = self.ty()?;
        self.expect(Kind::BracketClose)?;
        Ok(element)
    }

    /// `map[K, V]`
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
            let complaint =
                self.unexpected("`[`").hint("write `seq[int]`, `set[int]` and `map[int, string]`");
            return Err(self.complain(complaint));
        }
        self.expect(Kind::BracketOpen)?;
        Ok(())
    }

    /// `(T, U)` or `(a: T, b: U)`
    fn tuple_type(&mut self) -> Parsed<TypeKind> {
        self.bump();
        if self.is(Kind::ParenClose) {
            let complaint = Diagnostic::error(self.span(), "a tuple has at least one field");
            return Err(self.complain(complaint));
        }
        if self.kind_after(1) == Kind::Colon {
            let mut fields = Vec::new();
            while !self.is(Kind::ParenClose) {
                fields.push(self.named_type("the name of a field")?);
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.expect(Kind::ParenClose)?;
            return Ok(TypeKind::NamedTuple(fields));
        }
        let mut fields = Vec::new();
        while !self.is(Kind::ParenClose) {
            fields.push(self.ty()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::ParenClose)?;
        Ok(TypeKind::Tuple(fields))
    }

    /// `name: T`
    pub(super) fn named_type(&mut self, what: &str) -> Parsed<(Name, Type)> {
        let name = self.name(what)?;
        self.colon_before_type()?;
        Ok((name, self.ty()?))
    }
}
