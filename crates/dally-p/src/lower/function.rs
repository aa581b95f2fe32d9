//! The lowering of one function: registers, jumps and source spans.

use super::inst::{CONSTANTS, Dst, Inst, Kind, OPERANDS, Src};
use super::{Lower, Lowered, fits};
use crate::program::{Fun, Stmt};
use crate::source::Span;
use crate::vm::Value;

pub(super) struct Function<'l, 'p> {
    pub(super) lower: &'l mut Lower<'p>,
    /// The first free register, above the locals and the temporaries in use.
    pub(super) top: usize,
    /// The highest value of `top` so far.
    size: usize,
    /// The enclosing loops, the innermost last.
    pub(super) loops: Vec<Around>,
    /// The span of the next instruction.
    pub(super) span: Span,
    /// The coverage block of the current statements; `None` if the next statement begins one.
    pub(super) block: Option<u32>,
    pub(super) fun: &'p Fun,
    /// The branches whose distance does not fit into an instruction, and their targets.
    far: Vec<(usize, u32)>,
}

pub(super) struct Around {
    pub(super) again: u32,
    pub(super) breaks: Vec<usize>,
}

impl<'l, 'p> Function<'l, 'p> {
    /// Lowers a function; answers how many registers it needs.
    pub(super) fn lower(
        lower: &'l mut Lower<'p>,
        fun: &'p Fun,
        body: &'p [Stmt],
    ) -> Lowered<usize> {
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
        // A call needs one more register, for a payload that the function does not take.
        fits(function.size + 1, OPERANDS, fun.span, "variables and values at a time")
    }

    pub(super) fn here(&self) -> u32 {
        self.lower.code.insts.len() as u32
    }

    pub(super) fn emit(&mut self, inst: Inst) -> usize {
        let height = self.top;
        self.emit_at(height, inst)
    }

    /// Adds an instruction that waits with so many registers in use.
    pub(super) fn emit_at(&mut self, height: usize, inst: Inst) -> usize {
        let code = &mut self.lower.code;
        code.insts.push(inst);
        code.spans.push(self.span);
        code.heights.push(height as u16);
        code.insts.len() - 1
    }

    /// Sets the target of an earlier jump to the next instruction.
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

    /// Moves branches that go too far to the end of the function, each followed by long jumps.
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

    pub(super) fn temp(&mut self) -> usize {
        let register = self.top;
        self.top += 1;
        self.size = self.size.max(self.top);
        register
    }

    /// A new temporary, as a destination and as the operand that reads it.
    pub(super) fn result(&mut self) -> (Dst, Src) {
        let register = self.temp();
        (Dst::register(register), Src::new(Kind::Temp, register))
    }

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
