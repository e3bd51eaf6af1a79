//! Others change files while kdns writes them: nothing outside is written, and
//! nothing of theirs is lost.

use std::fs::{self, File, Permissions};
use std::hint::spin_loop;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kdns::host::write::{self, Others, WriteError};
use libtest_mimic::Trial;

use crate::lab::behind;
use crate::writer::{anywhere, folder, names};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        anywhere("races::a file that is replaced", races),
        anywhere("races::lint --fix", fix_in_a_race),
    ]
}

const OLD: &str = "nameserver 192.0.2.1\n";
const NEW: &str = "nameserver 192.0.2.2\noptions ndots:2\n";
const THEIRS: &str = "nameserver 192.0.2.3 # theirs\n";
const OUTSIDE: &str = "nameserver 192.0.2.1\n";

/// What somebody else does to `tree/sub/resolv.conf` meanwhile.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// Puts another file there.
    Renames,
    /// Empties the file and writes it anew.
    Rewrites,
    /// Adds a line.
    Appends,
    /// Writes over the first bytes.
    WritesIn,
    /// Puts two files there, one after the other.
    RenamesTwice,
    /// Removes it.
    Removes,
    /// Puts a link to a file outside there.
    Links,
    /// Puts a link to a directory outside in the place of the file's.
    LinksDirectory,
    /// Lets nobody else read it.
    ChangesMode,
}

impl Other {
    const ALL: [Self; 9] = [
        Self::Renames,
        Self::Rewrites,
        Self::Appends,
        Self::WritesIn,
        Self::RenamesTwice,
        Self::Removes,
        Self::Links,
        Self::LinksDirectory,
        Self::ChangesMode,
    ];

    fn act(self, folder: &Path) {
        let sub = folder.join("tree/sub");
        let file = sub.join("resolv.conf");
        let put = |content: &str| {
            fs::write(folder.join("tree/edit"), content).unwrap();
            fs::rename(folder.join("tree/edit"), &file).unwrap();
        };
        match self {
            Self::Renames => put(THEIRS),
            Self::Rewrites => fs::write(&file, THEIRS).unwrap(),
            Self::Appends => {
                let mut opened = File::options().append(true).open(&file).unwrap();
                opened.write_all(THEIRS.as_bytes()).unwrap();
            }
            Self::WritesIn => {
                let mut opened = File::options().write(true).open(&file).unwrap();
                opened.write_all(b"#").unwrap();
            }
            Self::RenamesTwice => {
                put("first\n");
                put(THEIRS);
            }
            Self::Removes => fs::remove_file(&file).unwrap(),
            Self::Links => {
                symlink("../../outside/resolv.conf", folder.join("tree/link")).unwrap();
                fs::rename(folder.join("tree/link"), &file).unwrap();
            }
            Self::LinksDirectory => {
                fs::rename(&sub, folder.join("tree/moved")).unwrap();
                symlink("../outside", &sub).unwrap();
            }
            Self::ChangesMode => {
                fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            }
        }
    }

    /// Whether it opens the file that is there.
    const fn writes_in_place(self) -> bool {
        matches!(self, Self::Rewrites | Self::Appends | Self::WritesIn)
    }

    /// What the file can be in the end, where both have done their work, or
    /// only the other one.
    fn ends(self) -> Vec<String> {
        match self {
            Self::Renames | Self::Rewrites | Self::RenamesTwice => vec![THEIRS.to_owned()],
            Self::Appends => vec![format!("{OLD}{THEIRS}"), format!("{NEW}{THEIRS}")],
            Self::WritesIn => [OLD, NEW]
                .map(|it| it.replacen(|_: char| true, "#", 1))
                .to_vec(),
            // What was put back before it was removed is still there.
            Self::Removes => vec![String::new(), OLD.to_owned()],
            Self::Links | Self::LinksDirectory => vec![OUTSIDE.to_owned()],
            Self::ChangesMode => vec![OLD.to_owned(), NEW.to_owned()],
        }
    }
}

/// So many tries for each kind, by each of so many pairs of threads: who
/// replaces a file waits a moment, and the others go on.
const TRIES: usize = 40;
const PAIRS: u64 = 10;

/// Who opened the file before kdns looked at it, and writes when it has ended, writes to
/// a file that has no name any more. Nothing that a program may do without being asked
/// shows such a holder (a lease, `F_SETLEASE`, would); of so many tries one may be so late.
const ONE_LATE_IN: usize = 200;

/// How often somebody was so late.
static LATE: AtomicUsize = AtomicUsize::new(0);

/// Thousands of times somebody changes the file at any moment of its being
/// replaced.
fn races() {
    let mut met = 0;
    for other in Other::ALL {
        let results: Vec<Result<(), WriteError>> = thread::scope(|scope| {
            let pairs = (1..=PAIRS).map(|pair| scope.spawn(move || tries(other, pair)));
            let pairs: Vec<_> = pairs.collect();
            let joined = pairs.into_iter().map(|it| it.join().unwrap());
            joined.flatten().collect()
        });
        let count = |is: fn(&WriteError) -> bool| {
            let errors = results.iter().filter_map(|it| it.as_ref().err());
            errors.filter(|it| is(it)).count()
        };
        let left = count(|it| !matches!(it, WriteError::Restless(_)));
        let aside = count(|it| matches!(it, WriteError::Restless(_)));
        let replaced = results.len() - left - aside;
        let figures = format!("replaced {replaced}, left {left}, kept aside {aside}");
        assert!(replaced > 0, "{other:?}: always in the way: {figures}");
        met += left;
    }
    assert!(met > 100, "{met}: the others were hardly ever in time");
    let late = LATE.load(Ordering::SeqCst);
    let tries = Other::ALL.len() * TRIES * usize::try_from(PAIRS).unwrap();
    assert!(late <= tries / ONE_LATE_IN, "{late} of {tries}: too late");
}

