//! Texts and objects in Terraform's files: heredocs that say what they are, and
//! what `yamlencode`, `jsonencode` and a `manifest` make.
//!
//! Source: hashicorp/terraform, "Strings and Templates" and `yamlencode`;
//! hashicorp/terraform-provider-helm `helm_release`: `values`;
//! hashicorp/terraform-provider-kubernetes `kubernetes_manifest`: `manifest`. Its other
//! resources are in `resource`.

use crate::config::yaml::Node;
use crate::lint::embedded::Layer;
use crate::lint::form::Form;
use crate::lint::inner::hcl::{Heredoc, Reader};
use crate::lint::inner::heredoc::{self, Written};
use crate::lint::recognise;
use crate::text::Span;

/// What stands in a file of Terraform.
#[derive(Clone, Debug)]
pub enum Held {
    /// A text.
    Text(Written),
    /// An object, as it is encoded, and whether it can have more than this.
    Object(Node, bool),
    /// A provisioner: [`crate::lint::inner::provisioner::text`].
    Provisioner(Node),
}

/// The texts and objects of a file. Total: any bytes give a result.
pub fn held(bytes: &[u8]) -> Vec<Held> {
    let mut held = Vec::new();
    let mut reader = Reader::new(bytes);
    // The last attribute: `values = [`.
    let mut attribute: &[u8] = b"";
    let mut word: &[u8] = b"";
    // What stands before this was read as a block: no block in it is tried by itself.
    let mut tried = 0;
    while let Some(byte) = reader.peek() {
        if reader.comment() {
            continue;
        }
        match byte {
            // Behind a text without an end nothing can be told.
            // A key of a map can be quoted: `"Corefile" = <<EOT`.
            b'"' => match reader.quoted() {
                Some(found) => word = found,
                None => break,
            },
            b'<' if reader.rest().starts_with(b"<<") => match reader.heredoc() {
                Some(found) => held.extend(text(bytes, &found, attribute).map(Held::Text)),
                None => break,
            },
            b'(' | b'=' if is_of_object(byte, word) && reader.at >= tried => {
                reader.at += 1;
                let mut inside = Reader { ..reader };
                inside.is_partial = false;
                let value = inside.value(0);
                tried = inside.at;
                if is_object(&value, bytes) {
                    reader.at = tried;
                    held.push(Held::Object(value, inside.is_partial));
                }
            }
            b'=' => {
                attribute = word;
                reader.at += 1;
                held.extend(flags(&reader, attribute).map(Held::Text));
            }
            it if it.is_ascii_alphanumeric() || it == b'_' => {
                word = reader.word();
                if word == b"provisioner" {
                    held.extend(provisioner(&mut reader));
                }
                if matches!(word, b"module" | b"resource") && reader.at >= tried {
                    let mut inside = Reader { ..reader };
                    held.extend(block(&mut inside, word == b"module"));
                    tried = inside.at;
                }
            }
            _ => reader.at += 1,
        }
    }
    held
}

/// The flags of a kubelet in an attribute of a module, as a script has them.
///
/// Source: terraform-aws-modules/terraform-aws-eks v17.24.0 `local.tf`: `kubelet_extra_args`;
/// v20.0.0 `modules/_user_data/variables.tf`: `bootstrap_extra_args`.
fn flags(reader: &Reader<'_>, attribute: &[u8]) -> Option<Written> {
    let before: &[u8] = match attribute {
        b"kubelet_extra_args" => b"kubelet ",
        b"bootstrap_extra_args" => b"/etc/eks/bootstrap.sh ",
        _ => return None,
    };
    let mut reader = Reader { ..*reader };
    reader.blanks();
    (reader.peek()? == b'"').then_some(())?;
    let start = reader.at + 1;
    let value = reader.quoted()?;
    let is_plain = recognise::has_subject(value) && !value.contains(&b'\\');
    let span = Span::new(start, start + value.len());
    is_plain.then(|| Written {
        path: "script.sh".to_owned(),
        form: Form::Script,
        bytes: [before, value].concat(),
        layer: heredoc::layer_of(span, &[(before.len(), span)]),
        is_open: heredoc::has_mark(value),
        is_partial: false,
        is_final: false,
    })
}

