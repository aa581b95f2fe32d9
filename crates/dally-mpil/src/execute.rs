//! Running statements up to the next `receive`.

use dally_concolic::int::{Arithmetic, Comparison, NoResult};
use dally_concolic::{Int, Place};
use dally_core::{
    Access, Bug, Env, Event, EventSink, Input, Location, MessageId, Problem, Resource, Stop, Text,
    WorkerId,
};

use crate::code::{Body, Code, Condition, Expr, Slot, Statement};
use crate::system::{Message, Process, Shown};

/// Where a run of statements has come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pause {
    /// Before the `receive` at this position.
    Receive(usize),
    /// At the end.
    Ended,
}

/// What runs: a process, the set-up or the check at the end.
pub(crate) struct Running<'a, 'e> {
    pub(crate) code: &'a Code,
    pub(crate) body: &'a Body,
    pub(crate) own: &'a mut [Int],
    pub(crate) shared: &'a [Int],
    /// All processes, at the end.
    pub(crate) processes: &'a [triomphe::Arc<Process>],
    pub(crate) worker: WorkerId,
    /// The process that runs; `None` for the set-up and the end.
    pub(crate) process: Option<usize>,
    /// How many messages it has sent.
    pub(crate) sent: &'a mut u32,
    /// The messages that it sends now, each with its receiver.
    pub(crate) outbox: &'a mut Vec<(usize, Message)>,
    pub(crate) events: &'a mut EventSink<'e>,
}

impl Running<'_, '_> {
    /// Runs from this position.
    pub(crate) fn run(&mut self, mut position: usize) -> Result<Pause, Stop> {
        let body = self.body;
        while let Some(statement) = body.statements.get(position) {
            let at = body.places[position];
            let mut next = position + 1;
            match statement {
                Statement::Assign(slot, value) => {
                    let value = self.value(value, at)?;
                    *self.place(slot, at)? = value;
                }
                Statement::Input(slot, name, range) => {
                    self.input(slot, name, range.as_ref(), at)?
                }
                Statement::Send(family, index, values) => {
                    self.send(*family, index.as_ref(), values, at)?;
                }
                Statement::Receive(..) => return Ok(Pause::Receive(position)),
                Statement::If(condition, to) => {
                    if self.holds(condition, at)? {
                        next = *to;
                    }
                }
                Statement::Goto(to) => next = *to,
                Statement::Assert(condition, text) => {
                    if !self.holds(condition, at)? {
                        return Err(self.bug(format!("`{text}` does not hold"), at).into());
                    }
                }
                Statement::Assume(condition) => {
                    if !self.holds(condition, at)? {
                        return Err(Stop::Cut);
                    }
                }
                Statement::Error(text) => return Err(self.bug(text.clone(), at).into()),
                Statement::Halt => return Ok(Pause::Ended),
            }
            if next <= position {
                self.events.turn()?;
            }
            position = next;
        }
        Ok(Pause::Ended)
    }

    /// Takes a message into the variables of the `receive` at this position.
    pub(crate) fn receive(&mut self, position: usize, message: &Message) -> Result<(), Stop> {
        let body = self.body;
        let Some(Statement::Receive(slots, _)) = body.statements.get(position) else {
            return Ok(());
        };
        let at = body.places[position];
        if slots.len() != message.values.len() {
            let text = format!(
                "a message of {} values is received into {} variables",
                message.values.len(),
                slots.len()
            );
            return Err(self.bug(text, at).into());
        }
        for (slot, &value) in slots.iter().zip(&message.values) {
            *self.place(slot, at)? = value;
        }
        Ok(())
    }

    fn bug(&self, message: String, at: Place) -> Bug {
        let file = self.code.path.clone();
        let location = Location { file, line: at.line, column: at.column };
        let culprit = match self.process {
            Some(process) => self.code.names[process].clone(),
            None => "program".to_owned(),
        };
        Bug::new(Problem::Assertion { message })
            .by(culprit)
            .at(Some(location))
            .in_step_of(self.worker)
    }

    fn input(
        &mut self,
        slot: &Slot,
        name: &str,
        range: Option<&(Expr, Expr)>,
        at: Place,
    ) -> Result<(), Stop> {
        let mut shown = match self.process {
            Some(process) => format!("{}.{name}", self.code.names[process]),
            None => name.to_owned(),
        };
        if let Some((_, index)) = &slot.index {
            shown += &format!("[{}]", self.value(index, at)?.shown());
        }
        let mut asked = Input::named(&shown);
        if let Some((least, most)) = range {
            let least = self.value(least, at)?.pin_at(at);
            let most = self.value(most, at)?.pin_at(at);
            if least > most {
                let text = format!("there is no number from {least} to {most}");
                return Err(self.bug(text, at).into());
            }
            asked = asked.within(least..=most);
        }
        let value = self.events.input(asked)?;
        *self.place(slot, at)? = Int::given(&shown, value);
        Ok(())
    }

