mod own_ways;

use super::*;

fn dynamic(path: &str, libraries: &[&str]) -> Program {
    Program {
        path: path.to_owned(),
        arguments: vec![path.to_owned()],
        executable: Some(Executable {
            interpreter: Some("/lib64/ld-linux-x86-64.so.2".to_owned()),
            ..Executable::default()
        }),
        libraries: libraries.iter().map(|it| (*it).to_owned()).collect(),
        ..Program::default()
    }
}

fn of_build(build: Build, interpreter: Option<&str>) -> Program {
    Program {
        path: "/app".to_owned(),
        executable: Some(Executable {
            interpreter: interpreter.map(str::to_owned),
            go: Some(build),
            ..Executable::default()
        }),
        ..Program::default()
    }
}

fn build(version: &str, cgo: Option<bool>) -> Build {
    Build {
        version: version.to_owned(),
        cgo,
        ..Build::default()
    }
}

#[test]
fn a_c_library_without_a_model_is_named() {
    for (loader, libc, name) in [
        ("/lib/ld-uClibc.so.1", "/lib/libc.so.1", "uClibc-ng"),
        ("/system/bin/linker64", "/system/lib64/libc.so", "bionic"),
    ] {
        let mut program = dynamic("/bin/sh", &[libc]);
        program.executable.as_mut().unwrap().interpreter = Some(loader.to_owned());
        program
            .skipped
            .push("something could not be read".to_owned());
        let choice = choose(&program, &Scenario::new("1", "db"));
        assert_eq!((choice.resolver, choice.why), (None, Why::OtherLibc(name)));
    }
}

#[test]
fn a_runtime_is_called_so_or_so_with_a_version() {
    for (path, is_runtime) in [
        ("/usr/bin/node", true),
        ("/usr/bin/nodejs", true),
        ("/usr/bin/ruby3.1", true),
        ("/usr/local/bin/bun", true),
        ("/usr/bin/deno", true),
        ("/usr/bin/node_exporter", false),
        ("/usr/bin/rubygems-mirror", false),
    ] {
        let choice = choose(&dynamic(path, &[GLIBC]), &Scenario::new("1", "db"));
        let found = matches!(beside(choice.why), Beside::Runtime(_));
        assert_eq!(found, is_runtime, "{path}");
    }
}

fn beside(why: Why) -> Beside {
    match why {
        Why::Libc { beside, .. } => beside,
        other => panic!("{other:?}"),
    }
}

/// The program asks this resolver, `?` behind what is a guess.
fn check(program: &Program, expected: &str) {
    let scenario = Scenario::new("1", "db");
    let choice = choose(program, &scenario);
    let mark = match choice.certainty {
        Certainty::Sure => "",
        Certainty::Guess => "?",
    };
    let shown = format!("{}{mark}", choice.resolver.unwrap_or("-"));
    assert_eq!(shown, expected, "{:?}", choice.why);
    assert!(
        choice
            .resolver
            .is_none_or(|it| resolver::find(it).is_some())
    );
}

const GLIBC: &str = "/usr/lib/x86_64-linux-gnu/libc.so.6";
const MUSL: &str = "/lib/ld-musl-x86_64.so.1";
const LOADER: Option<&str> = Some("/lib64/ld-linux-x86-64.so.2");

#[test]
fn programs_with_a_libc() {
    check(&dynamic("/bin/sh", &[GLIBC]), "glibc");
    check(&dynamic("/bin/sh", &[]), "glibc");
    check(
        &dynamic("/usr/bin/curl", &[GLIBC, "/usr/lib/libcares.so.2"]),
        "glibc?",
    );
    check(
        &dynamic("/usr/bin/node", &[GLIBC, "/usr/lib/libcares.so.2"]),
        "glibc",
    );
    check(
        &dynamic("/usr/bin/java", &["/opt/lib/server/libjvm.so", GLIBC]),
        "glibc",
    );
    check(&dynamic("/usr/bin/ruby3.1", &[GLIBC]), "glibc");
    check(&dynamic("/usr/local/bin/bun", &[MUSL]), "musl-1.2.5");
    check(&dynamic("/usr/bin/deno", &[GLIBC]), "glibc");
    check(
        &dynamic("/usr/lib/erlang/erts-13.1.5/bin/beam.smp", &[MUSL]),
        "musl-1.2.5",
    );
    check(&dynamic("/usr/sbin/nginx", &[GLIBC]), "glibc?");
    check(&dynamic("/usr/sbin/haproxy", &[MUSL]), "musl-1.2.5?");
    check(&dynamic("/bin/x", &[MUSL]), "musl-1.2.5?");
    check(&dynamic("/usr/sbin/squid", &[GLIBC]), "glibc?");
    check(&dynamic("/usr/sbin/unbound", &[MUSL]), "musl-1.2.5?");
    let pycares = "/usr/lib/python3.12/site-packages/pycares/_cares.abi3.so";
    check(&dynamic("/usr/bin/python3.12", &[GLIBC, pycares]), "glibc?");
    let mut scylla = dynamic("/opt/scylladb/libexec/scylla", &[GLIBC]);
    check(&scylla, "glibc");
    scylla.executable.as_mut().unwrap().has_c_ares = true;
    check(&scylla, "glibc?");
}

