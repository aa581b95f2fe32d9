//! The package called tokio that stands in for the real one.
//!
//! Its sources are those of `dally-tokio`, and it is written anew for every workspace, because its
//! version and its features must be what the lock file wants: cargo ignores a patch of another version.
//! It needs the traits of `tokio::io`, and cannot depend on tokio, since cargo would answer with the
//! package itself. So it gets the sources of tokio that cargo has downloaded, under another name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use super::{dependencies, packages, toml_string};
use crate::cargo::{cargo, metadata};
use crate::error::CliError;

/// The package in its directory.
pub struct StandIn {
    /// Its directory.
    pub package: PathBuf,
    /// The version of tokio that it stands in for.
    pub version: String,
}

/// The feature of tokio that the stand-in needs.
const NEEDED: &str = "io-util";

/// The file that says what wrote the package, and for which version of tokio.
const MADE_BY: &str = "made-by";

fn made_by() -> String {
    let (version, sources) = (env!("CARGO_PKG_VERSION"), env!("CARGO_MANIFEST_DIR"));
    format!("dally-cli {version} of {sources}, for tokio ")
}

/// The tokio that the workspace would use.
fn real(resolved: &Value) -> Result<&Value, CliError> {
    let all: Vec<&Value> =
        packages(resolved).filter(|package| package["name"] == "tokio").collect();
    let version = |tokio: &Value| tokio["version"].as_str().unwrap_or_default().to_owned();
    let Some(real) = all.iter().find(|tokio| version(tokio).starts_with("1.")) else {
        let versions: Vec<String> = all.iter().map(|tokio| version(tokio)).collect();
        return Err(match versions.is_empty() {
            true => CliError::NoTokio,
            false => CliError::OtherTokio { versions },
        });
    };
    match real["source"].as_str() {
        Some(source) if source.starts_with("registry+") || source.starts_with("sparse+") => {
            Ok(real)
        }
        source => {
            let source_of_it = match (source, real["manifest_path"].as_str()) {
                (Some(source), _) => source.to_owned(),
                (None, path) => path.unwrap_or_default().to_owned(),
            };
            Err(CliError::ForeignTokio { version: version(real), source_of_it })
        }
    }
}

impl StandIn {
    /// Writes the package that stands in for the tokio of a workspace that resolves to this, below a directory.
    pub fn make(resolved: &Value, place: &Path, offline: bool) -> Result<StandIn, CliError> {
        let real = real(resolved)?;
        let (package, renamed) = (place.join("tokio"), place.join("tokio-real"));
        let mut sources = Sources::find(place, offline)?;
        if let Some(dally) = packages(resolved).find(|package| package["name"] == "dally") {
            sources.crates = Origin::of(dally)?;
        }
        let written = |(path, text): (&Path, String)| {
            write(path, &text).map_err(|why| CliError::NoShadow { place: path.to_owned(), why })
        };
        written((&renamed.join("Cargo.toml"), manifest_of_real(real)))?;
        written((&package.join("Cargo.toml"), manifest(real, &sources, &renamed)))?;
        let version = real["version"].as_str().unwrap_or_default().to_owned();
        written((&package.join(MADE_BY), format!("{}{version}", made_by())))?;
        Ok(StandIn { package, version })
    }

    /// The package that an earlier run of the same command has written there.
    pub fn of_earlier_run(place: &Path) -> Option<StandIn> {
        let package = place.join("tokio");
        let text = fs::read_to_string(package.join(MADE_BY)).ok()?;
        let version = text.strip_prefix(&made_by())?.to_owned();
        Some(StandIn { package, version })
    }
}

/// Where the sources of Dally are.
struct Sources {
    /// The package `dally-tokio`.
    dally_tokio: PathBuf,
    /// The crates that it depends on.
    crates: Origin,
}

/// Where cargo has the crates of Dally from.
enum Origin {
    /// A directory that has them all.
    Directory(PathBuf),
    Registry,
    /// A repository and a revision of it, as they stand in a dependency.
    Git(String),
}

impl Origin {
    /// Where the Dally of the workspace comes from: its tests call it for hosts, so the one below tokio must be the
    /// same.
    fn of(dally: &Value) -> Result<Origin, CliError> {
        let version = dally["version"].as_str().unwrap_or_default();
        if version != env!("CARGO_PKG_VERSION") {
            let (theirs, ours) = (version.to_owned(), env!("CARGO_PKG_VERSION"));
            return Err(CliError::OtherDally { theirs, ours });
        }
        let Some(source) = dally["source"].as_str() else {
            let manifest = Path::new(dally["manifest_path"].as_str().unwrap_or_default());
            let crates = manifest.ancestors().nth(2).unwrap_or(manifest);
            return Ok(Origin::Directory(crates.to_owned()));
        };
        let Some(git) = source.strip_prefix("git+") else { return Ok(Origin::Registry) };
        let (place, _) = git.split_once('#').unwrap_or((git, ""));
        let (url, revision) = place.split_once('?').unwrap_or((place, ""));
        let mut text = format!("git = {}", toml_string(Path::new(url)));
        if let Some((kind, name)) = revision.split_once('=') {
            let _ = write!(text, ", {kind} = {}", toml_string(Path::new(name)));
        }
        Ok(Origin::Git(text))
    }

