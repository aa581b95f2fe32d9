//! Tests of a workspace that uses tokio, with tokio replaced by Dally's.
//!
//! Cargo is called for a shadow of the workspace, which has the user's files and a lock file of its own,
//! with a package called tokio that stands in for the real one. Nothing of the user's is written to; all
//! that is made is below `dally` in the target directory.

mod shadow;
mod stand_in;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use dally::report::tell;
use serde_json::Value;

use self::shadow::Shadow;
use self::stand_in::StandIn;
use crate::cargo::{cargo, metadata};
use crate::error::CliError;

/// The crates that run on every step. A development build would not optimise them, and schedules are
/// run by the thousand.
const HOT: [&str; 8] = [
    "corosensei",
    "dally",
    "dally-core",
    "dally-search",
    "dally-tasks",
    "rapidhash",
    "spin",
    "tokio",
];

/// The crates of Dally: they are built once, so that many small units, which make a second build fast, and lines for
/// debuggers would cost more than they bring.
const OURS: [&str; 8] = [
    "dally",
    "dally-core",
    "dally-explore",
    "dally-report",
    "dally-search",
    "dally-settings",
    "dally-tasks",
    "tokio",
];

/// How cargo is called with tokio replaced.
pub struct Replaced {
    shadow: Shadow,
    stand_in: StandIn,
    manifest: PathBuf,
    target: PathBuf,
}

impl Replaced {
    /// Replaces tokio for these arguments of cargo; `None` where the tests of the packages say themselves what they
    /// control.
    pub fn by(arguments: &[&OsString]) -> Result<Option<Replaced>, CliError> {
        let given = Given::of(arguments);
        let mut command = cargo();
        command.args(["metadata", "--format-version", "1", "--no-deps"]);
        if let Some(manifest) = &given.manifest {
            command.arg("--manifest-path").arg(manifest);
        }
        Replaced::in_workspace(&metadata(&mut command)?, &given)
    }

    /// As [`Replaced::by`] in the workspace of which `cargo metadata --no-deps` has said this.
    pub fn in_workspace(workspace: &Value, given: &Given) -> Result<Option<Replaced>, CliError> {
        if controls_itself(workspace) {
            return Ok(None);
        }
        let path = |key: &str| workspace[key].as_str().map(PathBuf::from);
        let unreadable = || CliError::Metadata("`cargo metadata` names no workspace".into());
        let root = path("workspace_root").ok_or_else(unreadable)?;
        let target = match &given.target {
            Some(target) => std::path::absolute(target).map_err(CliError::Cargo)?,
            None => path("target_directory").ok_or_else(unreadable)?,
        };
        let made = target.join("dally");
        let shadow = Shadow::of(&root, &outside(workspace, &root), &made.join("shadow"))?;
        let manifest = shadow.path_of(&nearest_manifest(given.manifest.as_deref(), &root)?);
        let target = made.join("build");
        // What an earlier run has found out mostly holds still.
        if let Some(stand_in) = StandIn::of_earlier_run(&made).filter(|_| !shadow.is_new) {
            let replaced = Replaced { shadow, stand_in, manifest, target };
            if replaced.check_that_it_is_used(given.offline).is_ok() {
                return Ok(Some(replaced));
            }
            let Replaced { shadow, manifest, target, .. } = replaced;
            return Replaced::anew(shadow, manifest, target, &made, given.offline).map(Some);
        }
        Replaced::anew(shadow, manifest, target, &made, given.offline).map(Some)
    }

    fn anew(
        shadow: Shadow,
        manifest: PathBuf,
        target: PathBuf,
        made: &Path,
        offline: bool,
    ) -> Result<Replaced, CliError> {
        let mut command = Self::metadata_of(&shadow, &manifest);
        let resolved = metadata(command.args(offline.then_some("--offline")))?;
        let stand_in = StandIn::make(&resolved, made, offline)?;
        let replaced = Replaced { shadow, stand_in, manifest, target };
        replaced.check_that_it_is_used(offline)?;
        Ok(replaced)
    }

    /// `cargo test` with these arguments, which may have been split off those of [`Replaced::by`].
    pub fn test(&self, arguments: &[impl AsRef<OsStr>]) -> Command {
        let mut cargo = cargo();
        cargo.current_dir(self.shadow.root()).arg("test").args(self.patch());
        for krate in HOT {
            cargo.arg("--config").arg(format!("profile.dev.package.{krate}.opt-level=1"));
        }
        for krate in OURS {
            for setting in ["codegen-units=8", "debug=false"] {
                cargo.arg("--config").arg(format!("profile.dev.package.{krate}.{setting}"));
            }
        }
        cargo.arg("--manifest-path").arg(&self.manifest).arg("--target-dir").arg(&self.target);
        if std::env::var_os("DALLY_OUT").is_none() {
            cargo.env("DALLY_OUT", self.target.parent().unwrap_or(&self.target));
        }
        cargo.args(without_those_that_are_ours(arguments));
        cargo
    }

    fn metadata_of(shadow: &Shadow, manifest: &Path) -> Command {
        let mut cargo = cargo();
        cargo.current_dir(shadow.root()).args(["metadata", "--format-version", "1"]);
        cargo.arg("--manifest-path").arg(manifest);
        cargo
    }

    fn patch(&self) -> [OsString; 2] {
        let path = toml_string(&self.stand_in.package);
        ["--config".into(), format!("patch.crates-io.tokio.path={path}").into()]
    }

