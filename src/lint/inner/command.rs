//! The line of a script that has a heredoc: where the text goes.
//!
//! Source: POSIX.1-2024, Shell Command Language, 2.2 Quoting, 2.7 Redirection.

/// Where a text goes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Target {
    /// Into a file, which it replaces. The path can begin with what is not known.
    File(String),
    /// To a program that takes objects of Kubernetes: kubectl, kind, kubeadm.
    Objects,
    /// To helm, as values.
    Values,
}

/// A part of a command line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Token {
    /// A word, quotes undone; what the shell puts in stands there as written.
    Word(String),
    /// `|`, `>`, `&&`…
    Operator(&'static str),
}

/// Longest first.
const OPERATORS: [&str; 19] = [
    "<<<", "<<-", "&>>", ">>", "<<", "&&", "||", "|&", "&>", ">&", "<&", ">|", "<>", "|", "&", ";",
    "(", ")", ">",
];

/// Where the text of the one heredoc on a line goes. `None`: not as it is, not
/// alone, or nobody can tell.
pub(super) fn target(line: &str) -> Option<Target> {
    let tokens = tokens(line)?;
    let is_heredoc = |it: &Token| matches!(it, Token::Operator("<<" | "<<-"));
    let at = tokens.iter().position(is_heredoc)?;
    let is_one = tokens.iter().filter(|it| is_heredoc(it)).count() == 1;
    let start = tokens.get(..at)?.iter().rposition(is_end);
    let rest = tokens.get(start.map_or(0, |it| it + 1)..)?;
    let end = rest.iter().position(is_end).unwrap_or(rest.len());
    let mut stages = rest.get(..end)?.split(|it| *it == Token::Operator("|"));
    // Of a pipeline the last stages get what the heredoc's one writes.
    let has_it = |it: &&[Token]| it.iter().any(is_heredoc);
    let first = stages.find(has_it).filter(|_| is_one)?;
    written(first, &mut stages, 0)
}

/// Whether a command ends here, or begins behind it.
pub(super) fn is_end(token: &Token) -> bool {
    const WORDS: [&str; 9] = ["then", "do", "else", "{", "}", "if", "while", "!", "RUN"];
    match token {
        Token::Operator(it) => matches!(*it, "&&" | "||" | "&" | ";" | "(" | ")"),
        Token::Word(it) => WORDS.contains(&it.as_str()),
    }
}

/// Where a stage of a pipeline puts what it reads.
fn written(
    stage: &[Token],
    rest: &mut dyn Iterator<Item = &[Token]>,
    depth: usize,
) -> Option<Target> {
    let (words, outputs) = parts(stage)?;
    let words = command(&words);
    let (program, arguments) = words.split_first()?;
    if outputs.iter().any(|it| it.is_added) {
        return None;
    }
    let has = |wanted: &[&str]| arguments.iter().any(|it| wanted.contains(it));
    match program.rsplit('/').next()? {
        "cat" if arguments.iter().all(|it| *it == "-") => match outputs.as_slice() {
            [] => written(rest.next()?, rest, depth),
            [output] => Some(Target::File(output.path.to_owned())),
            _ => None,
        },
        "tee" if !has(&TEE_ADDS) => {
            let mut files = arguments.iter().filter(|it| !it.starts_with('-'));
            Some(Target::File((*files.next()?).to_owned()))
        }
        "COPY" | "ADD" => arguments.last().map(|it| Target::File((*it).to_owned())),
        "sh" | "bash" if depth == 0 => {
            let at = arguments.iter().position(|it| *it == "-c")?;
            let inner = tokens(arguments.get(at + 1)?)?;
            (!inner.iter().any(is_end)).then_some(())?;
            written(&inner, &mut std::iter::empty(), depth + 1)
        }
        "helm" => is_from_input(arguments, &["-f", "--values"]).then_some(Target::Values),
        "kind" | "kubeadm" => is_from_input(arguments, &["--config"]).then_some(Target::Objects),
        it => {
            let is_kubectl = it.to_ascii_lowercase().contains("kubectl")
                || matches!(it, "oc" | "k3s" | "microk8s" | "minikube" | "k0s" | "k");
            let applies = has(&["apply", "create", "replace"]);
            (is_kubectl && applies && is_from_input(arguments, &["-f", "--filename"]))
                .then_some(Target::Objects)
        }
    }
}

/// Whether an option names standard input.
fn is_from_input(arguments: &[&str], options: &[&str]) -> bool {
    let is_input = |it: &str| matches!(it, "-" | "/dev/stdin");
    let is_joined = |it: &&str| {
        let values = options.iter().filter_map(|option| it.strip_prefix(option));
        let mut values = values.map(|it| it.strip_prefix('=').unwrap_or(it));
        values.any(is_input)
    };
    let mut pairs = arguments.windows(2);
    let is_pair =
        |it: &[&str]| matches!(it, [option, value] if options.contains(option) && is_input(value));
    arguments.iter().any(is_joined) || pairs.any(is_pair)
}

/// The command behind `sudo`, `env` and assignments.
pub(super) fn command<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let is_before = |it: &&&str| {
        let is_assignment = it.split_once('=').is_some_and(|(name, _)| {
            let is_name = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
            !name.is_empty() && name.bytes().all(is_name)
        });
        is_assignment
            || matches!(
                **it,
                "sudo" | "env" | "command" | "exec" | "time" | "$SUDO" | "${SUDO}"
            )
            || matches!(**it, "-E" | "-n" | "-H" | "-S" | "-i")
    };
    words.iter().skip_while(is_before).copied().collect()
}