#[test]
fn versions_of_a_libc() {
    for (version, expected) in [
        ("2.17", "glibc-2.17"),
        ("2.28", "glibc-2.28"),
        ("2.31", "glibc-2.31"),
        ("2.34", "glibc-2.34"),
        ("2.35", "glibc-2.35"),
        ("2.36", "glibc"),
        ("2.39", "glibc"),
        ("2.41", "glibc-2.41"),
    ] {
        let mut program = dynamic("/bin/x", &[GLIBC]);
        program.libc = Some(Libc {
            family: Family::Glibc,
            version: Some(version.to_owned()),
        });
        check(&program, expected);
    }
    for (version, expected) in [
        ("1.1.24", "musl-1.1.24"),
        ("1.2.1", "musl-1.2.3"),
        ("1.2.3", "musl-1.2.3"),
        ("1.2.4", "musl-1.2.5"),
        ("1.2.10", "musl-1.2.5"),
    ] {
        let mut program = dynamic("/bin/x", &[MUSL]);
        program.libc = Some(Libc {
            family: Family::Musl,
            version: Some(version.to_owned()),
        });
        check(&program, expected);
    }
}

#[test]
fn a_jvm_may_have_netty() {
    let jvm = ["/opt/lib/server/libjvm.so", GLIBC];
    let mut java = dynamic("/usr/bin/java", &jvm);
    for (jar, version) in [
        ("netty-resolver-dns-4.1.100.Final.jar", Some("4.1.100")),
        ("netty-all-4.1.48.jar", Some("4.1.48")),
        ("netty-transport-4.1.48.jar", None),
    ] {
        java.arguments = ["java", "-cp", &format!("/lib/x.jar:/lib/{jar}")]
            .map(str::to_owned)
            .to_vec();
        check(&java, "glibc?");
        let why = choose(&java, &Scenario::new("1", "db")).why;
        let netty = Beside::JvmNetty(version.map(str::to_owned));
        assert_eq!(beside(why), netty);
    }
    let epoll = "/tmp/libnetty_transport_native_epoll_x86_641.so";
    check(&dynamic("/usr/bin/java", &[jvm[0], GLIBC, epoll]), "glibc?");
}

#[test]
fn programs_with_a_resolver_of_their_own() {
    check(
        &dynamic("/usr/bin/dig", &[GLIBC, "/usr/lib/libdns-9.18.so"]),
        "dig",
    );
    let libdns = "/usr/lib/x86_64-linux-gnu/libdns-9.20.30-1~deb13u1-Debian.so";
    check(&dynamic("/usr/bin/host", &[libdns]), "host-9.20");
    check(&dynamic("/usr/bin/dig", &[libdns]), "dig");
    let old = [
        "/usr/lib64/libdns.so.1115.0.3",
        "/usr/lib64/liblwres.so.161.0.4",
    ];
    check(&dynamic("/usr/bin/dig", &old), "dig-9.11?");
    let mut dig = dynamic("/usr/bin/dig", &[GLIBC]);
    dig.arguments.push("+search".to_owned());
    check(&dig, "dig-search");
    check(
        &dynamic("/usr/local/bin/envoy (deleted)", &[GLIBC]),
        "envoy?",
    );
    let mut busybox = dynamic("/bin/busybox", &[MUSL]);
    busybox.executable.as_mut().unwrap().busybox = Some("1.36.1".to_owned());
    check(&busybox, "musl-1.2.5?");
    busybox.arguments = vec!["nslookup".to_owned(), "db".to_owned()];
    check(&busybox, "busybox-nslookup");
    busybox.arguments = vec!["/bin/busybox".to_owned(), "nslookup".to_owned()];
    check(&busybox, "busybox-nslookup");
    for (version, expected) in [
        ("1.29.3", "busybox-nslookup-1.29"),
        ("1.28.4", "musl-1.2.5?"),
    ] {
        busybox.executable.as_mut().unwrap().busybox = Some(version.to_owned());
        check(&busybox, expected);
    }
    let mut hickory = dynamic("/app", &[GLIBC]);
    hickory.executable.as_mut().unwrap().hickory = Some("0.24.1".to_owned());
    check(&hickory, "hickory-0.24?");
    hickory.executable.as_mut().unwrap().hickory = Some("0.26.1".to_owned());
    check(&hickory, "hickory-0.26?");
}

