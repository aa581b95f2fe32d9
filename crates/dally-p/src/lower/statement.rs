use super::code::{ReceiveCode, Step};
use super::function::{Around, Function};
use super::inst::{Dst, Inst, Kind, Src};
use super::{Lowered, fits, intern};
use crate::program::{
    Case, Change, EventId, Expr, ExprKind, Place, Projection, Root, Stmt, StmtKind, UnaryOp,
};
use crate::source::Span;
use crate::vm::Value;

impl<'p> Function<'_, 'p> {
    pub(super) fn statements(&mut self, statements: &'p [Stmt]) -> Lowered<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'p Stmt) -> Lowered<()> {
        self.span = statement.span;
        if let StmtKind::Block(inner) = &statement.kind {
            return self.statements(inner);
        }
        self.reach(statement.span);
        let before = self.top;
        self.lower_statement(statement)?;
        self.top = before;
        Ok(())
    }

    /// Adds a statement to the current coverage block, or begins one after a branch.
    fn reach(&mut self, span: Span) {
        self.span = span;
        let block = match self.block {
            Some(block) => block,
            None => {
                let block = self.lower.block();
                self.emit(Inst::Mark(block));
                *self.block.insert(block)
            }
        };
        self.lower.covers(block, span);
    }

    fn lower_statement(&mut self, statement: &'p Stmt) -> Lowered<()> {
        let span = statement.span;
        let before = self.top;
        let inst = match &statement.kind {
            StmtKind::Block(inner) => return self.statements(inner),
            StmtKind::Assert(condition, message) => {
                let holds = self.jump_unless(condition, false)?;
                let message = self.optional(message.as_ref())?;
                self.span = span;
                self.emit_at(before, Inst::Fail(message));
                holds.into_iter().for_each(|jump| self.land(jump));
                return Ok(());
            }
            StmtKind::Print(text) => match text.kind {
                ExprKind::Format(_) => Inst::Print(Src::new(Kind::Temp, self.unwritten(text)?)),
                _ => Inst::Print(self.operand(text)?),
            },
            StmtKind::Return(None) => Inst::ReturnNothing,
            StmtKind::Return(Some(value)) => Inst::Return(self.operand(value)?),
            StmtKind::Break => {
                let jump = self.emit(Inst::Jump(0));
                if let Some(around) = self.loops.last_mut() {
                    around.breaks.push(jump);
                }
                self.block = None;
                return Ok(());
            }
            StmtKind::Continue => {
                if let Some(around) = self.loops.last() {
                    let again = around.again;
                    self.emit(Inst::Loop(again));
                }
                self.block = None;
                return Ok(());
            }
            StmtKind::Change(Change::Store, place, values) if place.path.is_empty() => {
                return self.expression(&values[0], root(place));
            }
            StmtKind::Change(change, place, values) => {
                let (path, first) = self.place(place, values)?;
                Inst::Change(*change, root(place), path, first)
            }
            StmtKind::While(condition, body) => {
                let again = self.here();
                self.span = condition.span;
                let over = self.jump_unless(condition, true)?;
                self.around(again, body)?;
                over.into_iter().for_each(|jump| self.land(jump));
                self.end_loop();
                return Ok(());
            }
            StmtKind::Foreach(place, collection, body) => {
                // The registers of a copy of the collection, and of the position in it.
                let first = match &collection.kind {
                    // The keys of a map need no copy of their own, but a state must not differ by the
                    // values of the map if nothing reads them.
                    ExprKind::Unary(UnaryOp::Keys, map)
                        if !self
                            .lower
                            .behaviour
                            .statements_suspend(std::slice::from_ref(&**body)) =>
                    {
                        self.in_temp(map)?
                    }
                    _ => self.in_temp(collection)?,
                };
                let position = self.temp();
                let zero = self.constant(Value::Int(0));
                self.span = span;
                self.emit(Inst::Move(Dst::register(position), zero));
                let again = self.here();
                let over = self.emit(Inst::Next(root(place), first as u16, 0));
                self.around(again, body)?;
                self.top = before;
                // After a `break` the copy is still in its register.
                let breaks = self.loops.last().is_some_and(|around| !around.breaks.is_empty());
                self.end_loop();
                if breaks {
                    let nothing = self.constant(Value::Null);
                    self.emit(Inst::Move(Dst::register(first), nothing));
                }
                self.land(over);
                return Ok(());
            }
            StmtKind::If(arms, otherwise) => {
                let mut ends = Vec::new();
                for (at, arm) in arms.iter().enumerate() {
                    if at > 0 {
                        self.reach(arm.span);
                    }
                    let not = self.jump_unless(&arm.condition, true)?;
                    self.block = None;
                    self.statement(&arm.then)?;
                    if at + 1 < arms.len() || otherwise.is_some() {
                        ends.push(self.emit(Inst::Jump(0)));
                    }
                    not.into_iter().for_each(|jump| self.land(jump));
                    self.block = None;
                }
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise)?;
                }
                ends.into_iter().for_each(|jump| self.land(jump));
                self.block = None;
                return Ok(());
            }
            StmtKind::Effect(expr) => {
                let nowhere = self.temp();
                self.top = before;
                return self.expression(expr, Dst::register(nowhere));
            }
            StmtKind::Raise(event, payload) => {
                let (event, payload) = self.carried(event, payload.as_ref(), span)?;
                Inst::Raise(event, payload)
            }
            StmtKind::Send(to, event, payload) => {
                // Most events are constants, whose evaluation cannot change the target.
                let named = matches!(event.kind, ExprKind::Event(_));
                let later = if named { payload.as_ref() } else { Some(event) };
                let to = self.kept(to, later)?;
                let (event, payload) = self.carried(event, payload.as_ref(), span)?;
                Inst::Send(to, event, payload)
            }
            StmtKind::Announce(event, payload) => {
                let (event, payload) = self.carried(event, payload.as_ref(), span)?;
                Inst::Announce(event, payload)
            }
            StmtKind::Goto(state, payload) => {
                Inst::Goto(state.0 as u16, self.optional(payload.as_ref())?)
            }
            StmtKind::Receive(cases) => return self.receive(statement, cases),
        };
        self.span = span;
        self.emit_at(before, inst);
        if matches!(inst, Inst::Return(_) | Inst::ReturnNothing | Inst::Raise(..) | Inst::Goto(..))
        {
            self.block = None;
        }
        Ok(())
    }

    /// An operand that keeps its value while `later` is evaluated.
    fn kept(&mut self, expr: &'p Expr, later: Option<&'p Expr>) -> Lowered<Src> {
        let src = self.operand(expr)?;
        if later.is_some() && src.is_of_field() {
            let (dst, copy) = self.result();
            self.emit(Inst::Move(dst, src));
            return Ok(copy);
        }
        Ok(src)
    }

    /// An event and its payload. The checker has compared their types if the event is a constant.
    fn carried(
        &mut self,
        event: &'p Expr,
        payload: Option<&'p Expr>,
        span: Span,
    ) -> Lowered<(Src, Src)> {
        let named = matches!(event.kind, ExprKind::Event(_));
        let event = self.kept(event, payload)?;
        let payload = self.optional(payload)?;
        if named {
            return Ok((event, payload));
        }
        // A copy, since `Carry` may have to put the fields of a tuple into another order.
        let (dst, copy) = self.result();
        self.emit(Inst::Move(dst, payload));
        self.span = span;
        self.emit(Inst::Carry(event, copy));
        Ok((event, copy))
    }

    fn optional(&mut self, expr: Option<&'p Expr>) -> Lowered<Src> {
        match expr {
            Some(expr) => self.operand(expr),
            None => Ok(self.constant(Value::Null)),
        }
    }

    /// The index of the place's path, and the first of the consecutive registers with the keys of the
    /// path and these values.
    fn place(&mut self, place: &'p Place, values: &'p [Expr]) -> Lowered<(u16, u16)> {
        let mut steps = Vec::new();
        let mut keys = Vec::new();
        for projection in &place.path {
            steps.push(match projection {
                Projection::Position(position) => Step::Position(*position as u16),
                Projection::Key(key) => {
                    keys.push(key);
                    Step::Key
                }
            });
        }
        let first = self.in_sequence(keys.into_iter().chain(values))?;
        let index = intern(&mut self.lower.code.paths, steps.into_boxed_slice());
        Ok((fits(index, u16::MAX.into(), place.span, "ways into values")? as u16, first))
    }

    fn around(&mut self, again: u32, body: &'p Stmt) -> Lowered<()> {
        self.block = None;
        self.loops.push(Around { again, breaks: Vec::new() });
        self.statement(body)?;
        self.emit(Inst::Loop(again));
        self.block = None;
        Ok(())
    }

    fn end_loop(&mut self) {
        if let Some(around) = self.loops.pop() {
            around.breaks.into_iter().for_each(|jump| self.land(jump));
        }
    }

    fn receive(&mut self, statement: &'p Stmt, cases: &'p [Case]) -> Lowered<()> {
        let span = statement.span;
        fits(cases.len(), 255, span, "cases of one receive")?;
        let index = fits(self.lower.code.receives.len(), u16::MAX.into(), span, "receives")?;
        let mut by_event = vec![0u8; self.lower.code.events.len()].into_boxed_slice();
        let mut events = std::collections::BTreeSet::new();
        for (number, case) in cases.iter().enumerate() {
            for event in &case.events {
                by_event[event.index()] = number as u8 + 1;
                events.insert(*event);
            }
        }
        let by_null = events.remove(&EventId::NULL);
        self.lower.code.receives.push(ReceiveCode {
            cases: by_event,
            entries: Vec::new(),
            events,
            span,
        });
        self.span = span;
        if by_null {
            let message = self.constant(Value::text("`null` is received, which is no event"));
            self.emit(Inst::Fail(message));
        }
        self.emit(Inst::Receive(index as u16));
        let mut ends = Vec::new();
        for case in cases {
            let entry = self.here();
            let payload = case.payload.map(|local| Dst::register(local.index()));
            self.lower.code.receives[index].entries.push((entry, payload));
            self.block = None;
            for local in case.locals.iter().filter(|&&local| case.payload != Some(local)) {
                let ty = &self.fun.locals[local.index()].ty;
                let value = self.lower.constants.default_of(ty, self.lower.program);
                let before = self.top;
                let value = self.constant(value);
                self.emit(Inst::Move(Dst::register(local.index()), value));
                self.top = before;
            }
            self.statements(&case.body)?;
            ends.push(self.emit(Inst::Jump(0)));
        }
        ends.into_iter().for_each(|jump| self.land(jump));
        self.block = None;
        Ok(())
    }
}

fn root(place: &Place) -> Dst {
    match place.root {
        Root::Local(local) => Dst::register(local.index()),
        Root::Field(field) => Dst::field(field.index()),
    }
}
