//! Programs and libraries that ask by a configuration of their own.

use super::*;

#[test]
fn a_daemons_configuration_says_whom_it_asks() {
    use crate::config::nginx_conf;
    use crate::config::statements::Statements;
    use crate::program::daemon;
    use crate::scenario::own::Daemon;
    use crate::text::Source;

    let check = |text: &str, unread: &[&str], expected| {
        let mut program = dynamic("/usr/sbin/nginx", &[GLIBC]);
        let source = Source {
            name: "f".to_owned(),
            bytes: text.as_bytes().to_vec(),
        };
        let statements = nginx_conf::parse(&source, 0).statements;
        let files = vec![source];
        let conf = Statements { files, statements };
        let unread = unread.iter().map(|&it| it.to_owned()).collect();
        program.daemon = Some(daemon::names(Daemon::Nginx, &conf, unread));
        check(&program, expected);
    };
    check("http { resolver 10.0.0.1; }", &[], "nginx?");
    check("http { }", &[], "glibc");
    check("http { }", &["a.conf was not read"], "glibc?");
    check("http { js_import a.js; }", &[], "glibc?");
}

#[test]
fn grpc_asks_by_itself_unless_it_is_told_not_to() {
    let mut program = dynamic(
        "/usr/bin/python3.11",
        &[GLIBC, "/usr/lib/cygrpc.cpython-311.so"],
    );
    let choose = |program: &Program| beside(choose(program, &Scenario::new("1", "db")).why);
    let own = Beside::Grpc { is_native: false };
    check(&program, "glibc?");
    assert_eq!(choose(&program), own);
    let native = ("GRPC_DNS_RESOLVER".to_owned(), "native".to_owned());
    program.env.extend([native]);
    check(&program, "glibc?");
    assert_eq!(choose(&program), Beside::Grpc { is_native: true });
    let mut linked = dynamic("/app", &[GLIBC]);
    if let Some(executable) = &mut linked.executable {
        executable.has_grpc = true;
    }
    assert_eq!(choose(&linked), own);
}

#[test]
fn grpc_of_languages_asks_as_they_do() {
    let mut java = dynamic(
        "/usr/bin/java",
        &[GLIBC, "/usr/lib/jvm/lib/server/libjvm.so"],
    );
    java.arguments = vec![
        "java".to_owned(),
        "-cp".to_owned(),
        "/a/grpc-netty-shaded-1.60.jar".to_owned(),
    ];
    check(&java, "glibc?");
    let choose = |program: &Program| choose(program, &Scenario::new("1", "db"));
    assert_eq!(beside(choose(&java).why), Beside::JvmGrpc);
    let mut go = dynamic("/app", &[]);
    go.executable.as_mut().unwrap().go = Some(Build {
        version: "go1.27.3".to_owned(),
        cgo: Some(false),
        has_grpc: true,
        ..Build::default()
    });
    check(&go, "go-1.27");
    assert!(choose(&go).has_grpc);
}