    /// One of the crates as a dependency, without the braces.
    fn dependency(&self, name: &str) -> String {
        match self {
            Origin::Directory(crates) => format!("path = {}", toml_string(&crates.join(name))),
            Origin::Registry => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
            Origin::Git(text) => text.clone(),
        }
    }
}

impl Sources {
    fn find(place: &Path, offline: bool) -> Result<Sources, CliError> {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        if let Some(crates) = checkout.filter(|crates| crates.join("dally-tokio").is_dir()) {
            let dally_tokio = crates.join("dally-tokio");
            return Ok(Sources { dally_tokio, crates: Origin::Directory(crates.to_owned()) });
        }
        Sources::download(place, offline)
    }

    /// A package that depends on `dally-tokio` makes cargo download it and say where it is.
    fn download(place: &Path, offline: bool) -> Result<Sources, CliError> {
        const VERSION: &str = env!("CARGO_PKG_VERSION");
        let package = place.join("sources");
        let manifest = package.join("Cargo.toml");
        let text = format!(
            "[package]\nname = \"dally-sources\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[lib]\npath = \
             \"lib.rs\"\n\n[dependencies]\ndally-tokio = \"={VERSION}\"\n\n[workspace]\n"
        );
        write(&manifest, &text)
            .and_then(|()| write(&package.join("lib.rs"), ""))
            .map_err(|why| CliError::NoShadow { place: package.clone(), why })?;
        let mut cargo = cargo();
        cargo.current_dir(&package).args(["metadata", "--format-version", "1"]);
        let found = metadata(cargo.args(offline.then_some("--offline")))
            .map_err(|why| CliError::NoSources { version: VERSION, why: Box::new(why) })?;
        let dally_tokio = packages(&found)
            .find(|package| package["name"] == "dally-tokio")
            .and_then(|package| Path::new(package["manifest_path"].as_str()?).parent());
        let missing = || CliError::Metadata("cargo does not say where they are".into());
        let dally_tokio = dally_tokio
            .ok_or_else(|| CliError::NoSources { version: VERSION, why: Box::new(missing()) })?;
        Ok(Sources { dally_tokio: dally_tokio.to_owned(), crates: Origin::Registry })
    }
}

fn manifest(real: &Value, sources: &Sources, renamed: &Path) -> String {
    let mut text = head("tokio", real, "2024", &sources.dally_tokio.join("src/lib.rs"));
    let dally = sources.crates.dependency("dally");
    let _ =
        writeln!(text, "dally = {{ {dally}, default-features = false, features = [\"tasks\"] }}");
    for name in ["dally-macros", "dally-tasks"] {
        let _ = writeln!(text, "{name} = {{ {} }}", sources.crates.dependency(name));
    }
    let _ = writeln!(text, "tokio-real = {{ path = {} }}", toml_string(renamed));
    text += "\n[features]\n";
    for feature in features(real) {
        let _ = writeln!(text, "\"{feature}\" = []");
    }
    text
}

/// The manifest of tokio under another name, with what one of its features needs and nothing else.
fn manifest_of_real(real: &Value) -> String {
    let path = Path::new(real["manifest_path"].as_str().unwrap_or_default());
    let sources = path.parent().unwrap_or(path).join("src/lib.rs");
    let edition = real["edition"].as_str().unwrap_or("2021");
    let mut text = head("tokio-real", real, edition, &sources);
    let needed: Vec<&str> = real["features"][NEEDED]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(|name| name.trim_start_matches("dep:")))
        .collect();
    let mut named = BTreeSet::new();
    for dependency in dependencies(real) {
        let name = dependency["name"].as_str().unwrap_or_default();
        let optional = dependency["optional"] == Value::Bool(true);
        let of_all = dependency["kind"].is_null() && dependency["target"].is_null();
        if of_all && (!optional || needed.contains(&name)) && named.insert(name.to_owned()) {
            let request = dependency["req"].as_str().unwrap_or("*");
            let _ = writeln!(text, "{name} = \"{request}\"");
        }
    }
    let _ = writeln!(text, "\n[features]\ndefault = [\"{NEEDED}\"]");
    for feature in features(real).filter(|feature| *feature != "default") {
        // A dependency that is no option has no feature.
        if !named.contains(feature) {
            let _ = writeln!(text, "\"{feature}\" = []");
        }
    }
    text += "\n[lints.rust]\nwarnings = \"allow\"\n";
    text
}

/// The manifest up to its dependencies.
fn head(name: &str, real: &Value, edition: &str, sources: &Path) -> String {
    let version = real["version"].as_str().unwrap_or_default();
    let sources = toml_string(sources);
    format!(
        "[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"{edition}\"\npublish = false\n\n\
         [workspace]\n\n[lib]\npath = {sources}\ntest = false\ndoctest = false\n\n[dependencies]\n"
    )
}

fn features(real: &Value) -> impl Iterator<Item = &str> {
    real["features"].as_object().into_iter().flat_map(|all| all.keys().map(String::as_str))
}

/// Leaves a file as it is that says the same already, since cargo goes by its age.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::read(path).is_ok_and(|earlier| earlier == text.as_bytes()) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, text)
}