fn tries(other: Other, pair: u64) -> Vec<Result<(), WriteError>> {
    let mut seed = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let next = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let spins = usize::try_from(seed >> 33).unwrap() % 60_000;
        race(other, spins)
    };
    (0..TRIES).map(next).collect()
}

fn race(other: Other, spins: usize) -> Result<(), WriteError> {
    let folder = folder();
    let path = folder.path();
    let file = path.join("tree/sub/resolv.conf");
    for (directory, content) in [("tree/sub", OLD), ("outside", OUTSIDE)] {
        fs::create_dir_all(path.join(directory)).unwrap();
        fs::write(path.join(directory).join("resolv.conf"), content).unwrap();
    }
    let ready = AtomicUsize::new(0);
    let meet = || {
        ready.fetch_add(1, Ordering::SeqCst);
        while ready.load(Ordering::SeqCst) < 2 {
            thread::yield_now();
        }
    };
    let result = thread::scope(|scope| {
        scope.spawn(|| {
            meet();
            for _ in 0..spins {
                spin_loop();
            }
            other.act(path);
        });
        meet();
        write::replace(&file, OLD.as_bytes(), NEW.as_bytes(), Others::Refused)
    });
    let about = format!("{other:?} after {spins}: {result:?}");
    let outside = fs::read_to_string(path.join("outside/resolv.conf")).unwrap();
    assert_eq!(outside, OUTSIDE, "{about}: outside was written");
    assert_eq!(names(&path.join("outside")), ["resolv.conf"], "{about}");
    let end = fs::read_to_string(&file).unwrap_or_default();
    let is_aside = matches!(result, Err(WriteError::Restless(_)));
    let home = path.join("tree/moved");
    let home = if home.is_dir() {
        home
    } else {
        path.join("tree/sub")
    };
    let beside = names(&home).into_iter().filter(|it| it != "resolv.conf");
    let beside: Vec<String> = beside.collect();
    assert_eq!(beside.len(), usize::from(is_aside), "{about}: {beside:?}");
    if is_aside {
        // Nothing is lost: it is here or there.
        let kept = fs::read_to_string(home.join(&beside[0])).unwrap();
        assert!(
            end.contains('#') || kept.contains('#'),
            "{about}: {end} {kept}"
        );
    } else if other.writes_in_place() && result.is_ok() && end == NEW {
        LATE.fetch_add(1, Ordering::SeqCst);
    } else {
        assert!(other.ends().contains(&end), "{about}: {end:?}");
    }
    if matches!(other, Other::ChangesMode) {
        let mode = fs::metadata(&file).unwrap().mode() & 0o777;
        assert_eq!(mode, 0o600, "{about}");
    }
    result
}

/// The program itself, while its file is edited and its directory exchanged.
fn fix_in_a_race() {
    const RUNS: usize = 60;
    let folder = folder();
    let path = folder.path();
    let bad = |n: usize| format!("nameserver 192.0.2.1\nnameserver 192.0.2.1\n# {n}\n");
    let fixed = |n: usize| format!("nameserver 192.0.2.1\n# {n}\n");
    fs::create_dir_all(path.join("tree/sub")).unwrap();
    fs::create_dir_all(path.join("outside")).unwrap();
    fs::write(path.join("outside/resolv.conf"), bad(0)).unwrap();
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut n = 0;
            while done.load(Ordering::SeqCst) == 0 {
                n += 1;
                fs::write(path.join("edit"), bad(n)).unwrap();
                fs::rename(path.join("edit"), path.join("tree/sub/resolv.conf")).unwrap();
                thread::yield_now();
                fs::rename(path.join("tree/sub"), path.join("moved")).unwrap();
                symlink("../outside", path.join("tree/sub")).unwrap();
                thread::yield_now();
                fs::remove_file(path.join("tree/sub")).unwrap();
                fs::rename(path.join("moved"), path.join("tree/sub")).unwrap();
                // What kdns had made of an older version is there until it has seen
                // what it put it over, and put that back.
                let is_there = || {
                    let last = fs::read_to_string(path.join("tree/sub/resolv.conf")).unwrap();
                    [bad(n), fixed(n)].contains(&last)
                };
                let end = Instant::now() + Duration::from_secs(20);
                while !is_there() {
                    assert!(Instant::now() < end, "version {n} is lost");
                    thread::yield_now();
                }
            }
        });
        for _ in 0..RUNS {
            let tree = path.join("tree").display().to_string();
            let ended = behind(&[], &["lint", "--fix", "--allow-empty", &tree]);
            ended.is_clear("lint --fix");
        }
        done.store(1, Ordering::SeqCst);
    });
    let outside = fs::read_to_string(path.join("outside/resolv.conf")).unwrap();
    assert_eq!(outside, bad(0));
    assert_eq!(names(&path.join("outside")), ["resolv.conf"]);
}