    /// Cargo only warns of a patch that it does not use, and then everything passes and nothing is
    /// explored.
    fn check_that_it_is_used(&self, offline: bool) -> Result<(), CliError> {
        let mut command = Self::metadata_of(&self.shadow, &self.manifest);
        command.args(self.patch());
        let resolved = metadata(command.args(offline.then_some("--offline")))
            .map_err(|why| if offline { CliError::Offline { why: Box::new(why) } } else { why })?;
        let ours = self.stand_in.package.join("Cargo.toml");
        let mut used = false;
        for tokio in packages(&resolved).filter(|package| package["name"] == "tokio") {
            let is_ours =
                tokio["manifest_path"].as_str().is_some_and(|path| Path::new(path) == ours);
            let version = tokio["version"].as_str().unwrap_or_default();
            used |= is_ours;
            if is_ours {
                continue;
            }
            if version.starts_with("1.") {
                return Err(CliError::NotReplaced { version: version.to_owned() });
            }
            tell::err(&format!(
                "warning: tokio {version} is used too, and is not under control: only 1.x is\n"
            ));
        }
        if used {
            Ok(())
        } else {
            Err(CliError::NotReplaced { version: self.stand_in.version.clone() })
        }
    }
}

/// What the arguments of cargo say that matters here.
#[derive(Default)]
pub struct Given {
    manifest: Option<PathBuf>,
    target: Option<PathBuf>,
    offline: bool,
}

impl Given {
    fn of(arguments: &[&OsString]) -> Given {
        let mut given = Given::default();
        let mut arguments = arguments.iter().take_while(|argument| **argument != "--");
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            let (name, inline) = match text.split_once('=') {
                Some((name, value)) => (name, Some(OsString::from(value))),
                None => (&*text, None),
            };
            let mut value =
                || inline.clone().or_else(|| arguments.next().map(|next| (*next).clone()));
            match name {
                "--manifest-path" => given.manifest = value().map(PathBuf::from),
                "--target-dir" => given.target = value().map(PathBuf::from),
                "--offline" | "--frozen" => given.offline = true,
                _ => {}
            }
        }
        given
    }
}

/// The arguments without those that are given otherwise. `--locked` is about the user's lock file, which
/// is not touched; the shadow's must change.
fn without_those_that_are_ours(arguments: &[impl AsRef<OsStr>]) -> Vec<&OsStr> {
    let mut rest = Vec::new();
    let mut arguments = arguments.iter().map(AsRef::as_ref);
    while let Some(argument) = arguments.next() {
        match argument.to_str().unwrap_or_default() {
            "--" => {
                rest.push(argument);
                rest.extend(arguments);
                break;
            }
            "--manifest-path" | "--target-dir" => {
                arguments.next();
            }
            "--locked" => {}
            "--frozen" => rest.push(OsStr::new("--offline")),
            text if text.starts_with("--manifest-path=") || text.starts_with("--target-dir=") => {}
            _ => rest.push(argument),
        }
    }
    rest
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

fn dependencies(package: &Value) -> impl Iterator<Item = &Value> {
    package["dependencies"].as_array().into_iter().flatten()
}

/// Whether the tests of a workspace say themselves what they control: its packages use `dally`, and no tokio that could
/// be replaced. Machines that run on tokio in production need the real one, and so does Dally's own workspace.
fn controls_itself(workspace: &Value) -> bool {
    let uses = |name: &'static str| {
        packages(workspace).flat_map(dependencies).filter(move |used| used["name"] == name)
    };
    let hosts = |dally: &Value| {
        dally["features"]
            .as_array()
            .is_some_and(|features| features.iter().any(|one| one == "host"))
    };
    let own = packages(workspace).any(|package| package["name"] == "dally");
    let without_tokio = uses("dally").next().is_some() && uses("tokio").next().is_none();
    own || without_tokio || uses("dally").any(hosts)
}

/// The directories of packages that the workspace uses and that lie outside of it.
fn outside(workspace: &Value, root: &Path) -> Vec<PathBuf> {
    let members = packages(workspace)
        .filter_map(|package| Path::new(package["manifest_path"].as_str()?).parent());
    let used = packages(workspace)
        .flat_map(dependencies)
        .filter_map(|dependency| dependency["path"].as_str().map(Path::new));
    members.chain(used).filter(|path| !path.starts_with(root)).map(Path::to_owned).collect()
}

/// The manifest that cargo would use: the one that is given, or that of the nearest directory upwards.
fn nearest_manifest(given: Option<&Path>, root: &Path) -> Result<PathBuf, CliError> {
    if let Some(given) = given {
        return std::path::absolute(given).map_err(CliError::Cargo);
    }
    let here = std::env::current_dir().map_err(CliError::Cargo)?;
    let nearest = here.ancestors().map(|directory| directory.join("Cargo.toml"));
    Ok(nearest.into_iter().find(|path| path.exists()).unwrap_or_else(|| root.join("Cargo.toml")))
}

/// A path as a value in TOML.
fn toml_string(path: &Path) -> String {
    let mut text = String::from('"');
    for letter in path.to_string_lossy().chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            letter if letter.is_control() => text += &format!("\\u{:04X}", u32::from(letter)),
            letter => text.push(letter),
        }
    }
    text.push('"');
    text
}
