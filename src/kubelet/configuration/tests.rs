use super::*;

const HEAD: &str = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

/// `resolvConf`, `clusterDNS` and `clusterDomain` in short, and remarks
/// without the name of the file.
fn check(role: Role, minor: u32, text: &str, expected: [&str; 3], remarks: &[&str]) {
    let source = Source::new("f", format!("{HEAD}{text}"));
    let version = (minor > 0).then_some(Version::minor(1, minor));
    let found = read_configuration(&source, role, version);
    let keys = [Name::ResolvConf, Name::ClusterDns, Name::ClusterDomain];
    let short = keys.map(|key| match found.setting(key) {
        None => "-".to_owned(),
        Some(Placed { value, place }) => {
            let texts = value
                .as_ref()
                .map_or("default".to_owned(), |it| it.join(","));
            format!("{place} {texts}")
        }
    });
    assert_eq!(short, expected, "{minor} {source:?}");
    let short: Vec<String> = found.remarks.iter().map(short_remark).collect();
    assert_eq!(short, remarks);
    assert_eq!(found.broken, None);
}

fn short_remark(remark: &Remark) -> String {
    match remark {
        Remark::Key { what, .. } => match what {
            KeyRemark::Repeated(key) => format!("{key} again"),
            KeyRemark::InDoubt { key, .. } => format!("{key} in doubt"),
            KeyRemark::OtherKey { key, meant } => format!("{key}: {meant}"),
            KeyRemark::OldDropIn => "old drop-in".to_owned(),
            KeyRemark::Empty => "empty".to_owned(),
        },
        Remark::Refused(Refusal::Type {
            key, found, wanted, ..
        }) => format!("{key}: {found}, not {wanted}"),
        other => format!("{other:?}"),
    }
}

#[test]
fn the_main_file_has_the_documented_keys_only() {
    let text = "resolvConf: /a\nclusterDNS: [10.0.0.1, '::1']\nclusterDomain: x\n";
    check(
        Role::Main,
        30,
        text,
        ["f:3:13 /a", "f:4:14 10.0.0.1,::1", "f:5:16 x"],
        &[],
    );
    let text = "resolverConfig: /a\nclusterdns: [1.1.1.1]\n";
    let remarks = ["resolverConfig: resolvConf", "clusterdns: clusterDNS"];
    check(Role::Main, 30, text, ["-", "-", "-"], &remarks);
    let text = "resolvConf: /a\nresolvConf: /b\nclusterDNS: ~\n";
    let remark = "resolvConf again";
    check(Role::Main, 30, text, ["f:4:13 /b", "-", "-"], &[remark]);
}

#[test]
fn values_of_the_wrong_type_stop_the_kubelet() {
    let text = "resolvConf: 5\nclusterDNS: 10.96.0.10\nclusterDomain: [x]\n";
    let remarks = [
        "resolvConf: a number, not a text",
        "clusterDNS: a text, not a list of texts",
        "clusterDomain: a list, not a text",
    ];
    check(Role::Main, 30, text, ["-", "-", "-"], &remarks);
}

#[test]
fn an_empty_path_counts_since_1_23() {
    let text = "resolvConf: \"\"\n";
    check(Role::Main, 23, text, ["f:3:13 ", "-", "-"], &[]);
    check(Role::Main, 0, text, ["f:3:13 ", "-", "-"], &[]);
    check(Role::Main, 22, text, ["-", "-", "-"], &["empty"]);
}

#[test]
fn drop_ins_had_other_keys_until_1_31() {
    let text = "resolvConf: /a\nresolverConfig: /b\nClusterDNS: []\nclusterDomain: ~\n";
    let ignored = "old drop-in";
    check(
        Role::DropIn,
        31,
        text,
        ["f:4:17 /b", "f:5:13 ", "-"],
        &[ignored],
    );
    let remarks = ["resolverConfig: resolvConf", "ClusterDNS: clusterDNS"];
    check(
        Role::DropIn,
        32,
        text,
        ["f:3:13 /a", "-", "f:6:16 default"],
        &remarks,
    );
}

#[test]
fn without_a_version_the_newest_is_meant_and_doubt_is_told() {
    let text = "resolverConfig: /b\n";
    let doubt = ["resolverConfig in doubt"];
    check(Role::DropIn, 0, text, ["f:3:17 /b", "-", "-"], &doubt);
    let text = "resolvConf: /a\nresolverConfig: /b\n";
    let remarks = ["resolvConf in doubt", "resolverConfig: resolvConf"];
    check(Role::DropIn, 0, text, ["f:3:13 /a", "-", "-"], &remarks);
}

#[test]
fn many_repeats_are_told_of_but_not_all() {
    let text = "resolvConf: /a\n".repeat(20_000);
    let source = Source::new("f", text);
    let found = read_configuration(&source, Role::Main, None);
    assert_eq!(found.remarks.len(), MAX_REMARKS);
    assert_eq!(found.setting(Name::ResolvConf).unwrap().place.line, 20_000);
}

#[test]
fn what_is_no_yaml_is_broken_and_what_has_no_kind_is_told() {
    let read = |text: &str| {
        let source = Source::new("f", text);
        read_configuration(&source, Role::Main, None)
    };
    assert!(read("a: [").broken.is_some());
    let empty = Refusal::Empty("f".to_owned());
    assert_eq!(read("").remarks, [Remark::Refused(empty)]);
    let found = read("resolvConf: /a\n");
    assert_eq!(found.remarks.len(), 1);
    assert_eq!(found.settings[0].1.value, Some(vec!["/a".to_owned()]));
    let shown = read("{\"kubeletconfig\": {\"resolvConf\": \"/a\"}}");
    assert_eq!(shown.settings[0].1.place.to_string(), "f:1:34");
    assert_eq!(shown.remarks, []);
    let second = read(&format!(
        "kind: ClusterConfiguration\n---\n{HEAD}clusterDomain: x\n"
    ));
    assert_eq!(second.settings[0].1.place.line, 5);
}
