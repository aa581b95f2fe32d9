//! What a campaign is to run.

use serde::Deserialize;

/// What a campaign is to run, as a TOML file says it.
///
/// ```
/// use dally_campaign::Plan;
///
/// let plan = Plan::read(r#"
///     time = "10m"
///     strategies = ["random", "pos"]
///
///     [[program]]
///     name = "raft-v1"
///     bug = "duplicate-votes"
///
///     [[program]]
///     name = "models/Lock.pproj"
///     test = "tcSingle"
///     strategies = ["random"]
/// "#)?;
/// assert_eq!(plan.programs[1].label(), "models/Lock.pproj:tcSingle");
/// assert_eq!(plan.strategies_of(&plan.programs[0]), ["random", "pos"]);
/// # Ok::<(), dally_campaign::PlanError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// How long to go on, such as `10m`.
    pub time: Option<String>,
    /// How many threads run schedules.
    pub cores: Option<usize>,
    /// How much memory the process may have before the run ends, such as `2G`.
    pub memory: Option<String>,
    /// Where all random choices start from.
    #[serde(default)]
    pub seed: u64,
    /// The strategies of programs that name none.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// The programs.
    #[serde(default, rename = "program")]
    pub programs: Vec<PlannedProgram>,
}

/// A program of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedProgram {
    /// A protocol, or the path of a P project or of a program in MPIL.
    pub name: String,
    /// Of a protocol: the planted bug that is switched on.
    pub bug: Option<String>,
    /// Of a P project: its test.
    pub test: Option<String>,
    /// The strategies, if not those of the plan.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// How many steps a schedule may have.
    pub max_steps: Option<usize>,
}

/// A plan cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It is not what a plan looks like.
    #[error("{0}")]
    Form(String),
    /// It has no programs.
    #[error("the plan names no program: add [[program]] with a name")]
    NoPrograms,
    /// Two of its programs are one.
    #[error("the plan names `{0}` twice")]
    Twice(String),
}

/// The strategies of a plan that names none: random, and one that draws orders of what races alike.
const STRATEGIES: [&str; 2] = ["random", "pos"];

impl Plan {
    /// Reads a plan.
    pub fn read(text: &str) -> Result<Plan, PlanError> {
        let plan: Plan = toml::from_str(text)
            .map_err(|why| PlanError::Form(why.to_string().trim_end().into()))?;
        plan.check()?;
        Ok(plan)
    }

    /// Refuses a plan without programs, and one that names a program twice.
    pub fn check(&self) -> Result<(), PlanError> {
        let mut labels: Vec<String> = self.programs.iter().map(PlannedProgram::label).collect();
        if labels.is_empty() {
            return Err(PlanError::NoPrograms);
        }
        labels.sort();
        match labels.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(PlanError::Twice(pair[0].clone())),
            None => Ok(()),
        }
    }

    /// The strategies of a program.
    pub fn strategies_of(&self, program: &PlannedProgram) -> Vec<String> {
        match (&program.strategies[..], &self.strategies[..]) {
            ([], []) => STRATEGIES.map(str::to_owned).to_vec(),
            ([], own) | (own, _) => own.to_vec(),
        }
    }
}

impl PlannedProgram {
    /// The program of this name; after a colon its planted bug.
    pub fn named(name: &str) -> PlannedProgram {
        let (name, bug) = match name.split_once(':') {
            Some((name, bug)) => (name, Some(bug.to_owned())),
            None => (name, None),
        };
        PlannedProgram { name: name.to_owned(), bug, ..PlannedProgram::default() }
    }

    /// What it is called in the campaign.
    pub fn label(&self) -> String {
        let more = [&self.bug, &self.test].into_iter().flatten();
        more.fold(self.name.clone(), |label, more| label + ":" + more)
    }
}
