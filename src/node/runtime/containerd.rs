//! Where containerd keeps its files.
//!
//! Source: containerd `cmd/containerd/server/config/config.go: Config`,
//! `cmd/containerd/command/main.go`.

/// The directories that a configuration names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Directories {
    /// What stays: `/var/lib/containerd` if none is named.
    pub root: Option<String>,
    /// What is lost with the machine's power: `/run/containerd` if none is
    /// named.
    pub state: Option<String>,
}

/// Reads the two keys of a `config.toml`. They stand before its first table;
/// what is not so is left out.
pub fn directories(text: &[u8]) -> Directories {
    let text = String::from_utf8_lossy(text);
    let mut found = Directories::default();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            break;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let value = path(value.trim());
        match key.trim().trim_matches(['"', '\'']) {
            "root" => found.root = value,
            "state" => found.state = value,
            _ => {}
        }
    }
    found
}

/// An absolute path between quotes; backslashes are in none that works.
fn path(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let (path, _) = value.get(1..)?.split_once(quote)?;
    let is_plain = path.starts_with('/') && !path.contains('\\');
    is_plain.then(|| path.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_before_the_first_table_count() {
        let tests = [
            ("", None, None),
            (
                "version = 2\nroot = \"/data/containerd\"\n",
                Some("/data/containerd"),
                None,
            ),
            (
                "root='/r/' # why\nstate = \"/s\"\n[grpc]\nroot = \"/no\"\n",
                Some("/r"),
                Some("/s"),
            ),
            ("#root = \"/no\"\n  \"state\"=\"/s\"\r\n", None, Some("/s")),
            ("root = \"relative\"\nstate = \"/a\\tb\"\n", None, None),
            ("root = \"/open\nstate = 1\n", None, None),
        ];
        for (text, root, state) in tests {
            let expected = Directories {
                root: root.map(str::to_owned),
                state: state.map(str::to_owned),
            };
            assert_eq!(directories(text.as_bytes()), expected, "{text}");
        }
    }
}