/// A file into which a stage writes.
pub(super) struct Output<'t> {
    pub(super) path: &'t str,
    pub(super) is_added: bool,
}

/// The words of a stage, and the files that it writes.
pub(super) fn parts(stage: &[Token]) -> Option<(Vec<&str>, Vec<Output<'_>>)> {
    let (mut words, mut outputs) = (Vec::new(), Vec::new());
    let mut tokens = stage.iter();
    while let Some(token) = tokens.next() {
        let operator = match token {
            Token::Word(it) => {
                words.push(it.as_str());
                continue;
            }
            Token::Operator(it) => *it,
        };
        let Some(Token::Word(path)) = tokens.next() else {
            return None;
        };
        match operator {
            "<<" | "<<-" | ">&" | "<&" => {}
            ">" | ">|" | ">>" if path == "/dev/null" => {}
            ">" | ">|" | ">>" => {
                // `2>` is about messages.
                let is_numbered = words.last().is_some_and(|it| *it == "2");
                if is_numbered {
                    words.pop();
                } else {
                    let is_added = operator == ">>";
                    outputs.push(Output { path, is_added });
                }
            }
            _ => return None,
        }
    }
    Some((words, outputs))
}

/// The options of `tee` that do not replace a file.
pub(super) const TEE_ADDS: [&str; 4] = ["-a", "--append", "-ai", "-ia"];

/// The tokens of a line up to a comment. `None`: a quote is not closed on it.
pub(super) fn tokens(line: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let operator = OPERATORS.into_iter().find(|it| rest.starts_with(it));
        if operator.is_some() || character == '<' || character.is_whitespace() {
            tokens.extend(word.take().map(Token::Word));
            let operator = operator.or((character == '<').then_some("<"));
            tokens.extend(operator.map(Token::Operator));
            rest = rest.get(operator.map_or(character.len_utf8(), str::len)..)?;
            continue;
        }
        if character == '#' && word.is_none() {
            break;
        }
        let text = word.get_or_insert_default();
        rest = rest.get(character.len_utf8()..)?;
        match character {
            '\'' => {
                let (quoted, behind) = rest.split_once('\'')?;
                text.push_str(quoted);
                rest = behind;
            }
            '"' => rest = double_quoted(rest, text)?,
            '\\' => {
                let next = rest.chars().next()?;
                text.push(next);
                rest = rest.get(next.len_utf8()..)?;
            }
            it => text.push(it),
        }
    }
    tokens.extend(word.map(Token::Word));
    Some(tokens)
}

/// Takes what stands before the closing quote; what stands behind it is left.
fn double_quoted<'l>(rest: &'l str, text: &mut String) -> Option<&'l str> {
    let mut characters = rest.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return rest.get(at + 1..),
            '\\' => text.push(characters.next()?.1),
            it => text.push(it),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<&str>) {
        let found = target(line).map(|it| match it {
            Target::File(path) => path,
            other => format!("{other:?}"),
        });
        assert_eq!(found.as_deref(), expected, "{line}");
    }

    #[test]
    fn the_target_of_a_heredoc_is_told() {
        check("cat <<EOF > /etc/resolv.conf", Some("/etc/resolv.conf"));
        check("cat > /etc/resolv.conf <<'EOF'", Some("/etc/resolv.conf"));
        check("cat <<-EOF >/a.yaml # b", Some("/a.yaml"));
        check("sudo tee /etc/a <<EOF >/dev/null", Some("/etc/a"));
        check("cat <<EOF | sudo tee \"/etc/a b\"", Some("/etc/a b"));
        check("if x; then cat <<EOF > /a; fi", Some("/a"));
        check("RUN cat <<EOF > /a", Some("/a"));
        check("COPY <<EOF /etc/Corefile", Some("/etc/Corefile"));
        check("sudo bash -c 'cat > /etc/a' <<EOF", Some("/etc/a"));
        check("cat <<EOF > \"$DIR/a.yaml\"", Some("$DIR/a.yaml"));
        check("kubectl apply -f - <<EOF", Some("Objects"));
        check("cat <<EOF | kubectl -n x apply -f-", Some("Objects"));
        check("kind create cluster --config=- <<EOF", Some("Objects"));
        check("helm upgrade -i x y -f - <<EOF", Some("Values"));
    }

    #[test]
    fn what_is_changed_or_added_has_no_target() {
        for line in [
            "cat <<EOF >> /etc/resolv.conf",
            "sudo tee -a /etc/a <<EOF",
            "cat <<EOF | sed s/a/b/ > /etc/a",
            "envsubst <<EOF > /etc/a",
            "X=$(cat <<EOF",
            "cat <<A <<B > /etc/a",
            "sudo bash -c \"cat <<EOF > /etc/a",
            "ssh host 'cat > /etc/a' <<EOF",
            "cat a - <<EOF > /etc/a",
            "kubectl delete -f - <<EOF",
            "kubectl apply -f x <<EOF",
            "cat <<< a > /etc/a",
            "# cat <<EOF > /etc/a",
            "cat <<EOF",
            "",
            "<<",
            "| > <<EOF",
        ] {
            check(line, None);
        }
    }
}
