#![expect(clippy::float_cmp, reason = "exact values")]

use super::*;

fn codes(pages: &[&str], seconds: Option<f64>) -> Vec<&'static str> {
    let pages: Vec<Page> = pages.iter().map(|it| Page::parse("page", it)).collect();
    let report = judge(&pages, seconds);
    report.findings.iter().map(Finding::code).collect()
}

#[test]
fn pages_of_a_real_server() {
    let healthy = include_str!("../../../testdata/metrics/healthy.metrics");
    let page = Page::parse("healthy", healthy);
    assert_eq!(page.version.as_deref(), Some("1.10.1"));
    assert_eq!(page.wrong, 0);
    assert_eq!(page.requests, Some(14.0));
    assert_eq!((page.hits, page.misses), (Some(3.0), Some(11.0)));
    let upstream = &page.upstreams["10.244.0.53:53"];
    assert_eq!(upstream.requests, 11.0);
    assert_eq!(upstream.percentile(0.5), Some(0.00025));
    // dig asked for names that the upstream server refuses.
    assert_eq!(codes(&[healthy], None), ["upstream-errors", "rcode-share"]);

    let timeout = include_str!("../../../testdata/metrics/upstream-timeout.metrics");
    let found = codes(&[timeout], None);
    assert!(found.contains(&"unanswered-by-upstreams"), "{found:?}");
    let looped = include_str!("../../../testdata/metrics/loop-undetected.metrics");
    let found = codes(&[looped], None);
    assert!(found.contains(&"loopback-upstream"), "{found:?}");
    assert!(found.contains(&"max-concurrent-rejects"), "{found:?}");
}

#[test]
fn the_names_of_every_version() {
    let check = |text: &str| {
        let page = Page::parse("page", text);
        assert_eq!(page.requests, Some(7.0), "{text}");
        assert_eq!(page.with("SERVFAIL"), 3.0, "{text}");
        let upstream = &page.upstreams["10.0.0.2:53"];
        assert_eq!(
            (upstream.requests, upstream.health_failures),
            (5.0, 2.0),
            "{text}"
        );
        assert_eq!(upstream.rcodes.get("NXDOMAIN"), Some(&5.0), "{text}");
        assert_eq!(page.panics, 1.0, "{text}");
    };
    check(
        "coredns_dns_request_count_total{zone=\".\"} 7\n\
         coredns_dns_response_rcode_count_total{rcode=\"SERVFAIL\"} 3\n\
         coredns_forward_request_count_total{to=\"10.0.0.2:53\"} 5\n\
         coredns_forward_response_rcode_count_total{rcode=\"NXDOMAIN\",to=\"10.0.0.2:53\"} 5\n\
         coredns_forward_healthcheck_failure_count_total{to=\"10.0.0.2:53\"} 2\n\
         coredns_panic_count_total 1\n",
    );
    check(
        "coredns_dns_requests_total{zone=\".\"} 7\n\
         coredns_dns_responses_total{rcode=\"SERVFAIL\",plugin=\"forward\"} 3\n\
         coredns_forward_requests_total{to=\"10.0.0.2:53\"} 5\n\
         coredns_forward_responses_total{rcode=\"NXDOMAIN\",to=\"10.0.0.2:53\"} 5\n\
         coredns_forward_healthcheck_failures_total{to=\"10.0.0.2:53\"} 2\n\
         coredns_panics_total 1\n",
    );
    let proxy = "proxy_name=\"forward\",to=\"10.0.0.2:53\"";
    check(&format!(
        "coredns_dns_requests_total{{zone=\".\"}} 7\n\
         coredns_dns_responses_total{{rcode=\"SERVFAIL\",plugin=\"forward\"}} 3\n\
         coredns_proxy_request_duration_seconds_bucket{{{proxy},rcode=\"NXDOMAIN\",le=\"+Inf\"}} 5\n\
         coredns_proxy_request_duration_seconds_count{{{proxy},rcode=\"NXDOMAIN\"}} 5\n\
         coredns_proxy_healthcheck_failures_total{{{proxy}}} 2\n\
         coredns_panics_total 1\n",
    ));
}

/// A page of a process that started at `started`.
fn page(started: u32, requests: u32, more: &str) -> String {
    format!(
        "process_start_time_seconds {started}\n\
         coredns_dns_requests_total{{zone=\".\"}} {requests}\n{more}"
    )
}