#[test]
fn what_was_not_observed_is_said() {
    let end = |program: &Program| choose(program, &Scenario::new("1", "db")).likeness;
    let libc = |family, version: &str| {
        let mut program = dynamic("/bin/x", &[]);
        let version = Some(version.to_owned());
        program.libc = Some(Libc { family, version });
        end(&program)
    };
    let unseen = Some(Likeness::Unseen);
    assert_eq!(libc(Family::Glibc, "2.36"), None);
    assert_eq!(libc(Family::Glibc, "2.39"), unseen);
    assert_eq!(libc(Family::Glibc, "2.17"), Some(Likeness::Read));
    assert_eq!(libc(Family::Glibc, "2.12"), Some(Likeness::Older));
    assert_eq!(libc(Family::Musl, "1.2.4"), None);
    assert_eq!(libc(Family::Musl, "1.1.24"), None);
    assert_eq!(libc(Family::Musl, "1.1.19"), Some(Likeness::Older));
    let go = |version| end(&of_build(build(version, Some(false)), None));
    assert_eq!(go("go1.27.1"), None);
    assert_eq!(go("go1.25.3"), unseen);
    let tool = |library| end(&dynamic("/usr/bin/dig", &[library]));
    assert_eq!(tool("/usr/lib/libdns-9.18.24-1-Debian.so"), None);
    assert_eq!(tool("/usr/lib/libdns-9.19.so"), unseen);
    let of = |set: &dyn Fn(&mut Executable)| {
        let mut program = dynamic("/bin/busybox", &[MUSL]);
        program.arguments = vec!["nslookup".to_owned()];
        program.executable.as_mut().into_iter().for_each(set);
        end(&program)
    };
    let busybox = |version: &str| of(&|it| it.busybox = Some(version.to_owned()));
    assert_eq!((busybox("1.35.0"), busybox("1.36.1")), (None, unseen));
    let mut hickory = dynamic("/app", &[GLIBC]);
    hickory.executable.as_mut().unwrap().hickory = Some("0.23.2".to_owned());
    assert_eq!(end(&hickory), Some(Likeness::Older));
}

#[test]
fn static_and_unknown_programs() {
    let mut program = Program {
        executable: Some(Executable::default()),
        ..Program::default()
    };
    check(&program, "-?");
    program.executable.as_mut().unwrap().names_resolv_conf = true;
    check(&program, "musl-1.2.5?");
    program.executable.as_mut().unwrap().libc = Some(Libc {
        family: Family::Glibc,
        version: None,
    });
    check(&program, "glibc");
    program.executable = None;
    check(&program, "-?");
}

#[test]
fn programs_of_go() {
    check(&of_build(build("go1.27.3", Some(false)), None), "go-1.27");
    check(&of_build(build("go1.20.1", Some(false)), LOADER), "go-1.19");
    check(&of_build(build("go1.16", None), None), "go-1.15");
    check(&of_build(build("go1.22.1", Some(false)), None), "go-1.22");
    check(&of_build(build("go1.24", Some(false)), None), "go-1.27");
    check(&of_build(build("go1.27.3", Some(true)), None), "go-1.27");
    check(&of_build(build("go1.27.3", Some(true)), LOADER), "go-1.27");
    let mut program = of_build(build("go1.27.3", Some(true)), LOADER);
    program
        .env
        .insert("GODEBUG".to_owned(), "netdns=cgo+1".to_owned());
    check(&program, "glibc");
    program
        .env
        .insert("GODEBUG".to_owned(), "netdns=go".to_owned());
    check(&program, "go-1.27");
    for (tag, expected) in [("netgo", "go-1.27"), ("netcgo", "glibc")] {
        let build = Build {
            tags: vec!["x".to_owned(), tag.to_owned()],
            ..build("go1.27.3", Some(true))
        };
        check(&of_build(build, LOADER), expected);
    }
}

#[test]
fn a_cgo_program_decides_by_the_question() {
    let program = of_build(build("go1.27.3", Some(true)), LOADER);
    let mut scenario = Scenario::new("1", "db");
    scenario
        .env
        .insert("RES_OPTIONS".to_owned(), "ndots:1".to_owned());
    let choice = choose(&program, &scenario);
    assert_eq!(choice.resolver, Some("glibc"));
    assert_eq!(choice.certainty, Certainty::Guess);
    let Why::Go { by, .. } = choice.why else {
        panic!("{choice:?}");
    };
    assert!(matches!(by, ByGo::LeftToLibc(_)), "{by:?}");
}

#[test]
fn the_file_of_c_ares_tells_its_version() {
    let of = |library: &str| {
        let program = dynamic("/usr/bin/app", &[GLIBC, library]);
        versions(&program)
    };
    for (library, expected) in [
        ("/usr/lib/x86_64-linux-gnu/libcares.so.2.5.1", "c-ares-1.18"),
        ("/usr/lib/libcares.so.2.12.0", "c-ares-1.27"),
        ("/usr/lib/libcares.so.2.13.1", "c-ares-1.28"),
        ("/usr/lib/libcares.so.2.17.3", "c-ares-1.32"),
        ("/usr/lib/libcares.so.2.18.1", "c-ares-1.33"),
        ("/usr/lib/libcares.so.2.19.4 (deleted)", "c-ares-1.34.3"),
        ("/usr/lib/libcares.so.2.19.8", "c-ares-1.34"),
        ("/x/libcares.so.2.4294967290.4294967295", "c-ares-1.34"),
        ("/usr/lib/libcares.so.2", "c-ares-1.34"),
    ] {
        let found = of(library);
        assert!(found.contains(&expected), "{library}: {found:?}");
        let search = format!("{expected}-search");
        assert!(found.contains(&search.as_str()), "{library}: {found:?}");
    }
}
