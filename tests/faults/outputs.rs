//! Where `--output` cannot be written.

use libtest_mimic::Trial;

use crate::lab::script;
use crate::root::trial;

pub(crate) fn trials() -> Vec<Trial> {
    let needs = ["unshare", "mount", "sh"];
    vec![
        trial("outputs::full disk", &needs, full_disk),
        trial("outputs::read-only /tmp", &needs, read_only_tmp),
        trial("outputs::full disk and --fix", &needs, full_disk_and_fix),
        trial("outputs::closed pipe", &needs, closed_pipe),
    ]
}

const FULL: &str = r#"
disk=$(mktemp -d)
mount -t tmpfs -o size=64k full "$disk"
trap 'umount "$disk"; rmdir "$disk"' EXIT
echo before > "$disk/report"
head -c ${FILL:-60000} /dev/zero > "$disk/filler"
"#;

/// What was there stays, nothing is left beside it.
fn full_disk() {
    let text = script(&format!(
        r#"{FULL}
for words in "explain --scenario $DATA/vectors/regressions.jsonl --format jsonl" \
    "lint $DATA/lint-real --format json" "check-loop --root $DATA/nodes/cluster-loop --format sarif"; do
    set +e
    said=$("$KDNS" $words --output "$disk/report" 2>&1)
    echo "$? $said $(head -c 20 "$disk/report") $(ls -A "$disk" | tr '\n' ' ')"
    set -e
done
"#
    ));
    for line in text.lines() {
        assert!(line.starts_with("2 kdns: cannot write /tmp/"), "{text}");
        assert!(line.contains("/report: no space left on device"), "{text}");
        assert!(line.ends_with("before filler report "), "{text}");
    }
    assert_eq!(text.lines().count(), 3, "{text}");
}

fn full_disk_and_fix() {
    let text = script(&format!(
        r#"FILL=40000{FULL}
yes '# A long comment in a file.' | head -c 15000 > "$disk/resolv.conf"
printf 'nameserver 192.0.2.1\noptions ndot:2\nnameserver 192.0.2.1\n' >> "$disk/resolv.conf"
cp "$disk/resolv.conf" /dev/shm/kdns-before
set +e
"$KDNS" lint --fix "$disk/resolv.conf" >/dev/shm/kdns-out 2>&1
status=$?
cmp "$disk/resolv.conf" /dev/shm/kdns-before && echo same $status
tail -1 /dev/shm/kdns-out
ls -A "$disk" | tr '\n' ' '
rm /dev/shm/kdns-before /dev/shm/kdns-out
"#
    ));
    // Nothing to fix is no failure: the file is as it was all the same.
    assert!(text.starts_with("same "), "{text}");
    assert!(text.ends_with("filler report resolv.conf "), "{text}");
}

/// kdns needs no place to write.
fn read_only_tmp() {
    let text = script(
        r#"
mount --bind /tmp /tmp
mount -o remount,bind,ro /tmp
set +e
"$KDNS" explain web --file "$DATA/readme/pod.conf" >/dev/null; echo explain $?
"$KDNS" check-loop --root "$DATA/nodes/cluster-loop" >/dev/null; echo check-loop $?
"$KDNS" lint "$DATA/lint-real" >/dev/null; echo lint $?
"$KDNS" lint "$DATA/lint-real" --output /tmp/report 2>&1; echo output $?
"$KDNS" explain web --file "$DATA/readme/pod.conf" --save-scenario /tmp/s 2>&1 >/dev/null; echo scenario $?
"$KDNS" nsenter $$ -- cat /etc/resolv.conf >/dev/null 2>&1; echo nsenter $?
umount --lazy /tmp
"#,
    );
    let expected = "explain 0\ncheck-loop 1\nlint 1\n\
        kdns: cannot write /tmp/report: read-only file system\noutput 2\n\
        kdns: cannot write /tmp/s: read-only file system\nscenario 2\nnsenter 0\n";
    assert_eq!(text, expected);
}

/// Who reads no more is not told about it.
fn closed_pipe() {
    let text = script(
        r#"
run() { { "$KDNS" "$@"; echo "$? $1" >&3; } 2>&1 | true; }
exec 3>&1
run explain --scenario "$DATA/vectors/regressions.jsonl" --format jsonl
run lint "$DATA/lint-real"
run check-loop --root "$DATA/nodes/cluster-loop" --format json
run schema explain
run rule
run completions bash
"#,
    );
    assert_eq!(
        text,
        "0 explain\n0 lint\n0 check-loop\n0 schema\n0 rule\n0 completions\n"
    );
}
