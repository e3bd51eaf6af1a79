//! The files that tasks of Ansible write, but templates, and the lines that they put
//! into others.
//!
//! Source: ansible/ansible `lib/ansible/modules/copy.py`, `shell.py`, `lineinfile.py`, `blockinfile.py`;
//! ansible-collections/community.general `plugins/modules/ini_file.py`.

use crate::config::yaml::{Entry, Kind, Node, Style, Value};
use crate::lint::form::Form;
use crate::lint::inner::objects::mappings;
use crate::lint::inner::pieces::Pieces;
use crate::lint::inner::{Content, Inner, is_plain};
use crate::text::{Span, WordList};

/// The texts of a playbook, or of a list of tasks.
pub(super) fn texts(root: &Node) -> Vec<Inner<'_>> {
    mappings(root).into_iter().filter_map(text).collect()
}

fn text(task: &Node) -> Option<Inner<'_>> {
    if let Some(copy) = module(task, "ansible.builtin", "copy") {
        let content = copy.get("content")?;
        return Some(Inner {
            is_open: !is_plain(content),
            is_of_task: true,
            ..Inner::scalar(path(copy)?, content)?
        });
    }
    if let Some(shell) = module(task, "ansible.builtin", "shell") {
        let script = shell.get("cmd").unwrap_or(shell);
        let inner = Inner::scalar("script.sh", script).filter(|_| is_plain(script))?;
        return Some(inner.of_form(Form::Script));
    }
    let added = |name, key| Some((module(task, "ansible.builtin", name)?, key));
    let part = match added("lineinfile", "line").or_else(|| added("blockinfile", "block")) {
        Some((module, key)) => {
            // What it puts in from what was there is not known.
            let is_whole = module.get("backrefs").and_then(Node::kind) != Some(Kind::Bool(true));
            let line = plain(module, key).filter(|_| is_whole && is_there(module))?;
            Inner::scalar(path(module)?, line)?
        }
        None => entry(module(task, "community.general", "ini_file")?)?,
    };
    Some(Inner {
        is_part: true,
        ..part
    })
}

/// The modules whose arguments are read.
const MODULES: WordList = WordList("copy lineinfile blockinfile ini_file");

/// Writes the arguments of modules that stand in one text as a mapping: `path=/a line='b c'`.
///
/// Source: ansible/ansible `lib/ansible/parsing/splitter.py: parse_kv`.
pub fn spread(node: &mut Node) {
    match &mut node.value {
        Value::Scalar(_) => {}
        Value::Sequence(items) => items.iter_mut().for_each(spread),
        Value::Mapping(entries) => {
            for Entry { key, value } in entries {
                let name = key.as_scalar().map_or("", |it| it.text.as_str());
                let name = name.rsplit('.').next().unwrap_or(name);
                let is_module = MODULES.iter().any(|it| it == name);
                match is_module.then(|| arguments(value)).flatten() {
                    Some(arguments) => value.value = Value::Mapping(arguments),
                    None => spread(value),
                }
            }
        }
    }
}

/// The arguments in a text of one line, each where it stands. `None`: something else is there.
fn arguments(node: &Node) -> Option<Vec<Entry>> {
    let scalar = node.as_scalar().filter(|it| it.style == Style::Plain)?;
    let text = scalar.text.as_str();
    (node.span.len() == text.len() && !text.contains('\\')).then_some(())?;
    let (mut at, mut arguments) = (0, Vec::new());
    let piece = |start: usize, end: usize| {
        let start_of_all = node.span.start as usize;
        let span = Span::new(start_of_all + start, start_of_all + end);
        Some(Node::plain(span, text.get(start..end)?))
    };
    loop {
        at = text.len() - text.get(at..)?.trim_start().len();
        let Some((key, rest)) = text.get(at..)?.split_once('=') else {
            return (at == text.len() && at > 0).then_some(arguments);
        };
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        key.chars().all(is_word).then_some(())?;
        let start = at + key.len() + 1;
        let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'));
        let (begin, length) = match quote {
            Some(quote) => (start + 1, rest.get(1..)?.find(quote)?),
            None => (start, rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        let end = begin + length;
        arguments.push(Entry {
            key: piece(at, at + key.len())?,
            value: piece(begin, end)?,
        });
        at = end + usize::from(quote.is_some());
    }
}

/// The arguments of a module, by its name alone or with its collection's.
fn module<'n>(task: &'n Node, collection: &str, name: &str) -> Option<&'n Node> {
    let full = || task.get(&format!("{collection}.{name}"));
    task.get(name).or_else(full)
}

