//! What is kept of lines: inputs, and what stands in their place.

use super::settings;

fn kept(text: &str) -> String {
    String::from_utf8(settings(text.as_bytes())).unwrap()
}

/// Each `abc`, `def` or `MII` of these is a secret, and nothing else is.
const SECRETS: &[&str] = &[
    // Lines of their own.
    "token: abc\nserver: https://10.0.0.1:9345\n",
    "# password: abc\n",
    "password = abc\nport = 1\n",
    "password=\"abc\"\nport=1\n",
    "PrivateKey=abc\nListenPort=1\n",
    "    aws_access_key abc def\n    region us\n",
    "secret \"abc\";\nport 53;\n",
    "key \"k\" { algorithm hmac-sha256; secret \"abc\"; };\n",
    "\"password\": \"abc\",\n\"port\": 1\n",
    "auth = \"abc\"\n",
    "Authorization: abc\r\nport: 1\r\n",
    // Lists and blocks.
    "staticPodURLHeader:\n  Authorization:\n  - abc\nclusterDNS:\n- 10.96.0.10\n",
    "password: |\n  abc\n\n  def\nport: 1\n",
    "password:\n  abc\nport: 1\n",
    "password: \"abc\n  def\"\nport: 1\n",
    "password = \"\"\"\nabc\ndef\"\"\"\nport = 1\n",
    "- name: PW\n  value: |\n    abc\n- name: RES_OPTIONS\n  value: x\n",
    "- name: PW\n  value: >-\n    abc\n    def\nport: 1\n",
    "- name: PW\n  value:\n    abc\nport: 1\n",
    "- name: DB_PASS\n  value: abc\n- name: ndots\n  value: \"2\"\n",
    "X-Token: abc\npasswords: abc\npassword: abc\nport: 1\n",
    // Flags.
    "ExecStart=/usr/bin/kubelet --token=abc --resolv-conf=/run/x\n",
    "ExecStart=/usr/bin/kubelet --bootstrap-token abc --resolv-conf=/run/x\n",
    "  --bootstrap-token abc --cluster-dns=10.96.0.10 \\\n  --v=2\n",
    "  --token=abc \\\n  --cluster-dns=10.96.0.10 \\\n  --v=2\n",
    "ExecStart=/usr/local/bin/k3s \\\n    server \\\n\t'--token' \\\n\t'abc' \\\n\t'--resolv-conf' \\\n\t'/run/x'\n",
    "args:\n- --token\n- abc\n- -conf\n- /etc/coredns/Corefile\n",
    "args:\n- --token=abc\n- -conf\n- /etc/coredns/Corefile\n",
    "args:\n- --token\n- --conf\n- /etc/coredns/Corefile\n",
    "command: [coredns, \"--password=abc\", -conf]\n",
    "command: [coredns, --password=abc, -conf]\n",
    "command: [\"--token\", \"abc\", \"-conf\", \"x\"]\n",
    "command: [sh, -c, \"kubelet --token=abc --resolv-conf=/run/x\"]\n",
    "KUBELET_ARGS=\"--token=abc --resolv-conf=/run/x\"\n",
    "KUBELET_ARGS='--token abc --resolv-conf=/run/x'\n",
    "kubelet-arg:\n- token=abc\n- resolv-conf=/run/x\n",
    // Flow style, quotes, URLs.
    "env: [{name: PW, value: \"abc\"}, {name: RES_OPTIONS, value: x}]\n",
    "env: [{name: PW, value: abc}, {name: RES_OPTIONS, value: x}]\n",
    "Environment=\"PASSWORD=abc\" \"RES_OPTIONS=x\"\n",
    "Environment=PASSWORD=abc RES_OPTIONS=x\n",
    "Environment=\"HTTPS_PROXY=http://abc@proxy:3128\"\n",
    "image: https://abc@github.com/a/b@v1\n",
    "etcd: http://abc@h1:1,http://def@h2:2/x\n",
    // Keys in PEM.
    "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\na: 1\n",
    "-----BEGIN PRIVATE KEY-----\nMII\nresolvConf: /run/x\nlog\n",
    "tls.pem: |\n  -----BEGIN RSA PRIVATE KEY-----\n  MII\n  -----END RSA PRIVATE KEY-----\na: 1\n",
    "tls: \"-----BEGIN PRIVATE KEY-----MII-----END PRIVATE KEY-----\\n\"\nresolvConf: /run/x\n",
    "tls-private-key: \"MII\"\nresolvConf: /run/x\nclusterDomain: a.b\n",
];

