use super::*;
use crate::dig::lookup::Globals;
use crate::resolver::bind::settings;
use crate::resolver::bind::{
    DIG, DIG_SEARCH, DIG_SEARCH_9_11, DIG_SEARCH_9_16, HOST, HOST_9_11, Program,
};
use crate::scenario::file;
use crate::text::Span;

fn read(text: &str) -> String {
    read_by(&DIG_SEARCH, text)
}

/// Servers, search list, ndots, timeout and tries; or why not.
fn read_by(program: &Program, text: &str) -> String {
    let scenario = Scenario {
        resolv_conf: Some(file("/etc/resolv.conf", text)),
        ..Scenario::new("1", "a")
    };
    let reading = setup_system(&scenario, program);
    if let Some(refused) = reading.refused {
        return format!("{}: {}", refused.span.start, refused.why);
    }
    let servers = reading
        .servers
        .iter()
        .map(|server| server.value.to_string());
    let text = |domain: &Setting<Cow<'_, [u8]>>| domain.value.escape_ascii().to_string();
    let search = reading.search.iter().map(text);
    format!(
        "{} {} {} {} {}",
        servers.collect::<Vec<_>>().join(","),
        search.collect::<Vec<_>>().join(","),
        reading.ndots.unwrap_or_default().value,
        reading.timeout.value.as_secs(),
        reading.attempts.value,
    )
}

#[test]
fn words_are_read_as_bind_reads_them() {
    for (text, expected) in [
        ("", "::1,127.0.0.1  1 5 3"),
        ("nameserver 10.1\n", "10.0.0.1  1 5 3"),
        ("nameserver 0 # x\n", "127.0.0.1  1 5 3"),
        ("nameserver fe80::1%eth0\n", "fe80::1%eth0  1 5 3"),
        ("options\nsearch a\nsearch b", "::1,127.0.0.1 b 1 5 3"),
        (
            "search\nnameserver 10.0.0.1\n",
            "::1,127.0.0.1 nameserver,10.0.0.1 1 5 3",
        ),
        ("search a b\ndomain c\n", "::1,127.0.0.1 c 1 5 3"),
        ("domain c\nsearch a\r\n", "::1,127.0.0.1 a 1 5 3"),
        (
            "options ndots: timeout:+7 attempts:0",
            "::1,127.0.0.1  0 7 3",
        ),
    ] {
        assert_eq!(read(text), expected, "{text:?}");
    }
}

/// Observed of 9.16.50 and 9.18.49.
#[test]
fn before_9_18_every_address_has_the_zones_of_an_interface_or_of_a_number() {
    for (zone, before, now) in [
        ("eth0", true, false),
        ("lo", true, false),
        ("2", true, true),
        ("99", true, true),
        ("+2", true, false),
        ("-1", true, false),
        ("18446744073709551617", true, false),
        ("", false, false),
        ("0x2", false, false),
        ("2x", false, false),
        ("nope0", false, false),
        ("eth0%x", false, false),
    ] {
        let text = format!("nameserver fd00::10%{zone}\n");
        let is_read = |program| read_by(program, &text).starts_with("fd00::10%");
        assert_eq!(is_read(&DIG_SEARCH_9_16), before, "{text:?}");
        assert_eq!(is_read(&DIG_SEARCH_9_11), before, "{text:?}");
        assert_eq!(is_read(&DIG_SEARCH), now, "{text:?}");
    }
}

/// Source: lib/lwres/lwconfig.c: `lwres_conf_parse` (9.11.36)
#[test]
fn before_9_12_no_address_refuses_the_file_and_all_options_count() {
    let many = "nameserver 1\nnameserver 2\nnameserver 3\nnameserver 4 x\nsearch a\n";
    for (text, in_9_11, in_9_16) in [
        ("", "127.0.0.1,::1  1 5 3", "::1,127.0.0.1  1 5 3"),
        (
            "nameserver x\nnameserver 10.1\nnameserver *\n",
            "10.0.0.1  1 5 3",
            "11: it is not an address, so the tools refuse the file",
        ),
        (
            many,
            "0.0.0.1,0.0.0.2,0.0.0.3 a 1 5 3",
            "11: it is not an address, so the tools refuse the file",
        ),
        (
            "options attempts:1 timeout:300\n",
            "127.0.0.1,::1  1 300 2",
            "::1,127.0.0.1  1 5 3",
        ),
        (
            "options attempts:0 timeout:0\n",
            "127.0.0.1,::1  1 5 3",
            "::1,127.0.0.1  1 5 3",
        ),
        (
            "options attempts:-1\n",
            "8: its value is not a number from 0 to 255, so the tools refuse the file",
            "::1,127.0.0.1  1 5 3",
        ),
        (
            "sortlist 10.1/0xff\n",
            "127.0.0.1,::1  1 5 3",
            "9: it is not ADDRESS or ADDRESS/MASK, so the tools refuse the file",
        ),
    ] {
        assert_eq!(read_by(&DIG_SEARCH_9_11, text), in_9_11, "{text:?}");
        assert_eq!(read_by(&DIG_SEARCH_9_16, text), in_9_16, "{text:?}");
    }
    for (text, tries) in [
        ("", 2),
        ("options attempts:0\n", 2),
        ("options attempts:4\n", 5),
    ] {
        let scenario = Scenario {
            resolv_conf: Some(file("/etc/resolv.conf", text)),
            ..Scenario::new("1", "a")
        };
        let reading = setup_system(&scenario, &HOST_9_11);
        assert_eq!(reading.attempts.value, tries, "{text:?}");
    }
}

#[test]
fn what_bind_refuses_is_refused_at_the_word() {
    for (text, at) in [
        ("nameserver 10.0.0.1\r\n", "11:"),
        ("nameserver 10.0.0.1 10.0.0.2\n", "11:"),
        ("nameserver dns\n", "11:"),
        ("domain\n\n", "0: nothing follows it, so the tools"),
        ("domain # x\n", "0:"),
        ("options ndots:256\n", "8:"),
        ("options timeout:1s\n", "8:"),
        ("sortlist 10.0.0.0/8\n", "9:"),
    ] {
        assert!(read(text).starts_with(at), "{text:?} {}", read(text));
    }
}

#[test]
fn no_seconds_are_no_setting() {
    for (text, origin, seconds, said) in [
        ("options timeout:0\n", Origin::BuiltIn, 5, None),
        (
            "options timeout:5\n",
            Origin::File(Span::new(8, 17)),
            5,
            Some(5),
        ),
    ] {
        let scenario = Scenario {
            resolv_conf: Some(file("/etc/resolv.conf", text)),
            ..Scenario::new("1", "a")
        };
        let found = setup_system(&scenario, &DIG);
        assert_eq!(found.timeout.origin, origin, "{text}");
        assert_eq!(found.timeout.value.as_secs(), seconds, "{text}");
        // Over TCP another number is built in.
        let settings = settings(&Globals::default(), &found);
        assert_eq!(settings.timeout, said, "{text}");
    }
}

#[test]
fn host_keeps_its_own_number_of_tries() {
    let scenario = Scenario {
        resolv_conf: Some(file("/etc/resolv.conf", "options attempts:5\n")),
        ..Scenario::new("1", "a")
    };
    let reading = setup_system(&scenario, &HOST);
    assert_eq!(reading.attempts.value, 2);
    assert_eq!(reading.dropped.first().len(), 1);
}
