//! MPIL: processes that exchange messages and branch on inputs.
//!
//! The language is that of Sen and Agha, "Automated Systematic Testing of Open Distributed Programs",
//! Figure 1, with macro-step semantics: a step runs a process from one `receive` to the next. What is
//! added to it (arrays, families of processes, messages of several values, parameters, a set-up and
//! a check at the end) is what the programs of the paper need; `docs/mpil.md` has the whole.
//!
//! ```
//! use dally_mpil::MpilProgram;
//!
//! let program = MpilProgram::compile("greeting.mpil", "
//!     process server {
//!         var n
//!         receive n
//!         assert n > 0
//!     }
//!     setup { send server, 1 }
//! ", &[]);
//! assert!(program.is_ok());
//! ```
//!
//! Invariant: no text makes it panic or hang; errors are values with places.

pub mod code;
mod compile;
pub mod diagnostic;
mod execute;
mod syntax;
pub mod system;

use std::sync::Arc;

use dally_core::{Bug, Program, StateVisitor, fingerprint};

use crate::code::Code;
pub use crate::diagnostic::Diagnostics;
pub use crate::system::MpilSystem;

/// A program in MPIL.
#[derive(Clone, Debug)]
pub struct MpilProgram {
    code: Arc<Code>,
    /// A hash of the text.
    source: u64,
}

impl MpilProgram {
    /// Compiles a text. `path` is for messages; `parameters` replace the values of `param`
    /// declarations.
    pub fn compile(
        path: &str,
        text: &str,
        parameters: &[(String, i64)],
    ) -> Result<MpilProgram, Diagnostics> {
        let refuse = |found| Diagnostics::new(path, text, found);
        let source = syntax::parse(text).map_err(refuse)?;
        let code = compile::compile(path, text, &source, parameters).map_err(refuse)?;
        Ok(MpilProgram { code: Arc::new(code), source: fingerprint::of_bytes(text.as_bytes()) })
    }

    /// The parameters of the program with their values.
    pub fn parameters(&self) -> &[(String, i64)] {
        &self.code.parameters
    }
}

impl Program for MpilProgram {
    type System = MpilSystem;

    fn start(&self) -> Result<MpilSystem, Bug> {
        Ok(MpilSystem::new(self.code.clone()))
    }

    fn name(&self) -> &str {
        &self.code.name
    }

    fn granularity(&self) -> &'static str {
        "macro-steps"
    }

    fn source(&self) -> u64 {
        self.source
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        visitor.copied(self)
    }
}
