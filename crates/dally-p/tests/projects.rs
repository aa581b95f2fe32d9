//! Which files a project consists of, and what is said if it cannot be loaded.

use std::fs;
use std::path::{Path, PathBuf};

use dally_p::project;

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    /// Of these files, with the name of the test.
    fn new(test: &str, files: &[(&str, &str)]) -> Folder {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("projects-{test}"));
        let _ = fs::remove_dir_all(&root);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Folder(root)
    }

    /// The files of the project at this path, or what is wrong with it, without the folder.
    fn load(&self, path: &str) -> String {
        let here = format!("{}/", self.0.display());
        let text = match project::load(&[self.0.join(path)]) {
            Ok(loaded) => {
                let files = loaded.sources.files().map(|(_, file)| file.path.clone());
                let files = files.collect::<Vec<_>>().join(" ");
                let warnings = loaded.warnings.into_iter().map(|it| format!("\n{}", it.message));
                files + &warnings.collect::<String>()
            }
            Err(error) => error.to_string(),
        };
        text.replace(&here, "").replace(here.trim_end_matches('/'), ".")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_is_a_project_of_one() {
    let folder = Folder::new("file", &[("a.p", "event a;"), ("b.p", "")]);
    insta::assert_snapshot!(folder.load("a.p"), @"a.p");
}

#[test]
fn a_folder_is_all_source_files_in_it_in_the_order_of_their_paths() {
    let files = [("z.p", ""), ("b/c.p", ""), ("b/a/x.p", ""), ("a.p", ""), ("readme.md", "")];
    let folder = Folder::new("folder", &files);
    insta::assert_snapshot!(folder.load(""), @"a.p b/a/x.p b/c.p z.p");
}

#[test]
fn a_folder_with_one_project_file_is_that_project() {
    let lists = "<Project><InputFiles><PFile>src/b.p</PFile></InputFiles></Project>";
    let files = [("src/a.p", ""), ("src/b.p", ""), ("One.pproj", lists)];
    let folder = Folder::new("folder-project", &files);
    insta::assert_snapshot!(folder.load(""), @"src/b.p");
    let files = [("src/a.p", ""), ("src/b.p", ""), ("One.pproj", lists), ("Two.pproj", lists)];
    let folder = Folder::new("folder-projects", &files);
    insta::assert_snapshot!(folder.load(""), @"src/a.p src/b.p");
}

#[test]
fn a_project_file_lists_files_folders_and_other_projects() {
    let folder = Folder::new(
        "pproj",
        &[
            (
                "main/Main.pproj",
                "<Project>
                   <ProjectName>Main</ProjectName>
                   <InputFiles>
                     <PFile>./PSrc/</PFile>
                     <PFile>PTst\\Test.p</PFile>
                     <PFile>./PSrc/A.p</PFile>
                   </InputFiles>
                   <OutputDir>./Generated/</OutputDir>
                   <Target>CSharp,Coverage</Target>
                   <IncludeProject>../lib/Lib.pproj</IncludeProject>
                   <IncludeProject>../other/Other.pproj</IncludeProject>
                 </Project>",
            ),
            ("main/PSrc/A.p", ""),
            ("main/PSrc/deep/B.p", ""),
            ("main/PTst/Test.p", ""),
            ("main/PTst/Unused.p", ""),
            ("lib/Lib.pproj", "<Project><InputFiles><PFile>L.p</PFile></InputFiles></Project>"),
            ("lib/L.p", ""),
            (
                "other/Other.pproj",
                "<Project><IncludeProject>../lib/Lib.pproj</IncludeProject><IncludeProject>../main/Main.pproj</IncludeProject></Project>",
            ),
        ],
    );
    insta::assert_snapshot!(folder.load("main/Main.pproj"), @"lib/L.p main/PSrc/A.p main/PSrc/deep/B.p main/PTst/Test.p");
}

#[test]
fn what_is_missing_is_named_with_the_line_that_asks_for_it() {
    let folder = Folder::new(
        "missing",
        &[
            (
                "a.pproj",
                "<Project>\n<InputFiles>\n<PFile>src/gone.p</PFile></InputFiles></Project>",
            ),
            ("b.pproj", "<Project>\n<IncludeProject>gone.pproj</IncludeProject></Project>"),
            ("c.pproj", "<Project>\n<PFile>notes.txt</PFile></Project>"),
            (
                "d.pproj",
                "<Project>\n<PFile>gone</PFile>\n<PFile>src</PFile>\n<PFile>notes.txt</PFile>
                 <PFile>Foreign.cs</PFile></Project>",
            ),
            ("src/a.p", ""),
            ("notes.txt", ""),
            ("Foreign.cs", ""),
        ],
    );
    insta::assert_snapshot!(folder.load("gone.p"), @"gone.p: there is no such file or folder");
    insta::assert_snapshot!(folder.load("gone.pproj"), @"gone.pproj: there is no such file or folder");
    insta::assert_snapshot!(folder.load("a.pproj"), @r"
        a.pproj: there is no P source file in it
        help: a.pproj:3: src/gone.p: there is no such file or folder, and is left out
    ");
    insta::assert_snapshot!(folder.load("b.pproj"), @"b.pproj:2: gone.pproj: there is no such file or folder");
    insta::assert_snapshot!(folder.load("c.pproj"), @r"
        c.pproj: there is no P source file in it
        help: c.pproj:2: notes.txt: it is no P source file, and is left out
    ");
    insta::assert_snapshot!(folder.load("d.pproj"), @r"
        src/a.p
        d.pproj:2: gone: there is no such file or folder, and is left out
        d.pproj:4: notes.txt: it is no P source file, and is left out
    ");
    insta::assert_snapshot!(folder.load("notes.txt"), @r#"
        notes.txt: it is no P source file
        help: source files end with `.p`
    "#);
}

#[test]
fn a_project_without_source_files_says_so() {
    let folder = Folder::new(
        "empty",
        &[
            ("readme.md", ""),
            ("a.pproj", "<Project><ProjectName>A</ProjectName></Project>"),
            ("b.pproj", "<Project><PFile>empty</PFile></Project>"),
            ("c.pproj", "<Project>\n<PFile> </PFile></Project>"),
            ("empty/readme.md", ""),
        ],
    );
    insta::assert_snapshot!(folder.load(""), @r#"
        : there is no P source file in it
        help: source files end with `.p`
    "#);
    insta::assert_snapshot!(folder.load("a.pproj"), @r#"
        a.pproj: it lists no source files
        help: write <InputFiles><PFile>./PSrc/</PFile></InputFiles> in <Project>
    "#);
    insta::assert_snapshot!(folder.load("b.pproj"), @r#"
        b.pproj: there is no P source file in it
        help: source files end with `.p`
    "#);
    insta::assert_snapshot!(folder.load("c.pproj"), @"c.pproj:2: <PFile> names nothing");
}

#[test]
fn a_project_file_that_is_no_project_file_says_why() {
    let folder = Folder::new(
        "xml",
        &[
            ("a.pproj", "<Project>\n<InputFiles>\n</Project>"),
            ("b.pproj", "<Solution/>"),
            ("c.pproj", "machine M { }"),
            ("d.pproj", ""),
        ],
    );
    insta::assert_snapshot!(folder.load("a.pproj"), @"a.pproj:3: it is no proper XML: expected 'InputFiles' tag, not 'Project'");
    insta::assert_snapshot!(folder.load("b.pproj"), @"b.pproj:1: expected <Project>, found <Solution>");
    insta::assert_snapshot!(folder.load("c.pproj"), @"c.pproj:1: it is no proper XML: unknown token");
    insta::assert_snapshot!(folder.load("d.pproj"), @"d.pproj:1: it is no proper XML: the document does not have a root node");
}

#[test]
fn a_file_that_is_no_text_says_where() {
    let folder = Folder::new("utf8", &[("a.p", "")]);
    fs::write(folder.0.join("a.p"), b"event a;\nevent \xff;\n").unwrap();
    insta::assert_snapshot!(folder.load("a.p"), @"a.p:2: it is not UTF-8 text");
}

#[test]
fn paths_are_shown_as_they_were_given() {
    // Tests run in the folder of their package.
    let sources = project::load(&["./tests/../tests/projects"]).unwrap().sources;
    let paths: Vec<_> = sources.files().map(|(_, file)| file.path.as_str()).collect();
    assert_eq!(paths, ["tests/projects/one.p"]);
}

#[test]
fn files_of_included_projects_are_marked_unless_they_are_listed_too() {
    let lib = "<Project><InputFiles><PFile>L.p</PFile><PFile>M.p</PFile></InputFiles></Project>";
    let main = "<Project><IncludeProject>lib/Lib.pproj</IncludeProject>
        <InputFiles><PFile>A.p</PFile><PFile>lib/M.p</PFile></InputFiles></Project>";
    let files = [
        ("Main.pproj", main),
        ("A.p", ""),
        ("lib/Lib.pproj", lib),
        ("lib/L.p", ""),
        ("lib/M.p", ""),
    ];
    let folder = Folder::new("included", &files);
    let sources = project::load(&[folder.0.join("Main.pproj")]).unwrap().sources;
    let included: Vec<bool> = sources.files().map(|(_, file)| file.included).collect();
    assert_eq!(included, [false, true, false]);
}

#[test]
fn hidden_files_and_folders_are_no_part_of_a_project() {
    let files =
        [("a.p", ""), ("._a.p", "no P"), (".git/b.p", "no P"), ("src/.#c.p", ""), ("src/d.p", "")];
    let folder = Folder::new("hidden", &files);
    insta::assert_snapshot!(folder.load(""), @"a.p src/d.p");
}

#[test]
fn projects_include_each_other_by_paths_from_their_folder_or_from_that_of_the_first() {
    let main = "<Project><InputFiles><PFile>A.p</PFile></InputFiles>
        <IncludeProject>lib/Lib.pproj</IncludeProject></Project>";
    // The reference is called where Main.pproj is, and takes all paths from there.
    let lib = "<Project><InputFiles><PFile>L.p</PFile></InputFiles>
        <IncludeProject>base/Base.pproj</IncludeProject></Project>";
    let base = "<Project><InputFiles><PFile>B.p</PFile></InputFiles>
        <IncludeProject>../Main.pproj</IncludeProject></Project>";
    let files = [
        ("Main.pproj", main),
        ("A.p", ""),
        ("lib/Lib.pproj", lib),
        ("lib/L.p", ""),
        ("base/Base.pproj", base),
        ("base/B.p", ""),
    ];
    let folder = Folder::new("each-other", &files);
    insta::assert_snapshot!(folder.load("Main.pproj"), @"A.p base/B.p lib/L.p");
    insta::assert_snapshot!(folder.load("lib/Lib.pproj"), @"lib/Lib.pproj:2: lib/base/Base.pproj: there is no such file or folder");
}

#[test]
fn several_paths_make_one_project() {
    let folder = Folder::new("several", &[("a.p", ""), ("b.p", ""), ("src/c.p", ""), ("d.p", "")]);
    let paths = ["b.p", "a.p", "src"].map(|path| folder.0.join(path));
    let files: Vec<bool> =
        project::load(&paths).unwrap().sources.files().map(|f| f.1.included).collect();
    assert_eq!(files, [false; 3]);
}