/// The object of a module or of a resource, behind its word.
fn block(reader: &mut Reader<'_>, is_module: bool) -> Option<Held> {
    let object = if is_module {
        let object = reader.module();
        object.filter(|it| is_object(it, reader.bytes))
    } else {
        reader.resource().filter(|it| it.get("spec").is_some())
    };
    object.map(|it| Held::Object(it, is_module))
}

/// A provisioner, of which the reader is behind the word.
fn provisioner(reader: &mut Reader<'_>) -> Option<Held> {
    let mut inside = Reader { ..*reader };
    let found = inside.provisioner()?;
    *reader = inside;
    Some(Held::Provisioner(found))
}

/// Whether an object stands behind this.
fn is_of_object(byte: u8, word: &[u8]) -> bool {
    match byte {
        b'(' => matches!(word, b"yamlencode" | b"jsonencode"),
        _ => word == b"manifest",
    }
}

fn is_object(value: &Node, bytes: &[u8]) -> bool {
    value.as_scalar().is_none() && recognise::has_subject(value.span.slice(bytes))
}

/// The text of a heredoc, if it says what it is.
fn text(bytes: &[u8], found: &Heredoc, attribute: &[u8]) -> Option<Written> {
    let text = found.unindented(bytes);
    let (written, runs) = &text;
    let is_chart = attribute == b"values" && memchr::memmem::find(written, b"plugins:").is_some();
    let is_corefile = attribute.to_ascii_lowercase().ends_with(b"corefile");
    if !is_chart && !is_corefile && !recognise::has_subject(written) {
        return None;
    }
    let begins = |words: &[&[u8]]| {
        let text = written.trim_ascii_start();
        words.iter().any(|it| text.starts_with(it))
    };
    let has_line = |word: &[u8]| {
        let mut lines = written.split(|&it| it == b'\n');
        lines.any(|it| it.starts_with(word))
    };
    let (path, form) = if begins(&[b"#!"]) {
        ("script.sh", Form::Script)
    } else if begins(&[b"MIME-Version:", b"Content-Type: multipart/"]) {
        ("user-data", Form::Mime)
    } else if begins(&[b"#cloud-config", b"variant:"]) {
        ("user-data.yaml", Form::Yaml)
    } else if has_line(b"apiVersion:") && has_line(b"kind:") {
        ("manifest.yaml", Form::Yaml)
    } else if is_corefile {
        ("Corefile", Form::Corefile)
    } else if attribute == b"values" {
        ("values.yaml", Form::Yaml)
    } else {
        return None;
    };
    let is_open = heredoc::has_mark(written);
    // What is written only under a condition is not known; of YAML the rest is.
    let has_directive = memchr::memmem::find(written, b"%{").is_some();
    let layer = match runs.as_slice() {
        [(0, span)] if *span == found.body && !is_open => Layer::slice(found.body),
        runs => heredoc::layer_of(found.whole, runs),
    };
    (!has_directive || matches!(form, Form::Yaml | Form::Corefile)).then(|| Written {
        path: path.to_owned(),
        form,
        bytes: written.clone(),
        layer,
        is_open,
        is_partial: is_open && form == Form::Corefile,
        is_final: false,
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::inner::tests::check;

    #[test]
    fn values_in_terraform_are_opened() {
        let says = |text: &str, expected: &[&str]| check("main.tf", text, expected);
        let chart = "values = [yamlencode({ servers = [{ zones = [{ zone = \".\" }], plugins = [{ name = \"forward\", parameters = \". 10.0.0.53\" }, { name = var.configBlock }] }] })]\n";
        says(chart, &["forward 10.0.0.53 @10.0.0.53"]);
        let heredoc = "values = [<<-E\n    # ${x}\n    servers:\n    - plugins:\n      - name: forward\n        parameters: . 10.0.0.53 # coredns\n  E\n]\n";
        says(heredoc, &["forward 10.0.0.53 @10.0.0.53"]);
        let data = "user_data = <<E\n#!/bin/sh\ncat > /etc/resolv.conf <<'X'\nnameserver 10.0.0.53\nX\nE\n";
        says(data, &["nameserver 10.0.0.53 @10.0.0.53"]);
        says(&data.replace("10.0.0.53", "${var.dns}"), &[]);
        let map = "coredns_corefile = <<-E\n  apiVersion: v1\n  kind: ConfigMap\n  data:\n    Corefile: |\n      . {\n        forward . 10.0.0.53\n      }\n  E\n";
        says(map, &["forward 10.0.0.53 @10.0.0.53"]);
        let corefile = "corefile = <<E\n. {\n  forward . 10.0.0.53\n}\nE\n";
        for text in [
            format!("coredns_{corefile}"),
            format!("addon_name = \"coredns\"\nx = jsonencode({{\n{corefile}}})\n"),
            format!("module \"x\" {{\ncoredns = {{\n{corefile}}}\ndns_policy = \"Default\"\n}}\n"),
        ] {
            says(&text, &["forward 10.0.0.53 @10.0.0.53"]);
        }
        let flags = "module \"eks\" {\n  kubelet_extra_args = \"--resolv-conf=/a\"\n}\n";
        let found = &["Cluster ResolvConf /a @/a"];
        says(flags, found);
        says(&flags.replace("/a", "${var.a}"), &[]);
        let words = "\"--x y --kubelet-extra-args '--resolv-conf=/a'\"";
        let module = format!("module \"eks\" {{\n  bootstrap_extra_args = {words}\n}}\n");
        says(&module, found);
        says(&module.replace("bootstrap_extra", "other"), &[]);
        let map = "kind = \"KubeletConfiguration\", apiVersion = \"kubelet.config.k8s.io/v1beta1\", resolvConf = \"/a\"";
        let found = &["Configuration ResolvConf /a @\"/a\""];
        says(&format!("x = jsonencode({{{map}}})\n"), found);
        says(&format!("manifest = {{{map}}}\n"), found);
        says(&format!("x = jsonencode(merge({{{map}}}, y))\n"), &[]);
        says(
            &format!("x = yamlencode(merge({{{map}}}, {{a = 1}}))\n"),
            found,
        );
        let other = "kind = \"KubeletConfiguration\", resolvConf = \"/b\"";
        says(
            &format!("x = yamlencode(merge({{{other}}}, {{{map}}},))\n"),
            found,
        );
        let found = &["Cluster ResolvConf /a @\"/a\""];
        says(&format!("x = yamlencode(merge(var.y, {{{map}}}))\n"), found);
        says("x = yamlencode(merge({resolvConf", &[]);
        says(
            &format!("x = jsonencode({{for k in y : k => {{{map}}}}})\n"),
            &[],
        );
        says(&format!("# x = jsonencode({{{map}}})\n/* {map}"), &[]);
        says("x = jsonencode({resolvConf = \"", &[]);
        says(
            &format!("x = jsonencode({}resolvConf", "[".repeat(10_000)),
            &[],
        );
    }

    #[test]
    fn long_scripts_cost_little() {
        let heads = "cat <<A > /etc/resolv.conf\n".repeat(40_000);
        check("a.sh", &heads, &[]);
        check("a.tf", &heads.replace("<<A >", "<<A\n"), &[]);
        check("b.tf", &"jsonencode({resolv.conf=[".repeat(40_000), &[]);
        check("c.tf", &"jsonencode(\"${resolv.conf".repeat(40_000), &[]);
        check(
            "d.tf",
            &format!("jsonencode([{}", "<<A\nresolv.conf".repeat(40_000)),
            &[],
        );
        let module = "module \"x\" {\n dns_policy = [\n".repeat(40_000);
        check("e.tf", &module, &[]);
        check(
            "f.tf",
            &module.replace("module", "resource \"kubernetes_pod\""),
            &[],
        );
        let many = format!(
            "cat {} resolv.conf\n{}",
            "<<A".repeat(100_000),
            "A\n".repeat(100_000)
        );
        check("b.sh", &many, &[]);
    }
}
