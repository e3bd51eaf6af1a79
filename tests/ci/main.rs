//! `docs/ci.md`, its files, the action and the hooks: every command is run,
//! every file parsed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod action;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use kdns::config::yaml::{self, Value};
use kdns::text::Source;
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Runs a script with kdns on the PATH.
fn run(script: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_kdns"));
    let mut path = program.parent().unwrap().as_os_str().to_owned();
    path.push(":/usr/bin:/bin");
    Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .current_dir(directory)
        .env_clear()
        .env("PATH", path)
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// A block of the page: the words of its first line, and its text.
fn blocks(page: &str) -> Vec<(Vec<String>, String)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text = lines.by_ref().take_while(|it| *it != "```");
            let text: String = text.map(|it| it.to_owned() + "\n").collect();
            blocks.push((info.split(' ').map(str::to_owned).collect(), text));
        }
    }
    blocks
}

/// `LANGUAGE file PATH` is written, `sh status=N` is run line by line: the last
/// line ends with that status, those before with any but 2.
#[test]
fn the_page_is_true() {
    let repository = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for (info, text) in blocks(&read("docs/ci.md")) {
        let words: Vec<&str> = info.iter().map(String::as_str).collect();
        match words.as_slice() {
            [_, "file", path] => {
                let path = repository.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            ["sh", status] => {
                let expected: i32 = status.strip_prefix("status=").unwrap().parse().unwrap();
                let lines: Vec<&str> = text.lines().collect();
                for (index, line) in lines.iter().enumerate() {
                    let output = run(line, repository.path(), &[]);
                    let status = output.status.code().unwrap();
                    let is_last = index + 1 == lines.len();
                    let is_right = if is_last {
                        status == expected
                    } else {
                        status < 2
                    };
                    // The rule's page is printed whatever was found.
                    let is_page = line.starts_with("kdns rule") && status == 0;
                    assert!(is_right || is_page, "{line}: {status}\n{}", said(&output));
                    commands += 1;
                }
            }
            other => panic!("{other:?} is none of a file and commands"),
        }
    }
    assert!(commands > 9, "{commands}");
}

#[test]
fn links_of_the_page_lead_somewhere() {
    let page = read("docs/ci.md");
    for target in page
        .split("](")
        .skip(1)
        .map(|it| it.split(')').next().unwrap())
    {
        assert!(root().join("docs").join(target).is_file(), "{target}");
    }
}

/// A file's text in plain words, as far as it is needed.
enum Yaml {
    Map(Vec<(String, Self)>),
    List(Vec<Self>),
    Text(String),
}

impl Yaml {
    fn of(path: &str) -> Self {
        let source = Source::new(path, read(path));
        let documents = yaml::documents(&source);
        assert_eq!(documents.len(), 1, "{path}");
        Self::from(documents[0].root.as_ref().unwrap())
    }

    fn from(node: &yaml::Node) -> Self {
        match &node.value {
            Value::Scalar(scalar) => Self::Text(scalar.text.clone()),
            Value::Sequence(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Mapping(entries) => {
                let entries = entries.iter().map(|it| {
                    let Self::Text(key) = Self::from(&it.key) else {
                        panic!("a key is no text");
                    };
                    (key, Self::from(&it.value))
                });
                Self::Map(entries.collect())
            }
        }
    }

    fn at(&self, key: &str) -> &Self {
        self.get(key).unwrap_or_else(|| panic!("no {key}"))
    }

    fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else {
            panic!("no mapping for {key}");
        };
        let mut found = entries.iter().filter(|it| it.0 == key);
        let first = found.next().map(|it| &it.1);
        assert!(found.next().is_none(), "{key} twice");
        first
    }

    fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => panic!("no list"),
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => panic!("no text"),
        }
    }
}

/// A repository with an error, a warning and a name that is hard to quote.
fn repository() -> TempDir {
    let repository = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = repository.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("dns/Corefile", ". {\n    forward . 127.0.0.1\n}\n");
    put("clean/resolv.conf", "nameserver 192.0.2.1\n");
    put(
        "clean/config.yaml",
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nresolvConf: /etc/resolv.conf\n",
    );
    repository
}

