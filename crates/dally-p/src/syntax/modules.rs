//! Modules, tests and implementations.

use super::ast::{Decl, IntLiteral, Literal, LiteralValue, ModuleExpr, ModuleKind, Name, Test};
use super::parser::{Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::Diagnostic;

impl Parser<'_> {
    /// `module m = ...;`
    pub(super) fn module_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the module")?;
        self.expect(Kind::Assign)?;
        let is = self.module()?;
        self.expect_semi("the declaration of a module")?;
        Ok(Decl::Module { name, is })
    }

    /// `implementation i [main=M]: ...;`
    pub(super) fn implementation_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the implementation")?;
        let main = self.main_machine()?;
        self.expect(Kind::Colon)?;
        let module = self.module()?;
        self.expect_semi("the declaration of an implementation")?;
        Ok(Decl::Implementation { name, main, module })
    }

    /// `test param (x in [1, 2]) assume e pairwise name [main=M]: ...;`
    pub(super) fn test_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let params = if self.eat(Kind::Param) { self.test_params()? } else { Vec::new() };
        let assume = if self.eat(Kind::Assume) { Some(self.expr()?) } else { None };
        let wise = self.wise()?;
        let name = self.name("the name of the test")?;
        let main = self.main_machine()?;
        self.expect(Kind::Colon)?;
        let module = self.module()?;
        let refines = if self.eat(Kind::Refines) { Some(self.module()?) } else { None };
        self.expect_semi("the declaration of a test")?;
        Ok(Decl::Test(Box::new(Test { name, params, assume, wise, main, module, refines })))
    }

    /// `(x in [1, 2], b in [true])`
    fn test_params(&mut self) -> Parsed<Vec<(Name, Vec<Literal>)>> {
        self.expect(Kind::ParenOpen)?;
        let mut params = Vec::new();
        loop {
            let name = self.name("the name of a parameter")?;
            self.expect(Kind::In)?;
            self.expect(Kind::BracketOpen)?;
            let mut values = vec![self.literal()?];
            while self.eat(Kind::Comma) {
                values.push(self.literal()?);
            }
            self.expect(Kind::BracketClose)?;
            params.push((name, values));
            if !self.eat(Kind::Comma) {
                self.expect(Kind::ParenClose)?;
                return Ok(params);
            }
        }
    }

    fn literal(&mut self) -> Parsed<Literal> {
        match self.kind() {
            Kind::True | Kind::False => {
                let value = LiteralValue::Bool(self.is(Kind::True));
                Ok(Literal { value, span: self.bump() })
            }
            Kind::Int | Kind::Minus => {
                let int = self.int()?;
                Ok(Literal { value: LiteralValue::Int(int.value), span: int.span })
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
            self.remark(Diagnostic::error(of.span, "combinations are of at least 1 parameter"));
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

    /// A module expression.
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

    /// `{ M, M -> I }`
    fn binds(&mut self) -> Parsed<ModuleKind> {
        self.bump();
        let mut binds = Vec::new();
        while !self.is(Kind::BraceClose) {
            let machine = self.name("the name of a machine")?;
            let interface = if self.eat(Kind::Arrow) {
                Some(self.name("the name of an interface")?)
            } else {
                None
            };
            binds.push((machine, interface));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if binds.is_empty() {
            return Err(self.expected("the name of a machine"));
        }
        self.expect(Kind::BraceClose)?;
        Ok(ModuleKind::Bind(binds))
    }

    fn several_modules(&mut self) -> Parsed<Vec<ModuleExpr>> {
        let word = self.bump();
        let mut modules = vec![self.module()?];
        while self.eat(Kind::Comma) {
            modules.push(self.module()?);
        }
        if modules.len() == 1 {
            let text = self.text_at(word);
            self.remark(
                Diagnostic::error(word, format!("`{text}` needs two modules or more"))
                    .hint("put commas between them"),
            );
        }
        Ok(modules)
    }
}