#[test]
fn two_pages_of_one_process_are_a_difference() {
    let forwarded = |count: u32| {
        format!("coredns_forward_requests_total{{to=\"169.254.169.253:53\"}} {count}\n")
    };
    let earlier = page(
        100,
        5000,
        &format!("coredns_panics_total 3\n{}", forwarded(1000)),
    );
    let quiet = page(
        100,
        5010,
        &format!("coredns_panics_total 3\n{}", forwarded(1010)),
    );
    let busy = page(
        100,
        25_000,
        &format!("coredns_panics_total 3\n{}", forwarded(12_000)),
    );
    assert_eq!(codes(&[&earlier], None), ["panics"]);
    assert_eq!(codes(&[&earlier, &quiet], Some(10.0)), Vec::<&str>::new());
    assert_eq!(codes(&[&earlier, &busy], Some(10.0)), ["provider-limit"]);
    // How long is between them is not known.
    assert_eq!(codes(&[&earlier, &busy], None), Vec::<&str>::new());
    let anew = page(900, 10, "");
    assert_eq!(codes(&[&earlier, &anew], Some(10.0)), ["restarted"]);
}

/// A page of which somebody kept the lines of `coredns_` alone.
#[test]
fn pages_that_do_not_say_when_they_started_are_of_one_process_until_queries_are_lost() {
    let requests = |count: u32| {
        format!("coredns_dns_requests_total{{server=\"dns://:53\",zone=\".\"}} {count}\n")
    };
    let (earlier, later) = (requests(5000), requests(5010));
    assert_eq!(codes(&[&earlier, &later], Some(10.0)), Vec::<&str>::new());
    assert_eq!(codes(&[&later, &earlier], Some(10.0)), ["restarted"]);
}

#[test]
fn one_replica_gets_all() {
    let (busy, idle) = (page(100, 5000, ""), page(200, 3, ""));
    assert_eq!(codes(&[&busy, &idle], None), ["one-replica-gets-all"]);
    assert_eq!(
        codes(&[&busy, &page(200, 4000, "")], None),
        Vec::<&str>::new()
    );
}

#[test]
#[expect(clippy::redundant_closure, reason = "a closure reads better")]
fn what_a_page_shows() {
    let check = |text: &str, code: &str| {
        assert_eq!(codes(&[text], None), [code], "{text}");
    };
    check("coredns_reload_failed_total 1\n", "reload-failures");
    check(
        "coredns_nodecache_setup_errors_total{errortype=\"iptables\"} 1\n",
        "setup-errors",
    );
    check(
        "coredns_forward_healthcheck_broken_total 9\n",
        "all-upstreams-down",
    );
    check(
        "coredns_cache_entries{type=\"denial\"} 9984\n",
        "full-cache",
    );
    check(
        "coredns_cache_hits_total 400\ncoredns_cache_misses_total 800\n",
        "few-cache-hits",
    );
    check(
        "process_resident_memory_bytes 1.7e8\ncoredns_panics_total 0\n",
        "memory",
    );
    let plugin = |name: &str| format!("coredns_plugin_enabled{{name=\"{name}\"}} 1\n");
    let all = ["errors", "cache", "forward"].map(|it| plugin(it)).concat();
    check(&all, "plugins-absent");
    let slow = "coredns_forward_request_duration_seconds_bucket{to=\"10.0.0.2:53\",le=\"1.024\"} 1\n\
        coredns_forward_request_duration_seconds_bucket{to=\"10.0.0.2:53\",le=\"2.048\"} 90\n\
        coredns_forward_request_duration_seconds_bucket{to=\"10.0.0.2:53\",le=\"+Inf\"} 90\n";
    check(slow, "slow-upstream");
    assert!(judge(&[Page::parse("page", "go_goroutines 7\n")], None).is_empty());
}

#[test]
fn what_health_and_ready_say_is_no_page() {
    assert_eq!(of_state("OK"), Some(Vec::new()));
    let unready = of_state("kubernetes,nomad\n").unwrap();
    assert_eq!(
        unready.iter().map(Finding::code).collect::<Vec<_>>(),
        ["not-ok"]
    );
    for text in [
        "",
        "OK then",
        "kubernetes, cached",
        "coredns_panics_total 0",
    ] {
        assert_eq!(of_state(text), None, "{text}");
    }
}