#[test]
fn secrets_are_replaced_and_all_else_stays() {
    for text in SECRETS {
        let expected = ["abc", "def", "MII"]
            .iter()
            .fold((*text).to_owned(), |text, it| text.replace(it, "REMOVED"));
        assert_eq!(kept(text), expected, "{text}");
        let like: &[&str] = if text.contains("MII") {
            &["K/+=", "MII"]
        } else {
            &["K10a::server:b=", "p@ss", "x,y"]
        };
        for secret in like.iter().filter(|_| !text.contains("def")) {
            let text = text
                .replace("abc", secret)
                .replace("\nMII", &format!("\n{secret}"));
            assert_eq!(kept(&text), expected, "{text}");
        }
    }
    let text = "tls-private-key: \"-----BEGIN PRIVATE KEY-----\\nM\\n-----END PRIVATE KEY-----\\n\"\n\
        resolvConf: /run/x\n";
    let expected = "tls-private-key: \"REMOVED\"\nresolvConf: /run/x\n";
    assert_eq!(kept(text), expected);
}

#[test]
fn values_with_blanks_and_brackets_are_removed_whole() {
    for (text, expected) in [
        ("Authorization: Bearer abc\n", "Authorization: REMOVED\n"),
        (
            "- Authorization: Bearer abc\n",
            "- Authorization: REMOVED\n",
        ),
        ("X-Token: [abc, def]\n", "X-Token: REMOVED\n"),
        ("password: {a: b}\n", "password: REMOVED\n"),
        (
            "passwords: [abc,\n  def]\nport: 1\n",
            "passwords: [REMOVED\n  REMOVED]\nport: 1\n",
        ),
        (
            "Environment=\"PASSWORD=two words\" \"A=b\"\n",
            "Environment=\"PASSWORD=REMOVED\" \"A=b\"\n",
        ),
        (
            "proxy: http://me:p/ss@proxy:3128\n",
            "proxy: http://REMOVED@proxy:3128\n",
        ),
        (
            "proxy: http://me:p@ss@proxy:3128/a@b\n",
            "proxy: http://REMOVED@proxy:3128/a@b\n",
        ),
        ("secret: \"a b\" # c\n", "secret: \"REMOVED\" # c\n"),
    ] {
        assert_eq!(kept(text), expected);
    }
}

/// Names with the words of secrets that are none.
const INNOCENT: &[&str] = &[
    "ExecStart=/usr/local/bin/kubelet \\\n  --anonymous-auth=false \\\n  \
     --authentication-token-webhook=true \\\n  --authentication-token-webhook-cache-ttl=2m \\\n  \
     --authorization-mode=Webhook \\\n  --cluster-dns=10.32.0.10 \\\n  --resolv-conf=/run/x\n",
    "kubelet-arg:\n- authentication-token-webhook\n- resolv-conf=/run/x\n- cluster-dns=10.43.0.10\n",
    "authorization:\n  mode: Webhook\nauthentication:\n  anonymous:\n    enabled: false\n",
    "automountServiceAccountToken: false\nauthorization: {mode: AlwaysAllow}\n",
    "ExecStart=/usr/bin/k0s worker --token-file=/etc/k0s/token --v=2\n",
    "private-address: 10.0.0.0/8\nprivate-domain: corp\n",
    "auth-zone=corp\nauth-server=ns.corp,eth0\n",
    "auth.corp:53 {\n    errors\n}\n",
    "token.corp:53 secret.corp:53 {\n    forward . tls://secret.corp:853\n}\n",
    "private.corp {\n    forward private.corp 10.0.0.1\n}\n",
    "errors {\n    consolidate 5m \".*auth: .* i/o timeout$\" warning\n}\n",
    "token.corp. IN A 10.0.0.1\n10.0.0.1 token.corp secret\n",
    "nameserver 10.0.0.1\nsearch secret.corp a.b\noptions ndots:5\n",
    "address=/token.corp/10.0.0.1\nserver=/secret.corp/10.0.0.1#53\n",
    "local-data: \"token.corp. IN A 10.0.0.1\"\nforward-addr: 1.1.1.1@853#one.one\n",
    "imagePullSecrets:\n- name: a\nvolumes:\n- secret:\n    secretName: a\n",
    "forward . https://[fd00::1]:443/dns@x\n",
];

#[test]
fn what_is_no_secret_stays() {
    for text in INNOCENT {
        assert_eq!(kept(text), *text);
    }
}

#[test]
fn long_lines_are_read_once() {
    for part in [
        "a=",
        "a: ",
        ":",
        "@",
        "b@",
        "://",
        "a://b,",
        "token=",
        "token=\"",
        "token={",
        "name=",
        "value=",
        "\"",
        "'a=",
        "--token ",
        "-----BEGIN ",
        "secret \"",
        "[",
        "a:b@",
    ] {
        // Read again from each of its words it would take minutes.
        let text = format!("x {}", part.repeat(100_000 / part.len()));
        let kept = settings(text.as_bytes());
        assert!(kept.starts_with(b"x "), "{part}");
    }
}
