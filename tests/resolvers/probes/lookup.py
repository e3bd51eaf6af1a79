# Asks dnspython and prints how the lookup ended as one line of JSON.
#
#   lookup.py resolve|search NAME [FAMILY]   type A, or AAAA for inet6; - for NAME: those on standard input, one after the other
import json
import sys

import dns.resolver

call, name, family = (sys.argv + ["unspec"])[1:4]
for name in sys.stdin.read().split() if name == "-" else [name]:
    try:
        answer = dns.resolver.resolve(name, "AAAA" if family == "inet6" else "A", search=True if call == "search" else None)
        print(json.dumps({"status": "ok", "addrs": [str(record) for record in answer]}))
    except Exception as error:
        print(json.dumps({"status": "error", "code": type(error).__name__, "text": str(error)}))
