//! Source files and places in them.

use std::path::Path;

use dally_core::Location;

/// A file of a project: its index in [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// A range of bytes of one file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of another in the same file.
    #[must_use]
    pub fn to(self, end: Span) -> Span {
        Span { end: end.end.max(self.start), ..self }
    }
}

/// One source file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as people see it.
    pub path: String,
    /// The content.
    pub text: String,
    /// Whether the file belongs to an included project, whose tests are not tests of this one.
    pub included: bool,
    /// Whether the file has stubs: bodies of foreign functions, and what foreign types stand for.
    pub stubs: bool,
    /// Where each line starts, in bytes.
    lines: Vec<u32>,
}

/// All source files of a project.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// Adds a file.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        let starts = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let lines = std::iter::once(0).chain(starts.map(|(at, _)| at as u32 + 1)).collect();
        self.files.push(SourceFile {
            path: path.into(),
            text,
            included: false,
            stubs: false,
            lines,
        });
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a file of a project that this one includes.
    pub fn include(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let file = self.add(path, text);
        self.files[file.0 as usize].included = true;
        file
    }

    /// Adds a file with stubs: it gives bodies to foreign functions of the other files, those of a
    /// machine inside `machine M { ... }`, and says what foreign types stand for. What else it declares
    /// is part of the project.
    ///
    /// ```
    /// use dally_p::{Project, source::Sources};
    ///
    /// let mut sources = Sources::default();
    /// sources.add(
    ///     "m.p",
    ///     "fun Coin(): bool;
    ///      machine Main { start state S { entry { assert Coin() || true; } } }
    ///      test t [main=Main]: { Main };",
    /// );
    /// sources.stubs("stubs.p", "fun Coin(): bool { return $; }");
    /// let project = Project::of_sources(sources).unwrap();
    /// assert!(project.test("t", Default::default()).is_ok());
    /// ```
    pub fn stubs(&mut self, path: impl Into<String>, text: impl Into<String>) -> FileId {
        let file = self.add(path, text);
        self.files[file.0 as usize].stubs = true;
        file
    }

    /// Shows the paths of files in this folder without it.
    pub fn show_from(&mut self, folder: &Path) {
        for file in &mut self.files {
            if let Ok(inside) = Path::new(&file.path).strip_prefix(folder) {
                file.path = inside.display().to_string();
            }
        }
    }

    /// A file of this project.
    pub fn file(&self, file: FileId) -> &SourceFile {
        &self.files[file.0 as usize]
    }

    /// All files, in the order in which they were added.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        let text = &self.file(span.file).text;
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Where a span starts: file, line and column from 1, columns counted in characters.
    pub fn location(&self, span: Span) -> Location {
        let file = self.file(span.file);
        let line = file.lines.partition_point(|&start| start <= span.start) - 1;
        let from = file.lines[line] as usize;
        let before = file.text.get(from..span.start as usize).unwrap_or("");
        Location {
            file: file.path.clone(),
            line: line as u32 + 1,
            column: before.chars().count() as u32 + 1,
        }
    }
}
