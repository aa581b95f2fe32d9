//! Modules, tests and implementations.

use super::ast::{Decl, IntLiteral, LiteralValue, ModuleExpr, ModuleKind, Name, Test, TestParam};
use super::parser::{Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::error;
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn module_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the module")?;
        self.expect(Kind::Assign)?;
        let is = self.module()?;
        self.expect_semi("the declaration of a module")?;
        Ok(Decl::Module { name, is })
    }

    pub(super) fn test(&mut self) -> Parsed<Test> {
        let is_implementation = self.is(Kind::Implementation);
        let (name_of, ends) = match is_implementation {
            true => ("the name of the implementation", "the declaration of an implementation"),
            false => ("the name of the test", "the declaration of a test"),
        };
        self.bump();
        let (mut params, mut assume, mut wise) = (Vec::new(), None, None);
        if !is_implementation {
            params = if self.eat(Kind::Param) { self.test_params()? } else { Vec::new() };
            assume = if self.eat(Kind::Assume) { Some(self.expr()?) } else { None };
            wise = self.wise()?;
        }
        let name = self.name(name_of)?;
        let main = self.main_machine()?;
        self.expect(Kind::Colon)?;
        let module = self.module()?;
        let refines = match !is_implementation && self.eat(Kind::Refines) {
            true => Some(self.module()?),
            false => None,
        };
        self.expect_semi(ends)?;
        Ok(Test { name, is_implementation, params, assume, wise, main, module, refines })
    }

    /// `(x in [1, 2], b in [true])`
    fn test_params(&mut self) -> Parsed<Vec<TestParam>> {
        self.expect(Kind::ParenOpen)?;
        let params = self.several(|parser| {
            let name = parser.name("the name of a parameter")?;
            parser.expect(Kind::In)?;
            parser.expect(Kind::BracketOpen)?;
            let values = parser.several(Parser::literal)?;
            parser.expect(Kind::BracketClose)?;
            Ok((name, values))
        })?;
        self.expect(Kind::ParenClose)?;
        Ok(params)
    }

    fn literal(&mut self) -> Parsed<(LiteralValue, Span)> {
        match self.kind() {
            Kind::True | Kind::False => Ok((LiteralValue::Bool(self.is(Kind::True)), self.bump())),
            Kind::Int | Kind::Minus => {
                let int = self.int()?;
                Ok((LiteralValue::Int(int.value), int.span))
            }
            _ => Err(self.expected("a whole number, `true` or `false`")),
        }
    }

    /// `pairwise`, `(k wise)`, or nothing.
    fn wise(&mut self) -> Parsed<Option<IntLiteral>> {
        if self.is(Kind::Pairwise) {
            return Ok(Some(IntLiteral { value: 2, span: self.bump() }));
        }
        if !self.eat(Kind::ParenOpen) {
            return Ok(None);
        }
        let of = self.int()?;
        self.expect(Kind::Wise)?;
        self.expect(Kind::ParenClose)?;
        if of.value < 1 {
            self.remark(error(of.span, "combinations are of at least 1 parameter"));
        }
        Ok(Some(of))
    }

    /// `[main=M]`, or nothing.
    fn main_machine(&mut self) -> Parsed<Option<Name>> {
        if !self.eat(Kind::BracketOpen) {
            return Ok(None);
        }
        self.expect(Kind::Main)?;
        self.expect(Kind::Assign)?;
        let main = self.name("the name of a machine")?;
        self.expect(Kind::BracketClose)?;
        Ok(Some(main))
    }

    fn module(&mut self) -> Parsed<ModuleExpr> {
        self.deeper(Parser::module_here)
    }

    fn module_here(&mut self) -> Parsed<ModuleExpr> {
        let start = self.span();
        let kind = match self.kind() {
            Kind::ParenOpen => {
                self.bump();
                let inner = self.module()?;
                self.expect(Kind::ParenClose)?;
                return Ok(ModuleExpr { span: self.since(start), ..inner });
            }
            Kind::Name => ModuleKind::Named(self.name("a module")?.text),
            Kind::BraceOpen => self.binds()?,
            Kind::Compose => ModuleKind::Compose(self.several_modules()?),
            Kind::Union => ModuleKind::Union(self.several_modules()?),
            Kind::HideEvents => {
                self.bump();
                let events = self.events_of_set()?;
                ModuleKind::HideEvents(events, self.within()?)
            }
            Kind::HideInterfaces => {
                self.bump();
                let interfaces = self.names("the name of an interface")?;
                ModuleKind::HideInterfaces(interfaces, self.within()?)
            }
            Kind::Assert => {
                self.bump();
                let specs = self.names("the name of a spec")?;
                ModuleKind::Assert(specs, self.within()?)
            }
            Kind::Rename => {
                self.bump();
                let from = self.name("the name of an interface")?;
                self.expect(Kind::To)?;
                let to = self.name("the name of an interface")?;
                ModuleKind::Rename(from, to, self.within()?)
            }
            Kind::Main => {
                self.bump();
                let main = self.name("the name of a machine")?;
                ModuleKind::Main(main, self.within()?)
            }
            _ => return Err(self.expected("a module, such as `{ A, B }`")),
        };
        Ok(ModuleExpr { kind, span: self.since(start) })
    }

    /// `in m`
    fn within(&mut self) -> Parsed<Box<ModuleExpr>> {
        self.expect(Kind::In)?;
        Ok(Box::new(self.module()?))
    }

    fn binds(&mut self) -> Parsed<ModuleKind> {
        self.bump();
        let binds = self.up_to(Kind::BraceClose, |parser| {
            let machine = parser.name("the name of a machine")?;
            let interface = match parser.eat(Kind::Arrow) {
                true => Some(parser.name("the name of an interface")?),
                false => None,
            };
            Ok((machine, interface))
        })?;
        if binds.is_empty() {
            return Err(self.expected("the name of a machine"));
        }
        self.expect(Kind::BraceClose)?;
        Ok(ModuleKind::Bind(binds))
    }

    fn several_modules(&mut self) -> Parsed<Vec<ModuleExpr>> {
        let word = self.bump();
        let modules = self.several(Parser::module)?;
        if modules.len() == 1 {
            let text = self.text_at(word);
            self.remark(
                error(word, format!("`{text}` needs two modules or more"))
                    .hint("put commas between them"),
            );
        }
        Ok(modules)
    }
}