fn path(module: &Node) -> Option<&str> {
    let names = ["path", "dest", "destfile", "name"];
    let node = names.iter().find_map(|it| module.get(it))?;
    Some(&node.as_scalar().filter(|_| is_plain(node))?.text)
}

fn plain<'n>(module: &'n Node, key: &str) -> Option<&'n Node> {
    module.get(key).filter(|it| is_plain(it))
}

fn is_there(module: &Node) -> bool {
    module.word(&["state"]).is_none_or(|it| it == "present")
}

/// A section with the one entry that is set in it.
fn entry(module: &Node) -> Option<Inner<'_>> {
    let (section, option) = (plain(module, "section")?, plain(module, "option")?);
    let value = plain(module, "value").filter(|_| is_there(module))?;
    let mut made = Pieces::new(value);
    made.text("[");
    made.key(section);
    made.text("]\n");
    made.key(option);
    made.text("=");
    made.scalar(value);
    made.text("\n");
    Some(Inner::new(path(module)?, Content::Made(made)))
}

#[cfg(test)]
mod tests {
    use crate::lint::inner::tests::check;

    #[test]
    fn lines_that_tasks_put_into_files_are_read() {
        let says = |text: &str, expected: &[&str]| check("tasks.yml", text, expected);
        let line = "- lineinfile:\n    path: /etc/default/kubelet\n    line: KUBELET_EXTRA_ARGS=--resolv-conf=/a\n";
        says(line, &["Cluster ResolvConf /a @/a"]);
        says(&format!("{line}    state: absent\n"), &[]);
        says(&format!("{line}    backrefs: true\n"), &[]);
        says(&line.replace("/a\n", "'{{ a }}'\n"), &[]);
        let words = "- lineinfile: path=/etc/default/kubelet line='KUBELET_EXTRA_ARGS=--resolv-conf=/a' create=yes\n";
        says(words, &["Cluster ResolvConf /a @/a"]);
        says(&words.replace("create=yes", "state=absent"), &[]);
        says(&words.replace("/a'", "{{ a }}'"), &[]);
        says(&words.replace("create=yes", "and more"), &[]);
        let block = "- hosts: all\n  tasks:\n  - ansible.builtin.blockinfile:\n      dest: /var/lib/kubelet/config.yaml\n      block: |\n        resolvConf: /a\n        clusterDNS: [10.0.0.10]\n";
        says(
            block,
            &[
                "Cluster ResolvConf /a @/a",
                "Cluster ClusterDns 10.0.0.10 @10.0.0.10",
            ],
        );
        let shell = "- shell: echo 'nameserver 192.0.2.53' > /etc/resolv.conf\n";
        let line = "nameserver 192.0.2.53 @echo 'nameserver 192.0.2.53' > /etc/resolv.conf";
        says(shell, &[line]);
        says(&shell.replace("192.0.2.53'", "{{ dns }}'"), &[]);
        says(
            "- lineinfile: {path: /etc/resolv.conf, line: nameserver 192.0.2.53}\n",
            &[],
        );
        says(
            "- community.general.ini_file: {path: /etc/systemd/resolved.conf, section: Resolve, option: DNSStubListener, value: 'no'}\n",
            &["settings tasks.yml/etc/systemd/resolved.conf"],
        );
    }
}
