//! What provisioners of Packer and Terraform run and copy.
//!
//! Source: hashicorp/packer `provisioner/shell/provisioner.go`, `provisioner/file/provisioner.go`;
//! hashicorp/terraform, "Provisioners", `file` and `remote-exec`.

use crate::config::yaml::{Entry, Node, Value};
use crate::lint::form::Form;
use crate::lint::inner::hcl::Reader;
use crate::lint::inner::pieces::Pieces;
use crate::lint::inner::{Inner, heredoc};
use crate::text::Span;

/// Those of a template in JSON.
pub(super) fn texts(root: &Node) -> Vec<Inner<'_>> {
    root.items(&["provisioners"])
        .iter()
        .filter_map(text)
        .collect()
}

/// The script or the file of a provisioner, if nothing is put into it.
pub fn text(provisioner: &Node) -> Option<Inner<'_>> {
    match provisioner.word(&["type"])? {
        "file" => {
            let (path, content) = (
                provisioner.word(&["destination"])?,
                provisioner.get("content")?,
            );
            let is_open = |it: &str| heredoc::has_mark(it.as_bytes());
            let is_plain = !is_open(path) && !is_open(&content.as_scalar()?.text);
            is_plain.then(|| Inner::scalar(path, content)).flatten()
        }
        "shell" | "shell-local" | "remote-exec" => {
            let lines = provisioner.get("inline")?;
            let mut script = Pieces::new(lines);
            for line in lines.as_sequence()? {
                script.scalar(line);
                script.text("\n");
            }
            Some(Inner::made("script.sh", script, Form::Script))
        }
        _ => None,
    }
}

impl Reader<'_> {
    /// The attributes of a provisioner, behind that word, and its type as JSON has it.
    pub(super) fn provisioner(&mut self) -> Option<Node> {
        let start = self.at;
        let kind = self.label()?;
        self.blanks();
        (self.peek()? == b'{').then_some(())?;
        let mut entries = self.block(0)?;
        let span = Span::new(start, self.at);
        entries.push(Entry {
            key: Node::plain(span, "type"),
            value: Node::plain(span, &kind),
        });
        Some(Node {
            span,
            tag: None,
            value: Value::Mapping(entries),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::inner::tests::check;

    #[test]
    fn provisioners_are_opened() {
        let says = |text: &str, expected: &[&str]| check("image.pkr.hcl", text, expected);
        let shell = "build {\n  provisioner \"shell\" {\n    inline = [\n      \"cat > /etc/resolv.conf <<'E'\",\n      \"nameserver 192.0.2.53\",\n      \"E\",\n    ]\n  }\n}\n";
        says(shell, &["nameserver 192.0.2.53 @192.0.2.53"]);
        says(&shell.replace("\"shell\"", "\"powershell\""), &[]);
        let command = "echo nameserver 192.0.2.53 | sudo tee /etc/resolv.conf";
        let printed = format!("provisioner \"shell\" {{\n  inline = [\"{command}\"]\n}}\n");
        says(&printed, &[&format!("nameserver 192.0.2.53 @{command}")]);
        says(&printed.replace("192.0.2.53", "${var.dns}"), &[]);
        let file = "provisioner \"file\" {\n  destination = \"/etc/resolv.conf\"\n  content = <<-E\n    nameserver 192.0.2.53\n  E\n}\n";
        says(file, &["nameserver 192.0.2.53 @<<-E…"]);
        says(&file.replace("192.0.2.53", "${var.dns}"), &[]);
        let json = r#"{"provisioners": [{"type": "shell", "inline": ["cat > /etc/resolv.conf <<'E'", "nameserver 192.0.2.53", "E"]}]}"#;
        check("image.json", json, &["nameserver 192.0.2.53 @192.0.2.53"]);
    }
}