    fn send(
        &mut self,
        family: usize,
        index: Option<&Expr>,
        values: &[Expr],
        at: Place,
    ) -> Result<(), Stop> {
        let to = self.process(family, index, at)?;
        let values: Result<Vec<Int>, Stop> =
            values.iter().map(|value| self.value(value, at)).collect();
        let id = MessageId { sender: self.worker, number: *self.sent };
        *self.sent += 1;
        let message = Message { id, values: values? };
        let receiver = self.code.workers[to];
        // The mailbox does not remember in which order messages of different senders came.
        self.events.tell(|| Event::Accessed {
            access: Access::read(Resource::Inbox(receiver)),
            what: Text::Str(""),
        })?;
        let payload = Shown(&message.values);
        self.events.tell(|| Event::Sent {
            message: id,
            to: receiver,
            payload: Text::Display(&payload),
        })?;
        self.outbox.push((to, message));
        Ok(())
    }

    fn process(&mut self, family: usize, index: Option<&Expr>, at: Place) -> Result<usize, Stop> {
        let known = &self.code.families[family];
        let Some(index) = index else { return Ok(known.first) };
        let index = self.value(index, at)?.pin_at(at);
        let place = index.checked_sub(known.lowest).and_then(|place| usize::try_from(place).ok());
        match place.filter(|&place| place < known.count) {
            Some(place) => Ok(known.first + place),
            None => {
                Err(self.bug(format!("there is no process {}[{index}]", known.name), at).into())
            }
        }
    }

    fn holds(&mut self, condition: &Condition, at: Place) -> Result<bool, Stop> {
        let left = self.value(&condition.left, at)?;
        let right = self.value(&condition.right, at)?;
        let how: Comparison = condition.how;
        Ok(left.holds(how, right, at) != condition.negated)
    }

    fn value(&mut self, expr: &Expr, at: Place) -> Result<Int, Stop> {
        match expr {
            Expr::Number(number) => Ok(Int::from(*number)),
            Expr::Own(slot) => Ok(self.own[self.position(slot, at)?]),
            Expr::Shared(slot) => Ok(self.shared[self.position(slot, at)?]),
            Expr::Of(family, index, slot) => {
                let process = self.process(*family, index.as_deref(), at)?;
                let position = self.position(slot, at)?;
                Ok(self.processes[process].variables[position])
            }
            Expr::Negated(inner) => {
                let inner = self.value(inner, at)?;
                self.arithmetic(Arithmetic::Subtract, Int::from(0), inner, at)
            }
            Expr::Arithmetic(how, left, right) => {
                let (left, right) = (self.value(left, at)?, self.value(right, at)?);
                self.arithmetic(*how, left, right, at)
            }
        }
    }

    fn arithmetic(&self, how: Arithmetic, left: Int, right: Int, at: Place) -> Result<Int, Stop> {
        left.compute(how, right, at).map_err(|why| {
            let sign = match how {
                Arithmetic::Add => '+',
                Arithmetic::Subtract => '-',
                Arithmetic::Multiply => '*',
                Arithmetic::Divide => '/',
                Arithmetic::Remainder => '%',
            };
            let text = match why {
                NoResult::Overflow => format!("{left} {sign} {right} does not fit into 64 bits"),
                NoResult::DivisionByZero => format!("{left} {sign} {right}: the divisor is 0"),
            };
            self.bug(text, at).into()
        })
    }

    fn place(&mut self, slot: &Slot, at: Place) -> Result<&mut Int, Stop> {
        let position = self.position(slot, at)?;
        Ok(&mut self.own[position])
    }

    fn position(&mut self, slot: &Slot, at: Place) -> Result<usize, Stop> {
        let Some((length, index)) = &slot.index else { return Ok(slot.at) };
        let index = self.value(index, at)?.pin_at(at);
        match usize::try_from(index).ok().filter(|index| index < length) {
            Some(index) => Ok(slot.at + index),
            None => {
                let text = format!("there is no {}[{index}]: it has {length} values", slot.name);
                Err(self.bug(text, at).into())
            }
        }
    }
}