#[test]
fn hooks_run() {
    let Yaml::List(hooks) = Yaml::of(".pre-commit-hooks.yaml") else {
        panic!("no list");
    };
    let ids: Vec<&str> = hooks.iter().map(|it| it.at("id").text()).collect();
    let languages: Vec<&str> = hooks.iter().map(|it| it.at("language").text()).collect();
    assert_eq!(languages, ["rust", "system", "script"]);
    let (found, empty) = (repository(), tempfile::tempdir().unwrap());
    let cache = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_kdns");
    let sum = said(&run(&format!("sha256sum {program}"), found.path(), &[]));
    let url = format!("file://{program}");
    let variables = [
        ("KDNS_URL", url.as_str()),
        ("KDNS_SHA256", sum.split(' ').next().unwrap()),
        ("XDG_CACHE_HOME", cache.path().to_str().unwrap()),
    ];
    for (hook, language) in hooks.iter().zip(languages) {
        assert_eq!(hook.at("pass_filenames").text(), "false");
        let mut entry = hook.at("entry").text().to_owned();
        if language == "script" {
            // It lies in the repository of the hooks.
            entry = format!("{}/{entry}", root().display());
        }
        for (directory, status) in [(&found, 1), (&empty, 0)] {
            let ended = run(&entry, directory.path(), &variables);
            assert_eq!(ended.status.code(), Some(status), "{}", said(&ended));
        }
    }
    let config = Yaml::of("docs/ci/pre-commit-config.yaml");
    let wanted = config.at("repos").list()[0].at("hooks").list()[0]
        .at("id")
        .text();
    assert!(ids.contains(&wanted));
}

#[test]
fn examples_of_other_systems_run() {
    let github = Yaml::of("docs/ci/github.yml");
    let steps = github.at("jobs").at("lint").at("steps").list();
    assert_eq!(steps[1].at("uses").text(), "kdns-rs/kdns@main");
    let args = steps[1].at("with").at("args").text();
    let repository = repository();
    let ended = run(&format!("kdns lint {args}"), repository.path(), &[]);
    assert_eq!(ended.status.code(), Some(1));

    let gitlab = Yaml::of("docs/ci/gitlab-ci.yml");
    let job = gitlab.at("kdns");
    let script: Vec<&str> = job.at("script").list().iter().map(Yaml::text).collect();
    let ended = run(&script.join("\n"), repository.path(), &[]);
    assert_eq!(ended.status.code(), Some(1), "{}", said(&ended));
    let artifacts = job.at("artifacts");
    let report = artifacts.at("reports").at("junit").text();
    assert!(repository.path().join(report).is_file());
    let sarif = artifacts.at("paths").list()[0].text();
    assert!(repository.path().join(sarif).is_file());

    let jenkins = read("docs/ci/Jenkinsfile");
    let quoted = |word: &str| {
        let rest = jenkins.split_once(&format!("{word} '")).unwrap().1;
        rest.split('\'').next().unwrap().to_owned()
    };
    let other = self::repository();
    let ended = run(&quoted("sh"), other.path(), &[]);
    assert_eq!(ended.status.code(), Some(1), "{}", said(&ended));
    assert!(other.path().join(quoted("junit")).is_file());
}

/// `make` is not everywhere: its lines are run as it would.
#[test]
fn lines_of_the_makefile_run() {
    let makefile = read("docs/ci/Makefile");
    let lines = makefile.lines().filter_map(|it| it.strip_prefix('\t'));
    let repository = repository();
    let mut count = 0;
    for line in lines {
        let ended = run(&line.replace("$(KDNS)", "kdns"), repository.path(), &[]);
        assert_eq!(ended.status.code(), Some(1), "{line}: {}", said(&ended));
        count += 1;
    }
    assert_eq!(count, 2);
}
