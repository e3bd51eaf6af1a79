//! What files are known by.

use super::*;

#[test]
fn templates_are_known_by_the_name_before_their_ending() {
    for (path, expected) in [
        ("a/worker.yaml.tpl", true),
        ("values.yaml.gotmpl", true),
        ("stack.template", true),
        ("vault.env.template", false),
        ("nginx.conf.template", false),
        ("notes.tpl", false),
        ("a.yaml/notes", false),
    ] {
        assert_eq!(is_yaml(path, b""), expected, "{path}");
    }
}

#[test]
fn programs_logs_and_settings_of_tools_are_none_of_ours() {
    for (path, expected) in [
        ("a/values.schema.k", false),
        ("kubernetes.gen.cue", false),
        ("logs/app.log", false),
        (".circleci/config.yml", false),
        (".github/config.yml", true),
        ("k", true),
    ] {
        assert_eq!(can_be(path), expected, "{path}");
    }
    let script = b"#!/usr/bin/env python3\napiVersion: v1\n# containers\n";
    assert_eq!(form("sync", script, false), None);
    assert_eq!(form("sync.yaml", script, false), Some(Form::Yaml));
    // Of Kustomize and Talos, and of Git.
    let patch = b"apiVersion: v1\nkind: Pod\nspec: {containers: []}\n";
    assert_eq!(form("a.patch", patch, false), Some(Form::Yaml));
    let diff = b"--- /dev/null\n+++ b/a.yaml\n+apiVersion: v1\n+spec: {containers: []}\n";
    assert_eq!(form("a.patch", diff, false), None);
}

#[test]
fn what_can_be_wrong_on_purpose_need_not_be_yaml() {
    for (path, expected) in [
        ("invalid/values.yaml", true),
        ("values.yaml", true),
        ("values.yaml.tpl", false),
        ("invalid-values.yaml", false),
    ] {
        assert_eq!(must_be_yaml(path), expected, "{path}");
    }
}

#[test]
fn a_resolv_conf_is_read_where_a_template_puts_something_into_comments_alone() {
    for (text, expected) in [
        (
            "# {{ ansible_managed }}\nnameserver 192.0.2.53\n",
            Some(Form::ResolvConf),
        ),
        ("nameserver {{ server }}\nnameserver 192.0.2.53\n", None),
        ("{% if a %}\nnameserver 192.0.2.53\n{% endif %}\n", None),
    ] {
        let found = form("templates/resolv.conf.j2", text.as_bytes(), false);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn words_of_metrics_make_no_long_document_wanted() {
    let document =
        |text: &str| format!("apiVersion: v1\nitems:\n- data:\n    a.json: |-\n      {text}\n");
    let others = [
        r#"{"expr": "kubelet_running_containers{job=\"kubelet\"}"}"#,
        "{}",
    ];
    for text in others {
        assert!(
            !is_wanted_long_document(document(text).as_bytes()),
            "{text}"
        );
    }
    let ours = [
        r#"{"containers": []}"#,
        "containers :",
        "'containers':",
        r#""{\\"containers\\": []}""#,
        "apiVersion: kubeadm.k8s.io/v1beta3",
        "kubelet:",
        r#"{"expr": "containers", "dnsPolicy": "None"}"#,
    ];
    for text in ours {
        assert!(is_wanted_long_document(document(text).as_bytes()), "{text}");
    }
}
