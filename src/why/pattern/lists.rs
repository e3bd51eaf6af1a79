//! Lists of words that people use for one thing, named in patterns: `{@dns|resolv.conf}`.

/// A list that has this name, its words between bars.
pub(super) fn named(name: &str) -> Option<&'static str> {
    let mut lists = LISTS.iter();
    lists.find(|it| it.0 == name).map(|it| it.1)
}

/// The name of the list of complaints.
pub(super) const COMPLAINT: &str = "@complaint";

const LISTS: [(&str, &str); 6] = [
    // What DNS, a lookup and who does them are called.
    (
        "@dns",
        "dns|resol|lookup|look up|nslookup|nameserver|getaddrinfo|coredns|kube-dns|kubedns|\
         skydns|unknownhost|eai_again|enotfound",
    ),
    // That something is not as it should be.
    (
        "@fails",
        "fail|not work|can not|unable|timeout|unreachable|unavailable|inaccessible|not reach|not resol|unresolv|\
         not respond|not answer|not seem to work|not seem to be work|not get any answer|no dns|no network|no connect|error|broken|breaks|stops work|stop work|\
         stopped work|no longer work|unreliable|hangs|slow|delay|latency|outage|bad address|\
         stuck|disrupt|lost|lose |drop|unknownhost|eai_again|no such host|nxdomain|servfail",
    ),
    // With one of these somebody complains; the rest of a text may only be about a subject.
    (
        COMPLAINT,
        "fail|not |unable|timeout|unreach|unavail|inaccess|unresolv|no dns|no network|no connect|\
         no answer|no reply|no response|no such|no record|no route|error|broken|break|stops|\
         stop work|stopped|unreliable|hang|slow|delay|latency|outage|bad address|stuck|disrupt|\
         lost|lose |loses|drop|unknownhost|eai_again|enotfound|nxdomain|servfail|problem|issue|\
         wrong|bug|crash|oom|out of memory|refus|kill|exceed|overload|loop|missing|unexpected|\
         weird|strange|incorrect|stale|outdated|ignor|trouble|instead|never|invalid|block|reject|\
         intermittent|sporadic|random|sometimes|occasional|flak|too many|too much|too large|\
         high cpu|high memory|spike|flood|exhaust|conflict|collid|mismatch|corrupt|truncat|\
         duplicate|leak|down|gone|dead|silent|regress|workaround|had to|seconds|second try|\
         every second|sec |sec.|5s|10s|takes|too long|long time|so long|wait|denied|forbid|\
         restarted|restarting|pending|evict|is full|unhealthy|degraded|retry|retri|empty|\
         no longer|only|nothing|exit code|<none>|notimp|gets no|get no|has no|have no|old |\
         but the|until|overlap|poorly|most of|at most|keeps|fixes|fixed|helps|works when|\
         works after|works with|needs|need ",
    ),
    // The server of the cluster.
    (
        "@server",
        "coredns|core-dns|kube-dns|kubedns|skydns|dns pod|dns server|dns service|\
         dns deployment|dns replica|cluster dns",
    ),
    // What begins with a change.
    (
        "@ends",
        "delet|restart|terminat|evict|drain|rollout|rolling|roll out|recreat|re-creat|redeploy|\
         re-deploy|torn down|tear down|pods move|pod moves|reschedul|scale down|scaled down|scaling down|scale-down|scaledown|shutdown|shut down|\
         shutting down|replac|reboot|rotat|node remov|remove node|remove a node|removing node|removing a node|node is remov|nodes are remov|pod is remov|pods are remov|node fail|goes down|went down",
    ),
    // Not all of the time.
    (
        "@sometimes",
        "intermittent|sporadic|sometimes|random|occasional|flaky|flakiness|from time to time|now and then|\
         every now|once in a while|not always|periodic|under load|spike|half of|50% of|50 % of",
    ),
];
