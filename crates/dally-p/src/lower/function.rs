//! One function on its way to code: registers, jumps and what every instruction comes from.

use super::inst::{CONSTANTS, Dst, Inst, Kind, OPERANDS, Src};
use super::{Lower, fits};
use crate::diagnostic::Diagnostic;
use crate::program::{Fun, LocalId, Stmt, Type};
use crate::source::Span;
use crate::vm::Value;

/// A function that is being lowered.
pub(super) struct Function<'l, 'p> {
    pub(super) lower: &'l mut Lower<'p>,
    /// The first register that is free: locals are below, and temporaries that are in use.
    pub(super) top: usize,
    /// How many registers were ever in use.
    size: usize,
    /// The loops around, the innermost last.
    pub(super) loops: Vec<Around>,
    /// What the next instruction comes from.
    pub(super) span: Span,
    /// The stretch of source that statements belong to; `None` if the next begins another.
    pub(super) block: Option<u32>,
    fun: &'p Fun,
    /// The branches that go farther than an instruction can say, and where they go.
    far: Vec<(usize, u32)>,
}

/// A loop around a statement.
pub(super) struct Around {
    /// Where `continue` goes.
    pub(super) again: u32,
    /// The jumps of `break`.
    pub(super) breaks: Vec<usize>,
}

impl<'l, 'p> Function<'l, 'p> {
    /// Lowers a function and answers how many registers it needs.
    pub(super) fn lower(
        lower: &'l mut Lower<'p>,
        fun: &'p Fun,
        body: &'p [Stmt],
    ) -> Result<usize, Diagnostic> {
        let top = fun.locals.len();
        let mut function = Function {
            lower,
            top,
            size: top,
            loops: Vec::new(),
            span: fun.span,
            block: None,
            fun,
            far: Vec::new(),
        };
        function.statements(body)?;
        function.span = fun.span;
        function.emit(Inst::ReturnNothing);
        function.go_far();
        // The whole window of a call, with one register to spare for a payload nobody takes.
        fits(function.size + 1, OPERANDS, fun.span, "variables and values at a time")
    }

    pub(super) fn local_type(&self, local: LocalId) -> Type {
        self.fun.locals[local.index()].ty.clone()
    }

    pub(super) fn here(&self) -> u32 {
        self.lower.code.insts.len() as u32
    }

    /// Adds an instruction and answers its position.
    pub(super) fn emit(&mut self, inst: Inst) -> usize {
        let height = self.top;
        self.emit_at(height, inst)
    }

    /// Adds an instruction that may wait with so many registers in use.
    pub(super) fn emit_at(&mut self, height: usize, inst: Inst) -> usize {
        let code = &mut self.lower.code;
        code.insts.push(inst);
        code.spans.push(self.span);
        code.heights.push(height as u16);
        code.insts.len() - 1
    }

    /// Makes a jump that was added earlier go to the next instruction.
    pub(super) fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.lower.code.insts[jump] {
            Inst::Jump(to) | Inst::JumpIf(_, to) | Inst::JumpUnless(_, to) => *to = here,
            Inst::Unless(_, _, _, by) | Inst::Next(_, _, by) => {
                match u16::try_from(here as usize - jump - 1) {
                    Ok(distance) => *by = distance,
                    Err(_) => self.far.push((jump, here)),
                }
            }
            other => unreachable!("{other:?} does not jump"),
        }
    }

    /// Moves branches that go too far to the end of the function, where jumps follow them.
    fn go_far(&mut self) {
        for (branch, to) in std::mem::take(&mut self.far) {
            let here = self.here();
            self.span = self.lower.code.spans[branch];
            let mut moved = std::mem::replace(&mut self.lower.code.insts[branch], Inst::Jump(here));
            if let Inst::Unless(_, _, _, by) | Inst::Next(_, _, by) = &mut moved {
                *by = 1;
            }
            self.emit(moved);
            self.emit(Inst::Jump(branch as u32 + 1));
            self.emit(Inst::Jump(to));
        }
    }

    /// A free register.
    pub(super) fn temp(&mut self) -> usize {
        let register = self.top;
        self.top += 1;
        self.size = self.size.max(self.top);
        register
    }

    /// A free register as a result, and as the operand that reads it.
    pub(super) fn result(&mut self) -> (Dst, Src) {
        let register = self.temp();
        (Dst::register(register), Src::new(Kind::Temp, register))
    }

    /// A constant as an operand.
    pub(super) fn constant(&mut self, value: Value) -> Src {
        let index = self.lower.constants.add(value);
        if index < CONSTANTS {
            return Src::new(Kind::Const, index);
        }
        let (dst, src) = self.result();
        self.emit(Inst::Load(dst, index as u32));
        src
    }
}
