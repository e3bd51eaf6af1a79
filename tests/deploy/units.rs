//! systemd's units, by systemd.

use std::fs;
use std::process::Command;

use crate::{KDNS, Outcome, deploy, found, output};

const UNITS: [&str; 2] = ["kdns-textfile.service", "kdns-textfile.timer"];

pub(crate) fn verify() -> Outcome {
    let directory = tempfile::tempdir().unwrap();
    let mut verify = Command::new(found("systemd-analyze").unwrap());
    verify.args(["verify", "--man=no"]);
    for name in UNITS {
        let text = fs::read_to_string(deploy("textfile").join(name)).unwrap();
        // It wants the program to be there.
        let text = text.replace("=/usr/bin/kdns ", &format!("={KDNS} "));
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        verify.arg(path);
    }
    output(&mut verify)?;
    let said = String::from_utf8_lossy(&verify.output().unwrap().stderr).into_owned();
    let about_ours = |line: &&str| UNITS.iter().any(|it| line.contains(it));
    let complaints: Vec<&str> = said.lines().filter(about_ours).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    runs_as_it_says()
}

/// The command of the unit, on a node with a loop.
fn runs_as_it_says() -> Outcome {
    let text = fs::read_to_string(deploy("textfile/kdns-textfile.service")).unwrap();
    let line = text
        .lines()
        .find_map(|it| it.strip_prefix("ExecStart="))
        .unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kdns.prom");
    let node = crate::root().join("testdata/nodes/cluster-loop");
    let words = line.split(' ').skip(1).map(|word| {
        let is_file = word.starts_with("/var/lib/");
        if is_file {
            file.as_os_str()
        } else {
            word.as_ref()
        }
    });
    output(Command::new(KDNS).args(words).arg("--root").arg(node))?;
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.contains("verdict=\"loop\"} 1"), "{written}");
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    Ok(())
}
